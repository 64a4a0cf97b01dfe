"""EOS-CFG-164."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Role
from eosctl.model.severity import Severity
from eosctl.settings.frameworks.redpanda import DEVELOPER_MODE, MODE, WRITE_CACHING

_REMEDIES: Final = {
    DEVELOPER_MODE: "Run rpk redpanda mode production on each broker.",
    WRITE_CACHING: "Remove it, and set write.caching on topics that may lose records.",
}


@check(
    "EOS-CFG-164",
    "Redpanda acknowledges records in memory",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("developer_mode", "write_caching_default"),
    references=("Redpanda write_caching_default",),
)
def redpanda_acknowledges_before_disk(case: Case) -> Iterator[Problem]:
    """Find brokers of Redpanda that acknowledge records before they are on a disk.

    What it checks:
        developer_mode=true, and write_caching_default=true. The mode dev-container or development of a command is
        an explicit choice, and therefore information.

    Why it matters for exactly-once:
        acks=all is answered when a majority has the records in memory. If these brokers lose power together, committed
        transactions and the offsets in them are lost. Redpanda without write caching flushes before it answers.

    Example:
        redpanda.yaml with developer_mode: true, copied from a quick start.

    Fix:
        Run in production mode (rpk redpanda mode production), and leave write caching to topics that may lose records.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        for name, remedy in _REMEDIES.items():
            value = broker.value(name)
            if broker.client is Client.REDPANDA and value.is_given and value.flag is True:
                yield problem(
                    broker,
                    (value,),
                    f"{name} is true.",
                    severity=Severity.INFO if value.key == MODE else None,
                    impact="A loss of power of several brokers loses committed transactions.",
                    remedy=remedy,
                )
