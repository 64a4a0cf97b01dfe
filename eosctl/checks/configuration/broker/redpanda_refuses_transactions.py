"""EOS-CFG-163."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Role
from eosctl.model.severity import Severity
from eosctl.settings.frameworks.redpanda import ENABLE_IDEMPOTENCE, ENABLE_TRANSACTIONS

_IMPACTS: Final = {
    ENABLE_TRANSACTIONS: "Transactional producers cannot start.",
    ENABLE_IDEMPOTENCE: "Producers with idempotence fail, transactional ones among them.",
}


@check(
    "EOS-CFG-163",
    "Redpanda refuses transactions",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("enable_transactions", "enable_idempotence"),
    references=("Redpanda enable_transactions",),
)
def redpanda_refuses_transactions(case: Case) -> Iterator[Problem]:
    """Find clusters of Redpanda on which no transaction can begin.

    What it checks:
        enable_transactions=false or enable_idempotence=false in redpanda.yaml, in .bootstrap.yaml, and in the options
        of a container's command.

    Why it matters for exactly-once:
        Transactional producers fail when they initialize, and producers with idempotence, which Java clients use by
        default, when they send.

    Example:
        A Compose file with --set redpanda.enable_transactions=false from a release before transactions were stable.

    Fix:
        Remove both settings: their default is true. In a running cluster, use rpk cluster config set.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        for name, impact in _IMPACTS.items():
            value = broker.value(name)
            if broker.client is Client.REDPANDA and value.is_given and value.flag is False:
                yield problem(
                    broker,
                    (value,),
                    f"{value.key} is false.",
                    impact=impact,
                    remedy=f"Remove {value.key}: the default is true.",
                )
