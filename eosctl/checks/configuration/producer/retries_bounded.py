"""EOS-CFG-106."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import TABULATED, Role
from eosctl.model.severity import Severity

FEW: Final = 100


@check(
    "EOS-CFG-106",
    "Retries are bounded by a count",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.PRODUCER,),
    reads=("retries",),
    references=(
        "KIP-91",
        "KIP-360",
    ),
)
def retries_bounded(case: Case) -> Iterator[Problem]:
    """Find transactional producers that give up after a few retries.

    What it checks:
        retries between 1 and 99 on a producer with a transactional id, of a library whose default has no bound.

    Why it matters for exactly-once:
        The bound that matters is delivery.timeout.ms. With few retries a leader change of a second uses them up: the
        batch fails, the transaction must be aborted, and an idempotent producer needs a new epoch.

    Example:
        A handful of retries, as older advice has it.

    Fix:
        Remove retries (2,147,483,647 by default) and set delivery.timeout.ms.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in transactional_producers(case.deployment):
        retries = producer.value("retries")
        if producer.client not in TABULATED:
            continue  # the default of other libraries is a few retries, too
        if retries.is_given and retries.number is not None and 0 < retries.number < FEW:
            yield problem(
                producer,
                (retries, producer.value("delivery.timeout.ms")),
                f"{retries.key} is {retries.number}: a leader change can use them up.",
                impact="Transactions are aborted that a little patience would have committed.",
                remedy="Remove retries and bound the time with delivery.timeout.ms.",
            )
