"""EOS-TXN-007."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import name_some


@check(
    "EOS-TXN-007",
    "Open transaction on a partition without leader",
    Area.TRANSACTION,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.TOPICS}),
    since=(3, 0),
    tags=(
        "hanging",
        "availability",
    ),
    references=(
        "KAFKA-20734",
        "KIP-98",
    ),
)
def open_on_leaderless_partition(case: Case) -> Iterator[Problem]:
    """Find transactions that would end without a marker on one of their partitions.

    What it checks:
        Transactions that their coordinator holds open with a partition that has no leader.

    Why it matters for exactly-once:
        The marker cannot be written now. Brokers of 4.3 and later take such a partition for deleted: they skip its
        marker and call the transaction complete. When the leader returns, the transaction hangs there, and what was
        committed is not visible on it.

    Example:
        A topic with one replica whose broker is down while a transaction that wrote to it commits.

    Fix:
        Bring the partition's broker back before the transaction ends. Afterwards look for hanging transactions; one
        that was committed needs a COMMIT marker.

    Verify:
        eosctl check run EOS-TXN-007 passes.
    """
    for verdict in case.transactions:
        headless = [
            partition
            for partition in verdict.transaction.partitions
            if (info := case.snapshot.partition(partition)) is not None and info.leader_id is None
        ]
        if headless:
            owner = verdict.transaction.transactional_id
            yield Problem(
                resource=Resource("transaction", owner),
                message=f"{owner} is {verdict.transaction.state}; without a leader: "
                f"{name_some('partition', [str(p) for p in headless])}.",
                impact="Its marker there is missing or skipped: committed records can stay invisible.",
                evidence=tuple(Evidence(str(partition), "no leader", "Metadata") for partition in headless[:8]),
                remedy=("Bring the partition's broker back before the transaction ends.",),
                commands=(Command(f"eosctl txn describe {quote(owner)} -b {case.bootstrap}"),),
                verify=(Command(f"eosctl check run EOS-TXN-007 -b {case.bootstrap}"),),
                facts=(("transactional_id", owner), ("partitions", ",".join(str(p) for p in headless))),
            )
