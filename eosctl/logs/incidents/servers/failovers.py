"""Detect the consequences of a server crash: for the controller, transaction coordinators, and their clients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.servers.outages import Outage, first_of_each, names_node
from eosctl.logs.incidents.servers.quorum import FAILOVER_MS, Quorum, successor_of
from eosctl.logs.incidents.servers.registrations import is_same_process, ran_on, silence_near, unfenced_after
from eosctl.logs.incidents.servers.shortages import SHORTAGE_GAP_MS
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import last_before, within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.logs.incidents.timeline.trouble import DISCONNECTS
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

_TOPIC: Final = "__transaction_state-"
_OVERLOADED: Final = "controller-overloaded"
FENCED_ONLY: Final = 0.6
"""Confidence in a crash that only the controller reports."""
_RAN_ON: Final = "The broker kept running"
_RETURNED: Final = "It was slow, hung, or cut off, as no record shows a start of it"
_STEP: Final = "Find out why the process died."
_OPEN_STEP: Final = "Look in the broker's own log of this time and at its host: it stopped, died, hung, or was cut off."
AGAIN_MS: Final = 3_600_000
"""Maximum time from a fencing to an overload of the same controller that shows that its reason is still there."""
SAME_FENCING_MS: Final = 2_000
"""Records that are this close are of one fencing: a session lasts longer, and a node may write to two files."""


def find_crashes(timeline: LogTimeline, outages: Sequence[Outage]) -> Iterator[Incident]:
    """Yield the crashes of servers, with the roles that moved because of them."""
    quorum, coordinators = Quorum(timeline), _Coordinators(timeline)
    for outage in outages:
        if outage.planned:
            continue
        was_controller = quorum.was_led_by(outage.node, outage.down_ms)
        successor = successor_of(timeline, outage.node, outage.down_ms)
        if was_controller and successor is not None:
            yield incident(
                "controller_failover",
                "controller-crash",
                {"controller": outage.node, "broker": outage.node},
                [*outage.events, successor],
                f"Node {outage.node}, the active controller, died; node "
                f"{successor.fields.get('controller', '?')} took over.",
                "Find out why the process died (kernel log, hs_err file, OOM). The cluster recovered by itself.",
                t_start_ms=outage.down_ms,
            )
        if not outage.is_broker:
            continue
        moved = coordinators.moves(outage)
        affected = _affected(timeline, outage)
        felt = {timeline.transactional_id(event) for event in affected}
        has_failed_over = bool(moved) or not all(_is_elsewhere(timeline, outage, one) for one in felt)
        if was_controller and successor is not None and not has_failed_over:
            continue
        is_only_fenced = not has_failed_over and not affected and outage.application not in timeline.servers()
        homes = coordinators.partitions
        ids = tuple(sorted(felt | coordinators.nameless(moved)))
        partitions = {homes[one] for one in ids if one in homes and (not moved or homes[one] in moved)}
        is_certain = outage.is_end_seen and not is_only_fenced
        yield incident(
            "coordinator_failover" if has_failed_over else "broker_crash" if outage.is_end_seen else "broker_restart",
            "broker-crash" if outage.is_end_seen else "end-not-logged",
            {"broker": outage.node, "transactional.ids": ids, "topic-partitions": tuple(sorted(partitions))},
            [*outage.events, *first_of_each(timeline, [*moved.values()]), *first_of_each(timeline, affected)],
            _description(outage, len(moved), is_only_fenced=is_only_fenced),
            f"{_STEP if is_certain else _OPEN_STEP} Producers continue by themselves once the new coordinators have "
            "loaded.",
            severity=Severity.ERROR if has_failed_over or outage.is_end_seen else Severity.WARNING,
            confidence=0.9 if is_certain else FENCED_ONLY,
            t_start_ms=outage.down_ms,
            t_end_ms=max(
                [
                    outage.up_ms or outage.down_ms,
                    *(time_of(event) for event in (*_fencings(outage.events), *moved.values())),
                ]
            ),
        )


def _description(outage: Outage, moved_count: int, *, is_only_fenced: bool) -> str:
    """Describe the loss of a broker; if only the controller reports it, the process may be alive."""
    what = f"Broker {outage.node} died without a shutdown request"
    if not outage.is_end_seen:
        up = f"; it served again at {time_text(outage.up_ms)}" if outage.up_ms else ""
        what = f"Broker {outage.node} was away and started; how it ended is not in these logs{up}"
    if is_only_fenced:
        what = (
            f"The controller received no heartbeat from broker {outage.node} in time and fenced it: the broker died, "
            "hung, or lost its network"
        )
    if repeated := _repeated(_fencings(outage.events)):
        what = (
            f"The controller fenced broker {outage.node} {repeated}, because its heartbeats stopped: it returned after "
            "each fencing, so it crashes again and again, hangs, or loses its network"
        )
    if not moved_count:
        return f"{what}."
    return f"{what}; {count_text(moved_count, 'partition')} of __transaction_state got another coordinator."


def _fencings(events: Iterable[LogEvent]) -> list[LogEvent]:
    """Return the first record of each fencing among events in order of time: a fencing may be logged twice."""
    fenced = [event for event in events if event.category == "BROKER_FENCED"]
    return [part[0] for part in episodes(fenced, SAME_FENCING_MS)]


def _repeated(fencings: Sequence[LogEvent]) -> str:
    """Return how often a broker was fenced, and the mean interval; empty for a single fencing."""
    if len(fencings) < 2:
        return ""
    lasted_ms = time_of(fencings[-1]) - time_of(fencings[0])
    return f"{count_text(len(fencings), 'time')}, every {duration_text(lasted_ms // (len(fencings) - 1))} on average"


def find_stalled_brokers(
    timeline: LogTimeline, outages: Sequence[Outage], known: Sequence[Incident] = ()
) -> Iterator[Incident]:
    """Yield the brokers that the controller fenced although they ran on: they paused, and did not end.

    Args:
        timeline: The logs.
        outages: The outages of servers.
        known: The incidents of controllers, with the fencings that follow from them as evidence.
    """
    away = {outage.node for outage in outages}
    taken = {(place.file, place.offset) for one in known for place in one.evidence}
    fenced = by_key((event.fields.get("fenced_broker", ""), event) for event in timeline.of("BROKER_FENCED"))
    for node, events in fenced.items():
        open_ones = [event for event in events if (event.file, event.offset) not in taken]
        signs = ((event, silence_near(timeline, node, event)) for event in open_ones)
        felt = [(event, near) for event, near in signs if ran_on(timeline, node, event)]
        if node in away or not felt:
            continue
        repeated = _repeated(_fencings([event for event, _ in felt]))
        last = felt[-1][0]
        overloaded = [one for event, _ in felt for one in _overloads_before(timeline, node, event)]
        moved = within(timeline.of("FENCED_PARTITIONS"), time_of(last), time_of(last) + SAME_FENCING_MS)
        back = unfenced_after(timeline, node, last)
        is_certain = any(
            near or ((one := unfenced_after(timeline, node, event)) and is_same_process(event, one))
            for event, near in felt
        )
        if overloaded:
            reason = f"its own event queue was overloaded, and heartbeats of broker {node} timed out in it"
            why = "The controller was too slow, and the broker need not be at fault. "
            step = (
                "Find what held the controller up: its CPU, its disk, its garbage collection, or a burst of requests. "
                "Raise broker.session.timeout.ms only then."
            )
        else:
            reason, why = "it received no heartbeat for broker.session.timeout.ms", ""
            step = (
                "Find what held the broker up: a slow or failing disk, a long garbage collection, a stopped container, "
                "or the network to the controllers."
            )
        count = f" {count_text(int(moved[0].fields['moved_count']), 'partition')} changed." if moved else ""
        end = f" It was unfenced at {time_text(time_of(back))}." if back else ""
        later = _overloads_after(timeline, node, back or last) if overloaded else ()
        again = f" The queue was overloaded again at {time_text(time_of(later[0]))}." if later else ""
        yield incident(
            "broker_fenced",
            _OVERLOADED if overloaded else "running-broker-missed-heartbeats",
            {"broker": node},
            [
                *overloaded,
                *(one for event, near in felt for one in (event, *near)),
                *moved[:1],
                *([back] if back else []),
                *later[:1],
            ],
            f"The controller fenced broker {node}{f' {repeated}' if repeated else ''}, as {reason}. {why}"
            f"{_RAN_ON if is_certain else _RETURNED}: its leaders and coordinators moved, and requests to it failed "
            f"meanwhile.{count}{end}{again}",
            step,
            severity=Severity.WARNING,
            confidence=0.85 if is_certain else FENCED_ONLY,
        )


def _overloads_before(timeline: LogTimeline, node: str, fenced: LogEvent) -> Sequence[LogEvent]:
    """Return the heartbeats of a broker that the controller's own queue held too long before it fenced the broker."""
    stalls = timeline.with_value("fenced_broker", node, "CONTROLLER_STALL")
    return within(stalls, time_of(fenced) - FAILOVER_MS, time_of(fenced) + SAME_FENCING_MS)


