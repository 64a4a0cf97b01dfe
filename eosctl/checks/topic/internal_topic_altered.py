"""EOS-TOP-004."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import broker_values, number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Topic
from eosctl.model.verdict import Evidence, Resource

PARTITION_SETTINGS: Final = {
    TRANSACTION_STATE_TOPIC: "transaction.state.log.num.partitions",
    CONSUMER_OFFSETS_TOPIC: "offsets.topic.num.partitions",
}


@check(
    "EOS-TOP-004",
    "Internal topic differs from how Kafka made it",
    Area.TOPIC,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.TOPICS, EvidenceKind.TOPIC_CONFIGS, EvidenceKind.BROKER_CONFIGS}),
    tags=("internal-topics", "configuration"),
    references=(
        "KIP-98",
        "transaction.state.log.num.partitions",
        "offsets.topic.num.partitions",
        "cleanup.policy",
        "KAFKA-7801",
    ),
)
def internal_topic_altered(case: Case) -> Iterator[Problem]:
    """Find internal topics whose clean-up or number of partitions was changed.

    What it checks:
        cleanup.policy of __transaction_state and __consumer_offsets, which is compact and nothing else; and their
        number of partitions against the brokers' settings.

    Why it matters for exactly-once:
        A transactional id or group belongs to the partition that its name hashes to. With another number of partitions
        it moves to a coordinator that knows nothing of it: zombies are not fenced, open transactions are forgotten,
        offsets are lost. With delete in the clean-up policy, idle ids and groups are forgotten after the retention
        time.

    Example:
        kafka-topics.sh --alter --partitions 100 on __transaction_state; no broker refuses it.

    Fix:
        Set cleanup.policy back to compact. Partitions cannot be taken away again: if they were added while nothing was
        running, set the brokers' setting to the new number; otherwise treat every open transaction and offset as
        suspect. If only the setting was changed, change it back.

    Verify:
        eosctl check run EOS-TOP-004 passes.
    """
    for name, setting_name in PARTITION_SETTINGS.items():
        topic = case.snapshot.topic(name)
        if topic is not None:
            yield from _clean_up(topic, case)
            yield from _partition_count(topic, setting_name, case)


def _clean_up(topic: Topic, case: Case) -> Iterator[Problem]:
    setting = topic.setting("cleanup.policy")
    if setting is None or setting.value is None or setting.value == "compact":
        return
    yield Problem(
        resource=Resource("topic", topic.name),
        message=f"{topic.name} has cleanup.policy={setting.value}; Kafka makes it with compact.",
        impact="What is older than the retention time is deleted: producer epochs, outcomes, offsets.",
        evidence=(
            Evidence(
                "cleanup.policy", f"{setting.value} ({setting.source.value})", setting.origin or "DescribeConfigs"
            ),
        ),
        remedy=("Set it back to compact before the next segment is deleted.",),
        commands=(
            Command(
                f"kafka-configs.sh --bootstrap-server {case.bootstrap} --alter --entity-type topics "
                f"--entity-name {topic.name} --add-config cleanup.policy=compact"
            ),
        ),
        verify=(Command(f"eosctl check run EOS-TOP-004 -b {case.bootstrap}"),),
        facts=(("topic", topic.name), ("cleanup_policy", setting.value)),
    )


def _partition_count(topic: Topic, setting_name: str, case: Case) -> Iterator[Problem]:
    answers = [(found, number(found.setting)) for found in broker_values(case.snapshot, setting_name)]
    actual = len(topic.partitions)
    differing = [(found, value) for found, value in answers if value is not None and value != actual]
    if not differing:
        return
    configured = differing[0][1] or 0
    added = actual > configured
    yield Problem(
        resource=Resource("topic", topic.name),
        message=f"{topic.name} has {actual} partitions, {setting_name} is {configured}.",
        severity=Severity.ERROR if added else Severity.WARNING,
        cause=(
            "Partitions were added to the topic, or the setting was lowered after it was made."
            if added
            else "The setting was raised after the topic was made; it counts only then."
        ),
        impact=(
            "If partitions were added, ids and groups hash to other coordinators than before."
            if added
            else "None while the topic exists; were it made anew, ids would hash to other partitions."
        ),
        evidence=(Evidence("partitions", str(actual), "Metadata"), *(found.evidence for found, _ in differing)),
        remedy=(
            "Find out which of the two was changed; change the setting to the topic's number, never the other way.",
        ),
        commands=(Command(f"kafka-topics.sh --bootstrap-server {case.bootstrap} --describe --topic {topic.name}"),),
        verify=(Command(f"eosctl check run EOS-TOP-004 -b {case.bootstrap}"),),
        facts=(("topic", topic.name), ("partition_count", actual), ("configured_count", configured)),
    )
