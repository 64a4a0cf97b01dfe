"""EOS-OPS-013."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import BrokerValue, broker_values, number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.setting import SettingSource
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Topic
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import byte_rate_text, name_some

RATES: Final = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
REPLICAS: Final = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
#: Kafka's default: no limit.
UNLIMITED: Final = 2**63 - 1


@check(
    "EOS-OPS-013",
    "Replication is throttled",
    Area.OPERATIONS,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TOPIC_CONFIGS, EvidenceKind.BROKER_CONFIGS, EvidenceKind.REASSIGNMENTS}),
    tags=("availability", "configuration"),
    references=("KIP-73", *RATES, *REPLICAS),
)
def replication_throttled(case: Case) -> Iterator[Problem]:
    """Find topics whose replication brokers slow down.

    What it checks:
        Rates of brokers (leader.replication.throttled.rate, follower.replication.throttled.rate) together with topics
        that they apply to (leader.replication.throttled.replicas, follower.replication.throttled.replicas). A topic
        that is being reassigned is information: its throttle is removed with the reassignment, by
        kafka-reassign-partitions.sh --verify.

    Why it matters for exactly-once:
        A replica that falls behind, as in every restart, cannot catch up. Below min.insync.replicas, producers and
        coordinators cannot write: transactions stay open until their timeout and longer.

    Example:
        A reassignment was started with --throttle, and --verify was not run when it was complete.

    Fix:
        Delete the settings of the topics, then those of the brokers.

    Verify:
        eosctl check run EOS-OPS-013 passes.
    """
    rates = [one for name in RATES for one in broker_values(case.snapshot, name) if _is_limit(one)]
    topics = [topic for topic in case.snapshot.topics if _throttled(topic)]
    if not rates or not topics:
        return
    moving = {move.partition.topic for move in case.snapshot.reassignments}
    left = [topic for topic in topics if topic.name not in moving]
    lowest = min(number(one.setting) or 0 for one in rates)
    names = name_some("topic", sorted(topic.name for topic in topics))
    yield Problem(
        resource=Resource("cluster", case.snapshot.cluster_id),
        message=f"Replication of {names} is throttled, to {byte_rate_text(lowest)} at the lowest.",
        severity=Severity.WARNING if left else Severity.INFO,
        cause="No reassignment of them is in progress." if left else "A reassignment of them is in progress.",
        impact="Replicas that fall behind, as in a restart, cannot catch up; below min.insync.replicas, writes stop.",
        evidence=(
            *(one.evidence for one in rates[:8]),
            *(Evidence(name, topic.name, "DescribeConfigs") for topic in topics[:8] for name in _throttled(topic)),
        ),
        remedy=("Remove the throttle.",)
        if left
        else ("Wait for the reassignment; its --verify removes the throttle.",),
        commands=_removal(left, rates, case.bootstrap)
        if left
        else (Command(f"kafka-reassign-partitions.sh --bootstrap-server {case.bootstrap} --list"),),
        verify=(Command(f"eosctl check run EOS-OPS-013 -b {case.bootstrap}"),),
        facts=(("topics", ",".join(sorted(topic.name for topic in topics))), ("lowest_bytes_per_second", lowest)),
    )


def _is_limit(found: BrokerValue) -> bool:
    rate = number(found.setting)
    return rate is not None and rate < UNLIMITED


def _throttled(topic: Topic) -> tuple[str, ...]:
    """Return the settings that put replicas of a topic under the throttle."""
    return tuple(name for name in REPLICAS if (setting := topic.setting(name)) is not None and setting.value)


def _removal(topics: Sequence[Topic], rates: Sequence[BrokerValue], bootstrap: str) -> tuple[Command, ...]:
    """Return the commands that delete the settings; Kafka's tool refuses to delete one that is not set."""
    alter = f"kafka-configs.sh --bootstrap-server {bootstrap} --alter"
    lines = [
        f"{alter} --entity-type topics --entity-name {quote(topic.name)} --delete-config {','.join(_throttled(topic))}"
        for topic in topics
    ]
    names: dict[str, list[str]] = {}
    for found in rates:
        own = found.setting.source is SettingSource.DYNAMIC_BROKER
        place = f"--entity-name {found.broker_id}" if own else "--entity-default"
        settings = names.setdefault(place, [])
        settings += [] if found.setting.name in settings else [found.setting.name]
    lines += [
        f"{alter} --entity-type brokers {place} --delete-config {','.join(found)}" for place, found in names.items()
    ]
    return tuple(map(Command, lines))