def _overloads_after(timeline: LogTimeline, node: str, event: LogEvent) -> Sequence[LogEvent]:
    """Return the heartbeats of a broker that the controller's queue held too long again, after it was unfenced."""
    stalls = timeline.with_value("fenced_broker", node, "CONTROLLER_STALL")
    return within(stalls, time_of(event) + SAME_FENCING_MS, time_of(event) + AGAIN_MS)


class _Coordinators:
    """The coordinator of each partition of the transaction log, and the transactional ids of each partition.

    Up to 3.7, a broker logs its election again whenever a partition changes. Only a new epoch is a move, and the first
    epoch of a partition never is.

    Attributes:
        partitions: The partition of each transactional id, as coordinators log it.
    """

    def __init__(self, timeline: LogTimeline) -> None:
        elections: dict[tuple[str, str | None], LogEvent] = {}
        for event in timeline.of("COORDINATOR_LOAD"):
            if "txn coordinator" in event.message:
                elections.setdefault(_election(event), event)
        self._moves = [event for (_, epoch), event in elections.items() if epoch != "0"]
        self.partitions: Mapping[str, str] = {
            event.fields["transactional_id"]: event.fields["coordinator_partition"]
            for event in timeline.of("INIT_PRODUCER_ID")
            if event.fields.get("transactional_id") and event.fields.get("coordinator_partition")
        }
        self._nameless: dict[str, set[str]] = {}
        for one, partition in self.partitions.items():
            if one not in timeline.ids_of_clients:
                self._nameless.setdefault(partition, set()).add(one)

    def moves(self, outage: Outage) -> dict[str, LogEvent]:
        """Return the election of the broker that took over each partition of the transaction log, by partition."""
        moved: dict[str, LogEvent] = {}
        for event in within(self._moves, outage.down_ms, outage.down_ms + FAILOVER_MS):
            if event.fields.get("broker") != outage.node:
                moved.setdefault(_TOPIC + _election(event)[0], event)
        return moved

    def nameless(self, partitions: Iterable[str]) -> set[str]:
        """Return the ids of these partitions that no client's log names."""
        return {one for partition in partitions for one in self._nameless.get(partition, ())}


def _election(event: LogEvent) -> tuple[str, str | None]:
    return event.fields.get("coordinator_partition", ""), event.fields.get("coordinator_epoch")


def _affected(timeline: LogTimeline, outage: Outage) -> list[LogEvent]:
    """Return the records about the node from transactional clients during its outage; later clients do not count."""
    until = (outage.up_ms or outage.down_ms + FAILOVER_MS) + SHORTAGE_GAP_MS
    disconnects = timeline.client_events(*DISCONNECTS, "COORDINATOR_DISCOVERED", "VERIFICATION_UNAVAILABLE")
    return [
        event
        for event in within(disconnects, outage.down_ms - 1000, until)
        if names_node(event.message, outage.node)
        and timeline.transactional_id(event)
        and timeline.log_start_ms(event) <= (outage.up_ms or until)
    ]


def _is_elsewhere(timeline: LogTimeline, outage: Outage, transactional_id: str) -> bool:
    """Return whether a broker other than the lost one last initialized an id."""
    last = last_before(timeline.server_events_about(transactional_id, "INIT_PRODUCER_ID"), outage.down_ms)
    return last is not None and last.fields.get("broker", "") not in ("", outage.node)
