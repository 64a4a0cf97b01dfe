"""Find clients that a bootstrap server answered and that cannot use the address which a broker advertises.

A client knows a broker's node id only from metadata: the Java client numbers its bootstrap servers from -1 down, and
librdkafka and franz-go name them `bootstrap` and `seed`. A failed connection to a node id is therefore one to the
address in `advertised.listeners`, and some broker has answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.joining.unreached import SINGLE
from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.roles import coordinating_node
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity

SOON_MS: Final = 5_000
"""A broker that answered this shortly before did not stop meanwhile: the address is another one."""
SURE: Final = 0.8
"""Confidence in an address of another place: no retry of the client can reach the broker there."""

_CAUSE: Final = "advertised-address-not-reached"
_NO_ID: Final = "init_producer_id_timeout"
_FAILED: Final = frozenset({"BROKERS_UNREACHED", "HOST_NOT_RESOLVED"})
_NODE: Final = re.compile(
    r"\bto node (?P<id>-?\d{1,10}) \(/?(?P<host>[\w.-]{1,253})[/:]"
    r"|\bto node (?P<host2>[\w.-]{1,253}):\d{1,5} \(id: (?P<id2>-?\d{1,10}) rack"
    r"|\]:? (?:\w{3,20}://)?(?P<host3>[\w.-]{1,253}):\d{1,5}/(?P<id3>\d{1,10}|bootstrap)\b"
    r"|\baddr=\"?(?P<host4>[\w.-]{1,253}):\d{1,5}\"? broker=\"?(?P<id4>\d{1,10}|seed_\d{1,6})\b"
)
_REGISTERED: Final = re.compile(r"registered new broker #(?P<id>\d{1,10}) at (?P<peer>(?P<host>[\w.-]{1,253}):\d{1,5})")
_HOST: Final = re.compile(r"(?:\w{3,20}://)?\[?([\w.-]{1,253}|[\da-f:]{2,39})\]?:\d{1,5}")
_LOOPBACK: Final = re.compile(r"localhost(?:\.localdomain)?|127(?:\.\d{1,3}){3}|::1")
_CONTAINER: Final = re.compile(r"[\da-f]{12}")
"""The host name that Docker gives a container without one: the beginning of its id."""
_HOSTED: Final = ".servicebus.windows.net"
_BOTH: Final = "the brokers cannot be reached, or no transaction coordinator answered"


class _Attempt(NamedTuple):
    """A failed connection.

    Attributes:
        event: Its record.
        node: The broker's id; empty for a bootstrap server.
        host: The host.
        is_of_coordinator: Whether it is the connection for a group's coordinator: brokers had named that to the client.
    """

    event: LogEvent
    node: str
    host: str
    is_of_coordinator: bool = False


def name_advertised(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; one of an address that a broker advertises in vain has that as its cause."""
    for one in incidents:
        events = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
        failed = [event for event in events if event.category in _FAILED]
        attempts = [found for event in failed if (found := _attempt_of(event) or _of_registered(timeline, event))]
        if attempts and all(found.node for found in attempts):
            yield _named(timeline, one, attempts)
        elif events and one.kind == _NO_ID and not attempts and (answer := _answer_before(timeline, events[0])):
            yield _of_coordinator(timeline, one, answer)
        else:
            yield one


def _attempt_of(event: LogEvent) -> _Attempt | None:
    found = _NODE.search(event.message)
    if found is None:
        return None
    node = next(filter(None, (found[name] for name in ("id", "id2", "id3", "id4"))))
    host = next(filter(None, (found[name] for name in ("host", "host2", "host3", "host4"))))
    if coordinator := coordinating_node(node):
        return _Attempt(event, coordinator, host, is_of_coordinator=True)
    return _Attempt(event, node if node.isdigit() else "", host)


def _of_registered(timeline: LogTimeline, event: LogEvent) -> _Attempt | None:
    """Return the failed connection of Sarama to a broker that it registered from metadata under that address."""
    peer = event.fields.get("peer", "")
    start_ms = timeline.log_start_ms(event)
    for answer in timeline.log_between(event, start_ms, time_of(event), ("METADATA_RECEIVED",)) if peer else ():
        found = _REGISTERED.search(answer.message)
        if found and found["peer"] == peer:
            return _Attempt(event, found["id"], found["host"])
    return None


