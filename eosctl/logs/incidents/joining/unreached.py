"""Name unreachable brokers as the cause of what a client's requests timed out for, and join their effects.

A client that cannot connect logs that first. Some minutes later it reports what it gave up: records, offsets, or the
initialization of its producer. These reports name no cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absent_brokers import peer_of
from eosctl.logs.incidents.joining.absorbing import worst_of
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import name_some, time_text

BEFORE_MS: Final = 360_000
"""Maximum time from a failed connection to what the client gave up: above message.timeout.ms of librdkafka (5 min)."""
LEAST: Final = 2
"""A single failed connection may be a broker that restarts, unless the thread that made it timed out next."""
NAMED: Final = 0.8
_CAUSE: Final = "brokers-not-reached"
_NAMELESS: Final = "name-without-an-address"
_NONE_LEFT: Final = "no-broker-usable"
"""The cause of a client that reports itself that it has no broker: it shows that a failed connection lasts."""
_RESOLVE: Final = (
    "Check advertised.listeners of the brokers, the DNS server of the client, and the names of pods and services. Then "
    "restart what has failed."
)
_KINDS: Final = (
    *("send_timeout", "init_producer_id_timeout", "transaction_end_timeout", "transaction_offsets_timeout"),
    *("metadata_timeout", "consumer_offsets_timeout", "connector_offsets_not_stored", "send_repeated"),
    *("client_gave_up", "host_not_resolved", "brokers_not_reached", "producer_error", "consumer_ended"),
)
"""Kinds of requests that timed out, the one that names the fault best first."""
_CONNECTING: Final = frozenset({"host_not_resolved", "brokers_not_reached"})
_GIVEN_UP: Final = frozenset({"client_gave_up", "send_repeated", "consumer_ended"})
"""Kinds of reports that also have other causes: connections must have failed before them."""
_REASONS: Final[Mapping[str, re.Pattern[str]]] = {
    "producer_error": re.compile(r"(?i:timed[_ ]?out)"),
    "consumer_ended": re.compile(
        r"(?:NumberOfRetriesExceeded|Connection\w{0,20}Error|RequestTimeout|CoordinatorNot(?:Found|Available)|NodeNotReady"
        r"|NoBrokersAvailable|[Bb]roker connections are down|out of available brokers)"
    ),
}
"""Words in the records of kinds that have any reason, where that is a connection."""
_NO_COORDINATOR: Final = re.compile(r"CoordinatorNotFound")
"""The error of a client that found no coordinator: connections may be the reason, and it is not retried."""
_LAST_LASTS: Final = kinds_with("last_lasts")
_ATTEMPTS: Final[tuple[EventCategory, ...]] = ("BROKERS_UNREACHED", "HOST_NOT_RESOLVED")
_DROPPED: Final = ("records_dropped", "handler-continues-after-a-failed-write")
_FAILED: Final = re.compile(r"(?i:timed ?out|refused|no route|unreachable|i/o timeout)")
_SUMMARY: Final = re.compile(r"\b\d{1,4}/\d{1,4} brokers are down")
"""Librdkafka's words after each failed connection to its last broker; the record before has the reason."""
_NEXT: Final = (
    "Check that these brokers run and listen there, and the network, firewalls, and listener settings between them and "
    "the client. Then restart what has failed."
)
_DIALED: Final = re.compile(r"\bbroker [\w.-]{1,253}:\d{1,5}: dial tcp (\[?[\da-f.:]{3,45}\]?:\d{1,5}): ")
"""The address behind the name of a broker, as Sarama prints both; further records have the address alone."""
_REFUSED: Final = re.compile(r"(?i:connection refused|\bECONNREFUSED\b)")
_NOT_NAMED: Final = " Its record does not name the reason."
"""What is not so where the attempts before it do."""
_SHOWN: Final = 3
SINGLE: Final = " On a single broker, __transaction_state cannot be created with its default replication factor of 3."
"""A guess for a client that brokers answer: without a connection, nothing speaks for it."""
_ID: Final = "transactional.id"


