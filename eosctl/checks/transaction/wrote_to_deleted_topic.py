"""EOS-TXN-016."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import name_some


@check(
    "EOS-TXN-016",
    "Open transaction wrote to a deleted topic",
    Area.TRANSACTION,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.TOPICS}),
    since=(3, 0),
    tags=("availability",),
    references=("KIP-98",),
)
def wrote_to_deleted_topic(case: Case) -> Iterator[Problem]:
    """Find open transactions with partitions of topics that no longer exist.

    What it checks:
        The partitions of transactions that coordinators hold open, against the metadata. A coordinator accepts only
        partitions that exist, and it is asked again for the missing topics; so they were deleted in the meantime.
        Where only some topics were described, as in pasted output of kafka-topics.sh --topic, nothing is concluded.

    Why it matters for exactly-once:
        The coordinator skips the markers of deleted partitions. The commit succeeds for the other partitions, and
        offsets of the input are committed with it, although the records in the deleted topic are lost.

    Example:
        A repartition topic is deleted while the Streams application that writes to it is running.

    Fix:
        Stop the producer before a topic is deleted. If the records are needed, stop it now, so that its transaction is
        aborted at the timeout, create the topic, and start it again.

    Verify:
        eosctl check run EOS-TXN-016 passes once the transaction has ended.
    """
    gaps = [gap for gap in case.snapshot.gaps if gap.kind is EvidenceKind.TOPICS]
    if any(gap.reason is GapReason.NOT_COLLECTED for gap in gaps):
        return
    known = {topic.name for topic in case.snapshot.topics} | {gap.subject for gap in gaps}
    for verdict in case.transactions:
        transaction = verdict.transaction
        deleted = [where for where in transaction.partitions if where.topic not in known]
        if deleted:
            owner, topics = transaction.transactional_id, sorted({where.topic for where in deleted})
            yield Problem(
                resource=Resource("transaction", owner),
                message=f"{owner} is {transaction.state} with {name_some('partition', [str(p) for p in deleted])}"
                f" of the deleted {name_some('topic', topics)}.",
                impact="What it wrote there is lost; a commit succeeds without these records.",
                evidence=(
                    Evidence(
                        "partitions",
                        ", ".join(str(p) for p in transaction.partitions),
                        f"DescribeTransactions broker {transaction.coordinator_id}",
                    ),
                    *(
                        Evidence(topic, "UNKNOWN_TOPIC_OR_PARTITION", f"Metadata broker {transaction.coordinator_id}")
                        for topic in topics
                    ),
                ),
                remedy=(
                    "Stop the producer, so that its transaction is aborted; create the topic, and start it again.",
                    "If nothing reads the topic, nothing is to be done: the coordinator skips its markers.",
                ),
                commands=(Command(f"eosctl txn describe {quote(owner)} -b {case.bootstrap}", "the life of the id"),),
                verify=(Command(f"eosctl check run EOS-TXN-016 -b {case.bootstrap}"),),
                facts=(("transactional_id", owner), ("partitions", ",".join(str(p) for p in deleted))),
            )
