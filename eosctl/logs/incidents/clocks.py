"""One clock for all logs: hosts' clocks differ, and logs without a zone are read in the wrong one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from eosctl.logs.digest.clocks import compare_clocks
from eosctl.logs.incidents.logs import ProgramLogs
from eosctl.model.log_digest import QUARTER_MS, TOLERATED_MS, ClockOffset
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.server_loggers import is_of_server

BEHIND_MS: Final = 1_000
"""An answer never comes before it is given, so a client's clock that is this far behind is wrong."""
FURTHEST_MS: Final = 300_000
"""Clocks of hosts are seldom further apart; what is further and no zone is of another cluster."""
HALF_HOUR_MS: Final = 1_800_000
SECOND_MS: Final = 1_500
ZONES_MS: Final = 14 * 3_600_000


def on_one_clock(
    events: Sequence[LogEvent], sources: Sequence[SourceSummary], logs: ProgramLogs
) -> tuple[tuple[LogEvent, ...], tuple[SourceSummary, ...]]:
    """Move the times of logs to the clock that most of them share.

    Only logs with a transactional client that prints its producer id tell how far they are from the coordinators;
    where all of these agree, the others are taken to agree with them. Whole hours count against the logs whose stamps
    have no zone.

    Args:
        events: Events with times.
        sources: The summaries of the same files.
        logs: Which program wrote what.

    Returns:
        The same events and summaries, those of moved logs with other times.
    """
    read = events
    events = _in_one_zone(events, logs)
    offsets = _offsets(events, logs)
    if not any(_is_wrong(offset) for offset in offsets.values()):
        return tuple(events), _with_their_events(sources, read, events)
    servers = {event.application for event in events if is_of_server(event)}
    zone_ms = _zone_of_servers(events, offsets, logs)
    right_ms = zone_ms or _shared_by_most(list(offsets.values()), len(servers))
    known = [offset - right_ms for offset in offsets.values()]
    common_ms = round(median(known)) if max(known) - min(known) <= TOLERATED_MS else 0

    def shift_ms(event: LogEvent) -> int:
        if event.application in servers:
            # What has a zone of its own beside them, as the garbage collector's log, was read rightly.
            return right_ms if event.time_assumed or not zone_ms else 0
        log = logs.of(event)
        offset = offsets[log] - right_ms if log in offsets else common_ms
        return -offset if _is_wrong(offset) else 0

    moved = tuple(
        event._replace(time_ms=event.time_ms + by) if event.time_ms is not None and (by := shift_ms(event)) else event
        for event in events
    )
    of_servers = {source.file for source in sources if source.application in servers}
    alike = _with_their_events(sources, read, moved)
    return moved, tuple(
        _moved(source, right_ms) if source.file in of_servers else one
        for source, one in zip(sources, alike, strict=True)
    )


def _with_their_events(
    sources: Sequence[SourceSummary], read: Sequence[LogEvent], moved: Sequence[LogEvent]
) -> tuple[SourceSummary, ...]:
    """Move the first and last times of files as their events were, so that they fit together.

    A file's first record may have a zone, or not; it is not far from the first that is an event.
    """
    shifts: dict[str, set[int]] = defaultdict(set)
    ends: dict[str, tuple[int, int]] = {}
    for one, other in zip(read, moved, strict=True):
        if one.time_ms is None or other.time_ms is None:
            continue
        shifts[one.file].add(other.time_ms - one.time_ms)
        first_ms, last_ms = ends.get(one.file, (other.time_ms, other.time_ms))
        ends[one.file] = min(first_ms, other.time_ms), max(last_ms, other.time_ms)

    def nearest(source: SourceSummary, time_ms: int | None, end: int) -> int | None:
        if time_ms is None or shifts[source.file] == {0}:
            return time_ms
        near_ms = ends[source.file][end]
        return min((time_ms + shift for shift in sorted(shifts[source.file])), key=lambda ms: abs(ms - near_ms))

    return tuple(
        source._replace(first_ms=nearest(source, source.first_ms, 0), last_ms=nearest(source, source.last_ms, 1))
        if source.file in ends
        else source
        for source in sources
    )


def _in_one_zone(events: Sequence[LogEvent], logs: ProgramLogs) -> Sequence[LogEvent]:
    """Move stamps without a zone where the same log has some with one: Python's between librdkafka's, which are UTC."""
    mixed: dict[str, list[LogEvent]] = defaultdict(list)
    for event in events:
        mixed[logs.of(event)].append(event)
    zones = {log: zone for log, own in mixed.items() if (zone := _zone_of_rest(own))}
    if not zones:
        return events
    return [
        event._replace(time_ms=event.time_ms - zones[log])
        if event.time_assumed and event.time_ms is not None and (log := logs.of(event)) in zones
        else event
        for event in events
    ]


