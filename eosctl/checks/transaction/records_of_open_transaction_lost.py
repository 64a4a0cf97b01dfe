"""EOS-TXN-017."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.analysis.lost_records import find_lost_records
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import name_some, time_text


@check(
    "EOS-TXN-017",
    "Partition lacks the records of an open transaction",
    Area.TRANSACTION,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS, EvidenceKind.TRANSACTION_HISTORY}),
    since=(3, 0),
    reads_log=True,
    tags=("durability",),
    references=("KIP-98", "KIP-664", "unclean.leader.election.enable"),
)
def records_of_open_transaction_lost(case: Case) -> Iterator[Problem]:
    """Find open transactions with partitions that do not have their records.

    What it checks:
        The partitions of transactions that coordinators hold open, against the producers of the partition leaders. A
        producer adds a partition to its transaction right before it writes there. A partition that was added a minute
        ago, and whose leader has no open transaction of the producer, lost the records or never received them.

    Why it matters for exactly-once:
        The coordinator only has the names of the partitions. It writes its marker to a partition that lost acknowledged
        records as well, and the commit succeeds: offsets of the input are committed with it, and the output is missing.
        Writes that the leader refuses (INVALID_TIMESTAMP, for example) are not lost in silence: the client fails its
        commit and must abort.

    Example:
        A topic is deleted and created again while a producer has a transaction open on it. An unclean election makes a
        replica the leader that did not have the records yet.

    Fix:
        Stop the producer before it commits, so that its transaction is aborted at the timeout, and start it again: it
        then processes the same input again.

    Verify:
        eosctl check run EOS-TXN-017 passes once the transaction has ended.
    """
    for lost in find_lost_records(case.snapshot):
        transaction = lost.transaction
        owner = transaction.transactional_id
        names = [str(where) for where in lost.partitions]
        yield Problem(
            resource=Resource("transaction", owner),
            message=f"{owner} is {transaction.state} with {name_some('partition', names)}, where no transaction of its"
            f" producer id {transaction.producer_id} is open.",
            confidence=Confidence.LIKELY,
            cause="The topic was deleted and created again, an unclean election cut the log, or the writes fail.",
            impact="Records that were acknowledged there are lost, and a commit succeeds without them. If the leader "
            "refused the writes, the commit fails in the client, and nothing is lost.",
            evidence=tuple(
                fact
                for where, added, leader in zip(lost.partitions, lost.added, lost.leaders, strict=True)
                for fact in (
                    Evidence(
                        f"{where} added",
                        time_text(added.written_at_ms),
                        f"__transaction_state-{added.log_partition} offset {added.offset}",
                    ),
                    Evidence(f"open transaction on {where}", "none", f"DescribeProducers broker {leader}"),
                )
            ),
            remedy=("Stop the producer before it commits, so that its transaction is aborted; then start it again.",),
            commands=(Command(f"eosctl txn describe {quote(owner)} -b {case.bootstrap}", "the life of the id"),),
            verify=(Command(f"eosctl check run EOS-TXN-017 -b {case.bootstrap}"),),
            facts=(("transactional_id", owner), ("partitions", ",".join(names))),
        )
