"""Detect denied access to topics, and resources that are hidden from a principal that only observes.

A broker denies reads of the cluster's state entry by entry: the response omits what the principal may not describe.
This stops no application.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity

EPISODE_MS: Final = 300_000
_DENIALS: Final = ("AUTHZ_TXN_ID", "AUTHZ_GROUP", "AUTHZ_CLUSTER", "AUTHZ_OTHER")
_RESOURCES: Final[tuple[tuple[EventField, str], ...]] = (
    ("topic", "topic"),
    ("transactional_id", "transactional.id"),
    ("group", "group"),
)
_OBSERVE: Final = frozenset(
    {
        *("ListTransactions", "DescribeTransactions", "DescribeProducers", "ListGroups", "DescribeGroups"),
        *("ConsumerGroupDescribe", "ShareGroupDescribe", "StreamsGroupDescribe", "DescribeShareGroupOffsets"),
        *("DescribeConfigs", "DescribeAcls", "DescribeLogDirs", "DescribeCluster", "DescribeQuorum"),
        *("DescribeClientQuotas", "DescribeUserScramCredentials", "DescribeDelegationToken", "ListConfigResources"),
        *("ListPartitionReassignments", "DescribeTopicPartitions", "ListClientMetricsResources"),
    }
)
"""Requests that only administrators and monitoring send, not producers or consumers."""
_LOOK_UP: Final = frozenset({"Metadata", "ListOffsets", "OffsetFetch", "OffsetForLeaderEpoch"})
"""Requests that applications send as well as monitoring."""
_INTERNAL: Final = "__"
ABORTED_MS: Final = 1_000
"""Maximum time from a denial until the producer reports the state of its transaction."""
_IN_ERROR: Final = re.compile(
    r"(?i:abortable[ _]error)[^\n]{0,200}(?i:authoriz)"
    r"|(?i:\bcommit\w*\b[^\n]{0,40}\btransaction\b)[^\n]{0,300}(?i:error state|authoriz)"
)
"""The words of a Java producer about a transaction that cannot be committed, and of a program about its commit."""
_ABORTED: Final = " Its transaction cannot be committed: what it wrote in it is aborted."
_PRODUCER: Final = re.compile(r"\[Producer |#producer-|(?i:\bproduc(?:e|er|ing)\b)")
_CONSUMER: Final = re.compile(r"\[Consumer |#consumer-|(?i:\bconsum(?:e|er|ing)\b|\bsubscri)")


class Observers:
    """The denials that only hide resources from an observer and stop no application."""

    def __init__(self, timeline: LogTimeline) -> None:
        denials = timeline.of(*_DENIALS)
        principals = {event.fields.get("principal", "") for event in denials if _observes(event)}
        stopped = {event.fields.get("principal", "") for event in denials if not _observes(event) and not _looks(event)}
        self._only_observe = principals - stopped - {""}

    def has(self, event: LogEvent) -> bool:
        """Return whether a denial only hides a resource from an observer."""
        if _observes(event):
            return True
        return _looks(event) and event.fields.get("principal", "") in self._only_observe


def find_hidden_resources(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield, as information, the resources that are hidden from each principal."""
    observers = Observers(timeline)
    hidden = [event for event in timeline.of(*_DENIALS) if observers.has(event)]
    for principal, events in by_key((event.fields.get("principal", ""), event) for event in hidden).items():
        resources = tuple(dict.fromkeys(_resource(event) for event in events))
        what = ", ".join(resources[:3]) + (f", and {len(resources) - 3} more" if len(resources) > 3 else "")
        yield incident(
            "observation_denied",
            "missing-describe-acl",
            {"principal": principal, "resources": resources},
            events,
            f"{principal or 'A principal'} may not describe {what}, so the responses that it gets omit them.",
            "To show it everything, grant Describe on the topics, groups, transactional ids, and the cluster.",
            severity=Severity.INFO,
            confidence=0.95,
        )


def find_topic_denials(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield denied access to topics, one incident for each topic and each kind of access."""
    observers = Observers(timeline)
    denied = [event for event in timeline.of("AUTHZ_OTHER") if event.fields.get("topic") and not observers.has(event)]
    for topic, events in by_key((event.fields["topic"], event) for event in denied).items():
        for episode in episodes(events, EPISODE_MS):
            yield _denied(timeline, topic, episode)


def _denied(timeline: LogTimeline, topic: str, episode: Sequence[LogEvent]) -> Incident:
    principals = tuple(dict.fromkeys(one for event in episode if (one := event.fields.get("principal"))))
    operations = tuple(dict.fromkeys(one.upper() for event in episode if (one := event.fields.get("operation"))))
    requests = tuple(dict.fromkeys(one for event in episode if (one := event.fields.get("request"))))
    tasks = {one for event in episode if (one := event.fields.get("connector_task"))}
    task = tasks.pop() if len(tasks) == 1 else ""
    clients = {one for event in episode if (one := event.fields.get("client_id"))}
    client = f"Connector task {task}" if task else f"Client {clients.pop()}" if len(clients) == 1 else "The client"
    ended = _ended_transaction(timeline, episode)
    who, operation = ", ".join(principals) or client, " and ".join(operations) or "access"
    asked = f" ({', '.join(requests)})" if requests else ""
    is_description = bool(operations) and set(operations) <= {"DESCRIBE", "DESCRIBE_CONFIGS", "DESCRIBECONFIGS"}
    return incident(
        "topic_authorization",
        "missing-topic-acl",
        {"topic": topic, "principal": principals[0] if len(principals) == 1 else principals, "connector.task": task},
        [*episode, *ended],
        f"{who} was denied {operation} on topic {topic}{asked}.{_ABORTED if ended else ''}",
        f"Add the ACL: {' and '.join(one.capitalize() for one in operations) or _needed(episode)} on Topic {topic}.",
        severity=Severity.WARNING if is_description else Severity.ERROR,
        confidence=0.95 if principals else 0.85,
    )


def _needed(episode: Sequence[LogEvent]) -> str:
    """Return the operations that a client without the broker's record lacks: those of producers or of consumers."""
    writes = any(_PRODUCER.search(event.message) or event.fields.get("transactional_id") for event in episode)
    reads = any(_CONSUMER.search(event.message) for event in episode)
    return "Read or Write" if writes == reads else "Write" if writes else "Read"


def _ended_transaction(timeline: LogTimeline, episode: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return the records in which the client's producer gives up its transaction because of the denial."""
    near = timeline.log_between(episode[0], time_of(episode[0]), time_of(episode[-1]) + ABORTED_MS)
    return [event for event in near if _IN_ERROR.search(event.message)]


def _observes(event: LogEvent) -> bool:
    """Return whether only observers send the denied request, or only they read the requested resource."""
    is_internal = event.fields.get("topic", "").startswith(_INTERNAL)
    return event.fields.get("request") in (_OBSERVE | {"Fetch"} | _LOOK_UP if is_internal else _OBSERVE)


def _looks(event: LogEvent) -> bool:
    return event.fields.get("request") in _LOOK_UP and event.fields.get("operation", "").upper() == "DESCRIBE"


def _resource(event: LogEvent) -> str:
    return next((f"{kind} {value}" for name, kind in _RESOURCES if (value := event.fields.get(name))), "the cluster")
