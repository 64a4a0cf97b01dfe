"""EOS-LOG-004."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs.log_incidents import NEEDS, problems_of, without_logs
from eosctl.model.severity import Severity

KINDS: Final = frozenset({"out_of_order_sequence"})


@check(
    "EOS-LOG-004",
    "Sequence number gaps in the logs",
    Area.LOGS,
    Severity.ERROR,
    needs=NEEDS,
    tags=("idempotence", "logs"),
    references=(
        "KIP-98",
        "KIP-360",
    ),
    applies=without_logs,
)
def sequence_numbers_refused(case: Case) -> Iterator[Problem]:
    """Find producers whose batches brokers refused as out of order.

    What it checks:
        Logs of clients and brokers: OutOfOrderSequenceException that no lost broker explains.

    Why it matters for exactly-once:
        A gap means that earlier records were lost, on the network or on the broker. The producer cannot determine
        which records.

    Example:
        An unclean election took back records that the producer believes written.

    Fix:
        Abort and start the transaction again; look for lost data: unclean elections, truncated logs.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-004 passes.
    """
    yield from problems_of(case, KINDS)
