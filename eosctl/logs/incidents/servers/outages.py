"""Find the outages of brokers and controllers, and whether they were requested."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import Final, NamedTuple

from eosctl.logs.incidents.servers.quorum import FAILOVER_MS, leader_named, lost_leaders
from eosctl.logs.incidents.servers.registrations import ran_on
from eosctl.logs.incidents.timeline.index import Intervals, last_before, within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.trouble import DISCONNECTS
from eosctl.model.log_event import LogEvent
from eosctl.model.server_loggers import is_of_server

START_SPREAD_MS = 20_000
SHORTEST_LIFE_MS = 2_000
"""If a server logs the same record twice within this time, it writes to two files."""
PLANNED_WITHIN_MS = 300_000
"""A start this soon after a signal belongs to the signal."""
JVM_START_MS = 5_000
READY_WITHIN_MS = 120_000
FATAL_STARTS: Final = frozenset(
    {
        *("BROKER_ID_IN_USE", "CLUSTER_ID_MISMATCH", "DATA_DIR_LOCKED", "METADATA_NOT_APPLIED", "NODE_ID_MISMATCH"),
        *("PORT_IN_USE", "REGISTRATION_FAILED", "SERVER_FATAL", "SERVER_START_FAILED"),
    }
)
"""Categories of faults after which a server shuts itself down."""
HALTS: Final = re.compile(r"\bbecause all log dirs in .* have failed\b")
"""The last record of a broker that halts without a shutdown, because its last log directory failed (``LogManager``)."""
_WRITER: Final = re.compile(r"^\[[^\]\n]*?\b(?:id|[a-z]+Id|broker)=(\d+)")
"""The node that writes a record, in the prefix of its message."""


class Outage(NamedTuple):
    """An outage of a server.

    Attributes:
        application: The server's name in the logs.
        node: Its node id.
        is_broker: False for a node that is a controller only.
        planned: Whether it received a shutdown request.
        down_ms: When it stopped, as precisely as the logs show.
        up_ms: When it started again; None when it did not.
        events: The evidence.
        is_end_seen: Whether its own records before its start, or its missed heartbeats, show how it ended.
    """

    application: str
    node: str
    is_broker: bool
    planned: bool
    down_ms: int
    up_ms: int | None
    events: tuple[LogEvent, ...]
    is_end_seen: bool = True


def find_outages(timeline: LogTimeline) -> tuple[Outage, ...]:
    """Find every stop and start of a server."""
    found = [outage for application in sorted(timeline.servers()) for outage in _restarts(timeline, application)]
    lives = _lives(timeline)
    away: dict[str, list[Outage]] = {}
    for outage in found:
        away.setdefault(outage.node, []).append(outage)
    known = {node: Intervals((*_noticed_within(one), one) for one in outages) for node, outages in away.items()}
    unseen: dict[str, list[LogEvent]] = {}
    for fenced in timeline.of("BROKER_FENCED"):
        node = fenced.fields.get("fenced_broker", "")
        is_known = node in known and known[node].has(time_of(fenced), time_of(fenced))
        is_alive = any(first < time_of(fenced) < last for first, last in lives.get(node, ()))
        if node and not is_known and not is_alive:
            unseen.setdefault(node, []).append(fenced)
    found += [
        # It lasts to the end of the logs, so a node has only one such outage.
        Outage(
            application=f"broker-{node}",
            node=node,
            is_broker=True,
            planned=False,
            down_ms=time_of(events[0]),
            up_ms=None,
            events=tuple(events),
        )
        for node, events in unseen.items()
        if not all(ran_on(timeline, node, fenced) for fenced in events)
    ]
    found += _stopped_elsewhere(timeline, found)
    found += _silent_controllers(timeline, found)
    found += _controllers_without_logs(timeline, found)
    return tuple(sorted(found, key=lambda outage: outage.down_ms))


def _noticed_within(outage: Outage) -> tuple[float, float]:
    return outage.down_ms - FAILOVER_MS, inf if outage.up_ms is None else outage.up_ms + FAILOVER_MS


def _lives(timeline: LogTimeline) -> dict[str, list[tuple[int, int]]]:
    """Return the periods that the logs of each node cover, from the first record to the last one."""
    lives: dict[str, list[tuple[int, int]]] = {}
    for application in timeline.servers():
        if events := timeline.of_application(application):
            covered = timeline.log_start_ms(events[0]), timeline.log_end_ms(events[-1])
            lives.setdefault(timeline.node_of(application), []).append(covered)
    return lives


def _restarts(timeline: LogTimeline, application: str) -> Iterator[Outage]:
    events = timeline.of_application(application)
    roles = _roles(events)
    is_broker = "Broker" in roles or not roles
    orders_of_all = [event for event in events if event.category in ("BROKER_SIGNAL", "BROKER_STOPPED")]
    faults = [event for event in events if event.category in FATAL_STARTS]
    halts = [event for event in events if event.category == "DISK_ERROR" and HALTS.search(event.message)]
    node = timeline.node_of(application)
    alive_ms = 0
    for group in starts_of(events):
        start = time_of(group[0])
        # Earlier events than the previous start belong to that start.
        begin_ms, since, alive_ms = alive_ms, max(start - PLANNED_WITHIN_MS, alive_ms), time_of(group[-1])
        if within(halts, begin_ms, start - 1):
            # The failed directory has an incident of its own.
            continue
        orders = within(orders_of_all, since, start - 1)
        if orders and any(time_of(event) <= time_of(orders[0]) for event in within(faults, since, start - 1)):
            # It shut itself down after a fault, which has an incident of its own.
            continue
        fenced = within(timeline.with_value("fenced_broker", node, "BROKER_FENCED"), since, start)
        # The new process may have written before it names itself; events before the fencing belong to the old one.
        last = timeline.last_sign_before(
            application, min([start - JVM_START_MS, *(time_of(event) for event in fenced)])
        )
        up = _serving_again(timeline, application, node, start)
        if orders:
            evidence = (*orders, *group)
            yield Outage(
                application=application,
                node=node,
                is_broker=is_broker,
                planned=True,
                down_ms=time_of(orders[0]),
                up_ms=up,
                events=evidence,
            )
        elif last is None and (lost := _cut_off(timeline, node, start)):
            # A quiet server, or files that begin with its start: only other nodes logged that it left.
            yield Outage(
                application=application,
                node=node,
                is_broker=is_broker,
                planned=False,
                down_ms=time_of(lost),
                up_ms=up,
                events=(lost, *fenced, *group),
                is_end_seen=bool(fenced),
            )
        elif fenced or (last is not None and _noticed(timeline, node, last, start)):
            # Kafka's files end abruptly: its clients' logs have the moment more precisely than its own last line.
            missed = _first_missed(timeline, node, last or time_of(fenced[0]), start)
            down = missed if missed is not None else last if last is not None else time_of(fenced[0])
            yield Outage(
                application=application,
                node=node,
                is_broker=is_broker,
                planned=False,
                down_ms=down,
                up_ms=up,
                events=(*fenced, *group),
                is_end_seen=bool(fenced) or not _is_of_others(events, node, start),
            )


def _is_of_others(events: Sequence[LogEvent], node: str, start_ms: int) -> bool:
    """Return whether all that a log has from before a start is of another node or program that writes to it."""
    earlier = [event for event in events if time_of(event) < start_ms]
    return bool(earlier) and not any(_is_own(event, node) for event in earlier)


def _is_own(event: LogEvent, node: str) -> bool:
    """Return whether a node wrote a record: the record names it, or names no node and is of a server."""
    if writer := _WRITER.search(event.message):
        return writer[1] == node
    return event.fields.get("broker") == node or is_of_server(event)


def _roles(events: Sequence[LogEvent]) -> set[str]:
    return {role for event in events if event.category == "BROKER_ROLE" and (role := event.fields.get("role"))}


def starts_of(events: Sequence[LogEvent]) -> Iterator[list[LogEvent]]:
    """Yield the records of each start of a server; a process logs each of them once, and none after its end."""
    group: list[LogEvent] = []
    for event in events:
        is_start = event.category == "BROKER_START"
        if not is_start and event.category not in ("BROKER_SIGNAL", "BROKER_STOPPED"):
            continue
        if group and (not is_start or not _is_same_start(group, event)):
            yield group
            group = []
        if is_start:
            group.append(event)
    if group:
        yield group


def _is_same_start(group: Sequence[LogEvent], event: LogEvent) -> bool:
    if time_of(event) - time_of(group[-1]) > START_SPREAD_MS:
        return False
    said = [one for one in group if one.message == event.message]
    return not said or time_of(event) - time_of(said[0]) < SHORTEST_LIFE_MS


def _silent_controllers(timeline: LogTimeline, known: Sequence[Outage]) -> Iterator[Outage]:
    """Yield active controllers that fell silent permanently, and were replaced without resigning."""
    applications = {node: application for application in timeline.servers() if (node := timeline.node_of(application))}
    leaders = timeline.of("CONTROLLER_ACTIVE", "CONTROLLER_LEADER", "CONTROLLER_LOST")
    downs: dict[str, int] = {}
    for outage in known:
        downs[outage.node] = min(downs.get(outage.node, outage.down_ms), outage.down_ms)
    for taken in timeline.of("CONTROLLER_ACTIVE"):
        before = last_before(leaders, time_of(taken))
        leader = leader_named(before) if before else ""
        application = applications.get(leader, "")
        if not application or leader == taken.fields.get("controller"):
            continue
        events = timeline.of_application(application)
        last = time_of(events[-1])
        ended = any(
            event.category in ("BROKER_SIGNAL", "BROKER_STOPPED", "CONTROLLER_RESIGNED") for event in events[-20:]
        )
        is_known = downs.get(leader, inf) <= time_of(taken)
        if last < time_of(taken) and not ended and not is_known:
            downs[leader] = last
            yield Outage(
                application=application,
                node=leader,
                is_broker="Broker" in _roles(events),
                planned=False,
                down_ms=last,
                up_ms=None,
                events=(taken,),
            )


def _controllers_without_logs(timeline: LogTimeline, known: Sequence[Outage]) -> Iterator[Outage]:
    """Yield the outages of active controllers that have no log here, according to other nodes."""
    nodes = _known_nodes(timeline, known)
    for leader, cut in lost_leaders(timeline).items():
        if leader not in nodes:
            yield Outage(
                application=f"controller-{leader}",
                node=leader,
                is_broker=False,
                planned=False,
                down_ms=time_of(cut),
                up_ms=None,
                events=(cut,),
            )


def _stopped_elsewhere(timeline: LogTimeline, known: Sequence[Outage]) -> Iterator[Outage]:
    """Yield brokers without a log here that requested a controlled shutdown from their controller."""
    nodes = _known_nodes(timeline, known)
    registrations = timeline.of("BROKER_UNFENCED")
    asked_ms: dict[str, int] = {}
    for order in registrations:
        node = order.fields.get("fenced_broker", "")
        if "granted a controlled shutdown" not in order.message or node in nodes:
            continue
        is_new = time_of(order) - asked_ms.get(node, -SHORTEST_LIFE_MS) >= SHORTEST_LIFE_MS
        asked_ms[node] = time_of(order)
        if is_new:
            later = within(timeline.with_value("fenced_broker", node, "BROKER_UNFENCED"), time_of(order) + 1, inf)
            back = (time_of(event) for event in later if "to unfence" in event.message)
            yield Outage(
                application=f"broker-{node}",
                node=node,
                is_broker=True,
                planned=True,
                down_ms=time_of(order),
                up_ms=next(back, None),
                events=(order,),
            )


def _known_nodes(timeline: LogTimeline, known: Sequence[Outage]) -> set[str]:
    """Return the nodes that have their own logs here, or a known outage."""
    return {timeline.node_of(application) for application in timeline.servers()} | {outage.node for outage in known}


def _noticed(timeline: LogTimeline, node: str, last_sign_ms: int, start_ms: int) -> bool:
    """Return whether another program logged that a node left: a lost connection, or a node that took its place.

    An excerpt of a file can begin with the end of an earlier process; a start after it does not mean a crash.
    """
    until = min(start_ms, last_sign_ms + FAILOVER_MS)
    lost = within(timeline.of(*DISCONNECTS), last_sign_ms, until)
    replaced = within(timeline.of("CONTROLLER_ACTIVE"), last_sign_ms, until)
    return any(names_node(event.message, node) for event in lost) or any(
        event.fields.get("controller") != node for event in replaced
    )


def _cut_off(timeline: LogTimeline, node: str, start_ms: int) -> LogEvent | None:
    """Return the first request that a node left unanswered before it started.

    Unlike a connection that cannot be established, it shows that the node had been running.
    """
    near = within(timeline.of(*DISCONNECTS), start_ms - READY_WITHIN_MS, start_ms - JVM_START_MS - 1)
    return next((event for event in near if f"due to node {node} being disconnected" in event.message), None)


def _first_missed(timeline: LogTimeline, node: str, last_sign_ms: int, start_ms: int) -> int | None:
    """Return when a client first lost its connection to a node after the node's last record."""
    near = within(timeline.client_events(*DISCONNECTS), last_sign_ms, min(start_ms, last_sign_ms + FAILOVER_MS))
    return next((time_of(event) for event in near if names_node(event.message, node)), None)