def _named(timeline: LogTimeline, one: Incident, attempts: Sequence[_Attempt]) -> Incident:
    first = attempts[0]
    is_certain = _is_of_another_place(timeline, attempts)
    answer = _answer_before(timeline, first.event)
    if not is_certain and (answer is None or all(found.is_of_coordinator for found in attempts)):
        return one
    named = ", ".join(dict.fromkeys(f"broker {found.node} at {found.host}" for found in attempts))
    if not is_certain:
        text = f" A bootstrap server had answered: the client got the address of {named} from the metadata."
        step = f"{one.next_step} Compare advertised.listeners of the broker with the addresses that the client can use."
        if all(_CONTAINER.fullmatch(found.host) for found in attempts):
            text += " Such a host is the id of a container: only its own network knows it, and a new one has another."
            step = f"Set advertised.listeners of the broker to a name that stays and that its clients reach. {step}"
        return one._replace(explanation=one.explanation + text, next_step=step)
    text = (
        f" A bootstrap server answered: the client got the address of {named} from the metadata "
        "(advertised.listeners), and there it does not reach the broker."
    )
    return one._replace(
        root_cause=_CAUSE,
        severity=min(one.severity, Severity.ERROR, key=lambda each: each.rank),
        confidence=max(one.confidence, SURE),
        evidence=joined_evidence(one.evidence, evidence_of([answer] if answer else ())),
        explanation=one.explanation + text,
        next_step="Set advertised.listeners of the broker to a name or address that its clients resolve and reach; for "
        "clients inside and outside a container or private network, define a listener for each of them.",
    )


def _is_of_another_place(timeline: LogTimeline, attempts: Sequence[_Attempt]) -> bool:
    """Return whether the addresses are of the client's own machine or unknown to it, and brokers are elsewhere."""
    first = attempts[0].event
    answer = _answer_before(timeline, first)
    is_at_once = answer is not None and time_of(first) - time_of(answer) <= SOON_MS
    if not all(_LOOPBACK.fullmatch(found.host) for found in attempts):
        # A pod that restarts has no name for a while; one that had none from the beginning is not known to the client.
        return is_at_once and all(found.event.category == "HOST_NOT_RESOLVED" for found in attempts)
    hosts = set(_bootstrap_hosts(timeline, first))
    return not any(map(_LOOPBACK.fullmatch, hosts)) if hosts else is_at_once


def _bootstrap_hosts(timeline: LogTimeline, event: LogEvent) -> Iterator[str]:
    """Yield the hosts of the bootstrap servers that the log of an event names, for its client if that is named."""
    client = event.fields.get("client_id", "")
    yield from _HOST.findall(timeline.announcements.value(timeline.log_of(event), "bootstrap"))
    for other in timeline.log_with(event):
        if client and other.fields.get("client_id", client) != client:
            continue
        if servers := other.fields.get("bootstrap"):
            yield from _HOST.findall(servers)
        elif other.category in _FAILED and (attempt := _attempt_of(other)) and not attempt.node:
            yield attempt.host


def _answer_before(timeline: LogTimeline, event: LogEvent) -> LogEvent | None:
    """Return the last metadata that the client of an event had received before it."""
    client = event.fields.get("client_id", "")
    start_ms = timeline.log_start_ms(event)
    received = timeline.log_between(event, start_ms, time_of(event), ("METADATA_RECEIVED",))
    own = [one for one in received if not client or one.fields.get("client_id", client) == client]
    return own[-1] if own else None


def _of_coordinator(timeline: LogTimeline, one: Incident, answer: LogEvent) -> Incident:
    """Return an initialization that timed out although brokers answered the client's request for metadata."""
    is_hosted = _HOSTED in answer.message
    is_own = answer.fields.get("transactional_id", "") in ("", one.subject.get("transactional.id"))
    text = one.explanation.replace(
        _BOTH, "a broker answered the request for metadata, but no transaction coordinator answered", 1
    )
    step = one.next_step
    if len(set(_bootstrap_hosts(timeline, answer))) > 1:
        text = text.replace(SINGLE, "", 1)
    if is_hosted:
        text = text.replace(SINGLE, " The cluster is a namespace of Azure Event Hubs.", 1)
        step = (
            "Check that the tier of the namespace supports transactions, and its limits; its coordinators and internal "
            "topics are not accessible."
        )
    return one._replace(
        explanation=text,
        next_step=step,
        confidence=max(one.confidence, 0.7),
        evidence=joined_evidence(one.evidence, evidence_of([answer] if is_own else ())),
    )