def join_unreached(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; the timeouts of a client that could not connect to brokers are one with that cause."""
    causes: dict[str, list[tuple[Incident, Sequence[LogEvent]]]] = {}
    for one in incidents:
        failed = _failed_before(timeline, one)
        if failed:
            causes.setdefault(_client_of(timeline, failed[0]), []).append((one, failed))
        else:
            yield one
    for found in causes.values():
        yield found[0][0] if found[0][0].kind in _CONNECTING and len(found) == 1 else _joined(timeline, found)


def name_unreached_drops(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; records that a program gave up after a connection of it timed out have that as their cause.

    Those that another fault of the same program explains are a part of its incident before.
    """
    for one in incidents:
        failed: Sequence[LogEvent] = ()
        own = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
        if (one.kind, one.root_cause) == _DROPPED and own:
            first = min(own, key=time_of)
            near = timeline.log_between(first, time_of(first) - BEFORE_MS, one.t_end_ms, ("BROKERS_UNREACHED",))
            failed = [event for event in near if event.fields.get("peer") and _FAILED.search(event.message)]
        yield _joined(timeline, [(one, failed)]) if failed and time_of(failed[0]) <= one.t_start_ms else one


def _failed_before(timeline: LogTimeline, one: Incident) -> Sequence[LogEvent]:
    """Return the connections that the client of a timeout could not make before it; empty for too few."""
    if one.kind not in _KINDS:
        return ()
    own = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    reason = _REASONS.get(one.kind)
    if not own or (reason is not None and not any(reason.search(event.message) for event in own)):
        return ()
    first = min(own, key=time_of)
    near = timeline.log_between(first, time_of(first) - BEFORE_MS, one.t_end_ms, _ATTEMPTS)
    clients = {client for event in own if (client := event.fields.get("client_id"))}
    tasks = {task for event in own if (task := event.fields.get("connector_task"))}
    failed = [event for event in near if _is_of(event, clients, tasks)]
    if failed and one.kind in _GIVEN_UP and time_of(failed[0]) > time_of(first):
        return ()
    is_own = bool(failed) and bool(first.thread) and failed[-1].thread == first.thread and one.kind not in _CONNECTING
    has_lasted = one.kind in _CONNECTING or one.root_cause == _NONE_LEFT
    return failed if len(failed) >= LEAST or is_own or has_lasted else ()


def _is_of(event: LogEvent, clients: set[str], tasks: set[str]) -> bool:
    """Return whether a failed connection may be a client's: Connect names a task's producer after the task."""
    client = event.fields.get("client_id", "")
    if tasks:
        return not client or any(client.endswith(f"-{task}") for task in tasks)
    return not (client and clients) or client in clients


def _client_of(timeline: LogTimeline, event: LogEvent) -> str:
    return f"{timeline.log_of(event)}\0{event.fields.get('client_id', '')}"


def _rank(one: Incident) -> tuple[int, int]:
    return _KINDS.index(one.kind) if one.kind in _KINDS else len(_KINDS), one.t_start_ms


def _has_last_reason(timeline: LogTimeline, one: Incident) -> bool:
    """Return whether a client that may have started again ended in the last place for another reason."""
    if one.kind not in _LAST_LASTS:
        return False
    own = [event for event in timeline.evidence(one) if event.fields.get("thrown")]
    if not own:
        return False
    last = max(own, key=time_of).message
    return _NO_COORDINATOR.search(last) is not None or not _REASONS[one.kind].search(last)


def _own(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[LogEvent]:
    return (event for one in incidents for event in timeline.evidence(one))


def _ids_in(events: Iterable[LogEvent]) -> Sequence[str]:
    return sorted({name for event in events if (name := event.fields.get("transactional_id"))})


def _joined(timeline: LogTimeline, found: Sequence[tuple[Incident, Sequence[LogEvent]]]) -> Incident:
    ordered = sorted((one for one, _ in found), key=_rank)
    head = ordered[0]
    failed = sorted({(time_of(event), event.file, event.offset): event for _, part in found for event in part}.items())
    events = [event for _, event in failed]
    aliases = {address for event in events for address in _DIALED.findall(event.message)}
    peers = [peer for peer in by_key((peer_of(event), event) for event in events) if peer and peer not in aliases]
    named = ", ".join(peers[:_SHOWN]) + (f" and {len(peers) - _SHOWN} more" if len(peers) > _SHOWN else "")
    further = {one.kind: one for one in reversed(ordered) if one.kind not in {head.kind, *_CONNECTING}}
    effects = [f"Effect: {one.explanation}" for one in reversed(further.values())]
    partitions = {name for one in ordered if isinstance(name := one.subject.get("topic-partition", ""), str) and name}
    subject = {**head.subject, **({"servers": tuple(peers[:MAX_EVIDENCE_COUNT])} if peers else {})}
    if len(partitions) > 1:
        subject = {name: value for name, value in subject.items() if name != "topic-partition"}
        subject["topic-partitions"] = tuple(sorted(partitions))
    ids = _ids_in((*events, *_own(timeline, ordered)))
    if len(ids) > 1:
        subject = {"transactional.ids": tuple(ids), **{name: value for name, value in subject.items() if name != _ID}}
        effects.append(f"The same holds for the producers of {name_some('transactional id', ids)}.")
    reasons = [event for event in events if not _SUMMARY.search(event.message)] or events
    is_nameless = all(event.category == "HOST_NOT_RESOLVED" for event in reasons)
    failed_to = "resolve" if is_nameless else "connect to"
    answer = (
        " (connection refused)"
        if all(_REFUSED.search(event.message) for event in reasons if event.fields.get("peer"))
        else ""
    )
    cause = f"could not {failed_to} {named or 'brokers'} from {time_text(time_of(events[0]))} on{answer}."
    is_before = _has_last_reason(timeline, head)
    text = (
        f"{head.explanation} Before that, the client {cause}"
        if is_before
        else f"The client {cause} {head.explanation.replace(SINGLE, '', 1).replace(_NOT_NAMED, '', 1)}"
    )
    return head._replace(
        root_cause=head.root_cause if is_before else _NAMELESS if is_nameless else _CAUSE,
        severity=worst_of(ordered),
        subject=subject,
        confidence=max(head.confidence, NAMED),
        t_start_ms=time_of(events[0]),
        t_end_ms=max(one.t_end_ms for one in ordered),
        evidence=joined_evidence(evidence_of(events), *(one.evidence for one in ordered)),
        explanation=" ".join([text, *effects]),
        next_step=head.next_step if is_before else _RESOLVE if is_nameless else _NEXT,
    )