def _zone_of_rest(events: Sequence[LogEvent]) -> int:
    """Return how far stamps without a zone are from those with one beside them, if that is a zone; else 0."""
    if len({event.time_assumed for event in events}) == 1:
        return 0
    mixed = [
        (one, other)
        for one, other in pairwise(sorted(events, key=lambda event: (event.file, event.offset)))
        if one.time_assumed != other.time_assumed
    ]
    differences = [
        (one.time_ms - other.time_ms) * (1 if one.time_assumed else -1)
        for one, other in mixed
        if one.time_ms is not None and other.time_ms is not None
    ]
    if len(differences) < 2 and not any(_is_zone_to_the_second(one) for one in differences):
        # One alone may be an hour in which nothing was written, unless time goes backwards.
        return next((_zone_of_turn(one, other) for one, other in mixed), 0)
    # Neighbours that were written in one moment are a zone apart to the second; the others are near that.
    zones = [zone for one in differences if (zone := _zone_like(one))]
    zone = min(zones, key=lambda zone: min(abs(one - zone) for one in differences), default=0)
    return zone if zone and abs(median(differences) - zone) < QUARTER_MS else 0


def _is_zone_to_the_second(offset_ms: int) -> bool:
    """Whether a difference is of half hours, as most zones are, and time-outs are not, to the second."""
    return offset_ms != 0 and abs(offset_ms - round(offset_ms / HALF_HOUR_MS) * HALF_HOUR_MS) <= SECOND_MS


def _zone_of_turn(before: LogEvent, after: LogEvent) -> int:
    """Return the zone of stamps without one if the later of two neighbours is earlier by about a zone; else 0."""
    back_ms = (before.time_ms or 0) - (after.time_ms or 0)
    zone = -(-back_ms // HALF_HOUR_MS) * HALF_HOUR_MS
    if back_ms < QUARTER_MS or zone - back_ms > QUARTER_MS or zone > ZONES_MS:
        return 0
    return zone if before.time_assumed else -zone


def _zone_like(offset_ms: int) -> int:
    zone = round(offset_ms / QUARTER_MS) * QUARTER_MS
    return zone if ClockOffset("", offset_ms, 1).is_like_a_zone and abs(zone) <= ZONES_MS else 0


def _shared_by_most(offsets: Sequence[int], server_count: int) -> int:
    """Return how far the clock that most logs share is from the servers'; 0 when it is theirs."""
    ordered = sorted(offsets)
    near = {
        value: bisect_right(ordered, value + TOLERATED_MS) - bisect_left(ordered, value - TOLERATED_MS)
        for value in offsets
    }
    best = max(near, key=lambda value: near[value])
    return (
        round(median(value for value in offsets if abs(value - best) <= TOLERATED_MS))
        if near[best] > (server_count + sum(not _is_wrong(value) for value in offsets))
        else 0
    )


def _offsets(events: Sequence[LogEvent], logs: ProgramLogs) -> Mapping[str, int]:
    """Return how far each log's clock is from the coordinators'."""
    inits = [event for event in events if event.category == "INIT_PRODUCER_ID"]
    owners: dict[str | None, set[str | None]] = defaultdict(set)
    for event in inits:
        if "coordinator_partition" in event.fields:
            owners[event.fields.get("producer_id")].add(event.fields.get("transactional_id"))
    # Clusters give out the same ids: a client's transactional id tells whether it is of this one.
    same = (
        event._replace(application=logs.of(event))
        for event in inits
        if event.fields.get("transactional_id") in owners.get(event.fields.get("producer_id"), ())
    )
    return {one.application: one.offset_ms for one in compare_clocks(same) if _is_plausible(one)}


def _is_plausible(one: ClockOffset) -> bool:
    return abs(one.offset_ms) <= FURTHEST_MS or (one.is_like_a_zone and abs(one.offset_ms) <= ZONES_MS)


def _is_wrong(offset_ms: int) -> bool:
    return offset_ms < -BEHIND_MS or offset_ms > TOLERATED_MS


def _zone_of_servers(events: Sequence[LogEvent], offsets: Mapping[str, int], logs: ProgramLogs) -> int:
    """Return by how much servers' logs were read in a wrong zone: clients whose stamps have a zone tell."""
    has_zone = any(not event.time_assumed for event in events if "coordinator_partition" in event.fields)
    zoned = {logs.of(event) for event in events if not event.time_assumed}
    told = {offset for log, offset in offsets.items() if log in zoned}
    if has_zone or not told or max(told) - min(told) > TOLERATED_MS:
        return 0
    offset = round(median(told))
    return offset if ClockOffset("", offset, 1).is_like_a_zone else 0


def _moved(source: SourceSummary, by_ms: int) -> SourceSummary:
    return source._replace(
        first_ms=None if source.first_ms is None else source.first_ms + by_ms,
        last_ms=None if source.last_ms is None else source.last_ms + by_ms,
    )
