"""EOS-OPS-012."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import DAMAGED, EvidenceGap, EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Topic
from eosctl.model.transaction import TopicPartition
from eosctl.model.verdict import Evidence, Resource


@check(
    "EOS-OPS-012",
    "Records fail their checksum",
    Area.OPERATIONS,
    Severity.CRITICAL,
    needs=frozenset({EvidenceKind.TRANSACTION_HISTORY}),
    uses=frozenset({EvidenceKind.PENDING_OFFSETS, EvidenceKind.HIDDEN_RECORDS, EvidenceKind.READABLE_RECORDS}),
    reads_log=True,
    tags=("durability",),
    references=("KIP-98",),
)
def records_fail_checksum(case: Case) -> Iterator[Problem]:
    """Find partitions with records that fail their checksum on the leader.

    What it checks:
        Every batch that was read for other checks: the newest part of __transaction_state, offsets that are pending in
        __consumer_offsets, and records behind the last stable offset of other topics. Leaders send what their files
        have and do not verify it.

    Why it matters for exactly-once:
        A coordinator that loads such a partition does not verify checksums. It stops at a record that it cannot read,
        does not know the transactional ids or offsets behind it, and lets their producers begin anew.

    Example:
        A disk returned wrong bytes. The broker logged "Error loading transactions from transaction log" after its next
        restart, and has been serving since.

    Fix:
        Keep a copy of the partition and of the broker's logs. Check the disk of the leader. Restore the replica from an
        intact one: elect another leader, remove the damaged replica's files while its broker is stopped, and start it.
        Do not end transactions manually before that.

    Verify:
        eosctl check run EOS-OPS-012 passes.
    """
    found: dict[str, EvidenceGap] = {}
    for gap in case.snapshot.gaps:
        if gap.error == DAMAGED:
            found.setdefault(gap.subject, gap)
    partitions = {
        str(info.partition): (topic, info.partition) for topic in case.snapshot.topics for info in topic.partitions
    }
    for subject, gap in sorted(found.items()):
        if subject in partitions:
            yield _problem(*partitions[subject], gap, case)


def _problem(topic: Topic, where: TopicPartition, gap: EvidenceGap, case: Case) -> Problem:
    info = case.snapshot.partition(where)
    leader = "none" if info is None else str(info.leader_id)
    others = () if info is None else tuple(one for one in info.isr if one != info.leader_id)
    describe = f"kafka-topics.sh --bootstrap-server {case.bootstrap} --describe --topic {quote(where.topic)}"
    restore = (
        f"Restore the replica of broker {leader} from an intact one, after eosctl fsck of brokers "
        f"{', '.join(map(str, others))}."
        if others
        else "No other replica is in sync: keep the files, and restore them from a backup."
    )
    return Problem(
        resource=Resource("partition", str(where)),
        message=f"{where}: {gap.detail[:1].lower()}{gap.detail[1:].rstrip('.')} (leader {leader}).",
        severity=Severity.CRITICAL if topic.internal else Severity.ERROR,
        impact=(
            "A coordinator that cannot read the record stops loading there, and does not know what follows."
            if topic.internal
            else "Consumers stop in front of these records."
        ),
        evidence=(Evidence("error", gap.error, f"Fetch broker {leader}"),),
        remedy=("Keep a copy of the partition and the broker's logs; check its disk.", restore),
        commands=(Command(describe, "its replicas"),),
        verify=(Command(f"eosctl check run EOS-OPS-012 -b {case.bootstrap}"),),
        facts=(("partition", str(where)),),
    )