def _serving_again(timeline: LogTimeline, application: str, node: str, start_ms: int) -> int:
    """Return when a node was unfenced after its start; the time of the start if no log has it."""
    for event in within(timeline.of("BROKER_UNFENCED"), start_ms, start_ms + READY_WITHIN_MS):
        about = event.fields.get("fenced_broker") == node or event.application == application
        if about and "unfence" in event.message:
            return time_of(event)
    return start_ms


def names_node(message: str, node: str) -> bool:
    """Return whether a message names a node: Java's ``node 1`` or ``(id: 1 rack``, librdkafka's ``host:9092/1``."""
    padded = f"{message} "
    return any(form in padded for form in _forms_of(node))


@lru_cache(maxsize=4096)
def _forms_of(node: str) -> tuple[str, ...]:
    return f" node {node} ", f"Node {node} ", f"(id: {node} ", f"/{node}:"


def first_of_each(timeline: LogTimeline, events: Sequence[LogEvent]) -> list[LogEvent]:
    """Return the first event of each program and transactional id."""
    firsts: dict[tuple[str, str], LogEvent] = {}
    for event in events:
        named = "" if event.application in timeline.servers() else timeline.transactional_id(event)
        firsts.setdefault((timeline.log_of(event), named), event)
    return list(firsts.values())
