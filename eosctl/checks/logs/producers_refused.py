"""EOS-LOG-001."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs.log_incidents import NEEDS, problems_of, without_logs
from eosctl.model.severity import Severity

KINDS: Final = frozenset({"producer_fenced", "invalid_producer_epoch", "late_append_refused"})


@check(
    "EOS-LOG-001",
    "Fenced producers in the logs",
    Area.LOGS,
    Severity.ERROR,
    needs=NEEDS,
    tags=("fencing", "logs"),
    references=(
        "KIP-98",
        "KIP-360",
        "KIP-890",
    ),
    applies=without_logs,
)
def producers_refused(case: Case) -> Iterator[Problem]:
    """Find producers that brokers refused because of their epoch, and who took their place.

    What it checks:
        Logs of applications and brokers: ProducerFencedException, InvalidProducerEpochException, and the coordinator's
        messages about the same id. Restarts, pauses, and lost brokers that explain a refusal are reported instead.

    Why it matters for exactly-once:
        Fencing protects the results; a producer that is fenced while it works means that two instances use one id, or
        that one was taken for dead. Its open transaction was aborted, its work is done again.

    Example:
        Two pods are started with the same transactional.id: each fences the other at every start.

    Fix:
        Give every live instance an id of its own; make sure that an instance is gone before it is replaced.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-001 passes.
    """
    yield from problems_of(case, KINDS)
