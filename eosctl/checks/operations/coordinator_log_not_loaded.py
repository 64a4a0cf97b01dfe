"""EOS-OPS-014."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import count_text, name_some

_LOGS: Final = {
    EvidenceKind.TRANSACTIONS: (
        "transaction",
        TRANSACTION_STATE_TOPIC,
        "Producers of its transactional ids can neither begin nor end transactions.",
    ),
    EvidenceKind.GROUPS: (
        "group",
        CONSUMER_OFFSETS_TOPIC,
        "Members of its groups can neither join nor commit offsets.",
    ),
}


@check(
    "EOS-OPS-014",
    "Coordinator has not loaded its log",
    Area.OPERATIONS,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.GROUPS}),
    tags=("availability",),
    judges_gaps=True,
    references=("transaction.state.log.load.buffer.size", "offsets.load.buffer.size"),
)
def coordinator_log_not_loaded(case: Case) -> Iterator[Problem]:
    """Find brokers whose coordinators have not loaded partitions of their internal topic: a load runs or failed.

    What it checks:
        Brokers that answer ListTransactions or ListGroups with COORDINATOR_LOAD_IN_PROGRESS: the load runs, or fails
        and begins again. That is a warning. Partitions of __consumer_offsets whose leader answers NOT_COORDINATOR for
        their groups, also a second later: from Kafka 4.0 on, so does a coordinator whose load failed because it
        cannot read a record of the partition. That is an error.

    Why it matters for exactly-once:
        A coordinator that takes over reads all records of its partitions first. Until then it refuses every request
        for their transactional ids and groups, and open transactions are not ended, not even by their timeout. After a
        failed load this lasts until the partition can be read, and lists leave the groups out without an error.

    Example:
        A log that was not compacted for months has 40 million records; after a restart, producers wait in
        initTransactions for minutes. A disk corrupts a batch of __consumer_offsets-7; after the next restart, the
        groups of that partition can neither be described nor commit, and no load runs.

    Fix:
        While a load runs, wait: it takes a moment after a restart or an election. If it lasts, read the broker's log
        for its progress, and check the size and the cleaner of the internal topic. After a failed load, the broker's
        log names the partition and the error: keep a copy of the partition, find the record with eosctl fsck, and
        restore the replica from an intact one.

    Verify:
        eosctl check run EOS-OPS-014 passes.
    """
    for gap in case.snapshot.gaps:
        if gap.reason is not GapReason.LOADING or gap.kind not in _LOGS or not gap.subject.startswith("broker "):
            continue
        name, topic, impact = _LOGS[gap.kind]
        broker_id = gap.subject.removeprefix("broker ")
        found = case.snapshot.topic(topic)
        led = 0 if found is None else sum(str(info.leader_id) == broker_id for info in found.partitions)
        of_topic = f"{count_text(led, 'partition')} of {topic}" if led else topic
        yield Problem(
            resource=Resource("broker", broker_id),
            message=f"The {name} coordinator of broker {broker_id} has not finished loading {of_topic}.",
            confidence=Confidence.POSSIBLE,
            cause="It has just become the leader, or the load takes long: a log that is not compacted, a slow disk, or "
            "a load that fails and begins again.",
            impact=impact,
            evidence=(Evidence("answer", gap.error or gap.reason.value, _API[gap.kind]),),
            remedy=(
                "Look again after a minute: a load takes a moment after a restart or an election.",
                "If it lasts, read the broker's log for its progress or an error; check that the topic is compacted.",
            ),
            commands=(
                Command(
                    f"eosctl runbook run coordinator-not-available -b {case.bootstrap}",
                    "guided repair; only reads and plans without --yes",
                ),
            ),
            verify=(Command(f"eosctl check run EOS-OPS-014 -b {case.bootstrap}"),),
            facts=(("coordinator", name), ("partitions", led)),
        )
    for broker_id, partitions in _unloaded(case).items():
        yield Problem(
            resource=Resource("broker", broker_id),
            message=f"The group coordinator of broker {broker_id} does not answer for "
            f"{name_some('partition', partitions)} that it leads.",
            severity=Severity.ERROR,
            confidence=Confidence.LIKELY,
            cause="The load failed on a record that it cannot read, or it has just become the leader.",
            impact="Members of these groups can neither join nor commit offsets, and lists leave the groups out.",
            evidence=(Evidence("answer", _UNLOADED, "DescribeGroups"),),
            remedy=(
                "Read the broker's log: a failed load names the partition and the error.",
                "Keep a copy of the partition; eosctl fsck finds the record. Restore the replica from an intact one.",
                "Stop the applications of its groups before auto.offset.reset restarts them from elsewhere.",
            ),
            verify=(Command(f"eosctl check run EOS-OPS-014 -b {case.bootstrap}"),),
            facts=(("coordinator", "group"), ("partitions", len(partitions))),
        )


def _unloaded(case: Case) -> dict[str, list[str]]:
    """Return the partitions that their coordinators have not loaded, by the broker that leads them."""
    partitions = {
        gap.subject
        for gap in case.snapshot.gaps
        if gap.kind is EvidenceKind.GROUPS and gap.error == _UNLOADED and gap.subject.startswith(CONSUMER_OFFSETS_TOPIC)
    }
    found: dict[str, list[str]] = {}
    topic = case.snapshot.topic(CONSUMER_OFFSETS_TOPIC)
    for info in () if topic is None else topic.partitions:
        if str(info.partition) in partitions:
            found.setdefault(str(info.leader_id), []).append(str(info.partition))
    return found


_UNLOADED: Final = "NOT_COORDINATOR"
_API: Final = {EvidenceKind.TRANSACTIONS: "ListTransactions", EvidenceKind.GROUPS: "ListGroups"}
