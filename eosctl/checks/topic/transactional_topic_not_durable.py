"""EOS-TOP-010."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.partition_commands import add_replicas, after_return
from eosctl.checks.settings import number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Topic
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text


@check(
    "EOS-TOP-010",
    "Topic with transactions is acknowledged by one replica",
    Area.TOPIC,
    Severity.INFO,
    needs=frozenset({EvidenceKind.TOPICS, EvidenceKind.TOPIC_CONFIGS, EvidenceKind.PRODUCERS}),
    tags=("durability",),
    references=(
        "KIP-98",
        "min.insync.replicas",
    ),
)
def transactional_topic_not_durable(case: Case) -> Iterator[Problem]:
    """Find topics that transactions write to and that can lose what was committed.

    What it checks:
        Topics on whose partitions transactional producers are known, with three replicas or more and
        min.insync.replicas=1 (Kafka's default, so information), or with one replica in a cluster of three brokers or
        more.

    Why it matters for exactly-once:
        A commit is as durable as its records. When the only replica in sync is lost, committed records are gone and
        offsets that were committed with them stay.

    Example:
        Topics created with defaults: replication factor 1, min.insync.replicas 1.

    Fix:
        Three replicas, then min.insync.replicas=2: before 3.7, a minimum above the replicas refuses every write.

    Verify:
        eosctl check run EOS-TOP-010 passes.
    """
    transactional = {
        where.partition.topic
        for where in case.snapshot.producers
        if any(p.current_txn_start_offset is not None or p.coordinator_epoch >= 0 for p in where.producers)
    }
    for topic in case.snapshot.topics:
        required = number(topic.setting("min.insync.replicas"))
        if topic.internal or topic.name not in transactional or required is None or not topic.partitions:
            continue
        replicas = min(len(info.replicas) for info in topic.partitions)
        alone = replicas == 1 and case.snapshot.broker_count >= case.limits.transaction_log_replication_factor
        if alone or (required == 1 and replicas >= case.limits.transaction_log_replication_factor):
            minimum = max(2, required)
            wanted = max(3, replicas, minimum + 1)
            yield Problem(
                resource=Resource("topic", topic.name),
                message=f"{topic.name} has {count_text(replicas, 'replica')} and min.insync.replicas={required}.",
                impact="Committed records can be lost with one broker.",
                evidence=(Evidence("transactional producers", "seen", "DescribeProducers"),),
                remedy=(
                    *(after_return(case.snapshot) if replicas < wanted else ()),
                    f"Give it {wanted} replicas and min.insync.replicas={minimum}.",
                ),
                commands=_commands(topic, wanted, minimum, case),
                verify=(Command(f"eosctl check run EOS-TOP-010 -b {case.bootstrap}"),),
                facts=(("topic", topic.name), ("replicas", replicas), ("min_insync_replicas", required)),
            )


def _commands(topic: Topic, wanted: int, minimum: int, case: Case) -> tuple[Command, ...]:
    """Return the commands in their order: below min.insync.replicas, brokers may refuse all writes."""
    is_short = any(len(info.replicas) < wanted for info in topic.partitions)
    adding = add_replicas(topic, wanted, case.snapshot, case.bootstrap) if is_short else ()
    if is_short and not adding:
        return ()
    if number(topic.setting("min.insync.replicas")) == minimum:
        return adding
    line = (
        f"kafka-configs.sh --bootstrap-server {case.bootstrap} --alter --entity-type topics "
        f"--entity-name {quote(topic.name)} --add-config min.insync.replicas={minimum}"
    )
    return (*adding, Command(line, "once all replicas are in sync") if adding else Command(line))
