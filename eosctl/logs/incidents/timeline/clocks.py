"""Put all logs on one clock: hosts' clocks differ, and logs without a time zone may be read in the wrong one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from eosctl.logs.digest.clocks import compare_clocks
from eosctl.logs.incidents.timeline.logs import ProgramLogs
from eosctl.model.log_digest import QUARTER_MS, TOLERATED_MS, ClockOffset
from eosctl.model.log_event import LogEvent, ProgramSpan, SourceSummary
from eosctl.model.server_loggers import servers_among

BEHIND_MS: Final = 1_000
"""A response never arrives before it is sent, so a client's clock that is this far behind is wrong."""
FURTHEST_MS: Final = 300_000
"""Hosts' clocks rarely differ by more. A larger difference that is not a time zone means another cluster."""
HALF_HOUR_MS: Final = 1_800_000
SECOND_MS: Final = 1_500
ZONES_MS: Final = 14 * 3_600_000


def on_one_clock(
    events: Sequence[LogEvent], sources: Sequence[SourceSummary], logs: ProgramLogs
) -> tuple[tuple[LogEvent, ...], tuple[SourceSummary, ...]]:
    """Move the times of logs to the clock that most of them share.

    Only logs of transactional clients that print their producer ids show their distance from the coordinators. If
    all of these agree, the others are assumed to agree, too. Whole hours count against logs without a time zone.

    Args:
        events: Events with times.
        sources: The summaries of the same files.
        logs: The program that wrote each record.

    Returns:
        The same events and summaries, with corrected times for moved logs.
    """
    read = events
    events = _in_one_zone(events, logs)
    offsets = _offsets(events, logs)
    if not any(_is_wrong(offset) for offset in offsets.values()):
        return tuple(events), _with_their_events(sources, read, events)
    servers = servers_among(events)
    zone_ms = _zone_of_servers(events, offsets, logs)
    right_ms = zone_ms or _shared_by_most(list(offsets.values()), len(servers))
    known = [offset - right_ms for offset in offsets.values()]
    common_ms = round(median(known)) if max(known) - min(known) <= TOLERATED_MS else 0

    def shift_ms(event: LogEvent) -> int:
        if event.application in servers:
            # A server's log with a time zone, such as the garbage collector's, was read correctly.
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
    """Move the first and last times of files, and of programs in them, by as much as their events.

    A file's first record may lack a zone even if the events have one. The nearest event decides.
    """
    if read is moved:
        return tuple(sources)
    shifts: dict[tuple[str, ...], set[int]] = defaultdict(set)
    ends: dict[tuple[str, ...], tuple[int, int]] = {}
    for one, other in zip(read, moved, strict=True):
        if one.time_ms is None or other.time_ms is None:
            continue
        for key in ((one.file,), (one.file, one.application, one.host)):
            shifts[key].add(other.time_ms - one.time_ms)
            first_ms, last_ms = ends.get(key, (other.time_ms, other.time_ms))
            ends[key] = min(first_ms, other.time_ms), max(last_ms, other.time_ms)

    def nearest(key: tuple[str, ...], time_ms: int, end: int) -> int:
        if key not in ends or shifts[key] == {0}:
            return time_ms
        near_ms = ends[key][end]
        return min((time_ms + shift for shift in sorted(shifts[key])), key=lambda ms: abs(ms - near_ms))

    def in_file(source: SourceSummary, span: ProgramSpan) -> ProgramSpan:
        key = source.file, span.application, span.host
        return span._replace(first_ms=nearest(key, span.first_ms, 0), last_ms=nearest(key, span.last_ms, 1))

    return tuple(
        source._replace(
            first_ms=None if source.first_ms is None else nearest((source.file,), source.first_ms, 0),
            last_ms=None if source.last_ms is None else nearest((source.file,), source.last_ms, 1),
            programs=tuple(in_file(source, span) for span in source.programs),
        )
        for source in sources
    )


def _in_one_zone(events: Sequence[LogEvent], logs: ProgramLogs) -> Sequence[LogEvent]:
    """Move stamps without a zone if the same log has stamps with one: Python's between librdkafka's, which are UTC."""
    forms: dict[str, set[bool]] = defaultdict(set)
    for event in events:
        forms[logs.of(event)].add(event.time_assumed)
    mixed: dict[str, list[LogEvent]] = {log: [] for log, found in forms.items() if len(found) > 1}
    if not mixed:
        return events
    for event in events:
        if (log := logs.of(event)) in mixed:
            mixed[log].append(event)
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
    """Return the distance of stamps without a zone from adjacent ones with a zone, if it is a zone's offset; else 0."""
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
        # A single difference may be an hour without records, unless time runs backwards.
        return next((_zone_of_turn(one, other) for one, other in mixed), 0)
    # Adjacent records of one moment differ by the zone's offset to the second; the others are near it.
    zones = [zone for one in differences if (zone := _zone_like(one))]
    zone = min(zones, key=lambda zone: min(abs(one - zone) for one in differences), default=0)
    return zone if zone and abs(median(differences) - zone) < QUARTER_MS else 0


def _is_zone_to_the_second(offset_ms: int) -> bool:
    """Return whether a difference is a multiple of 30 minutes to the second, as most zones' offsets are."""
    return offset_ms != 0 and abs(offset_ms - round(offset_ms / HALF_HOUR_MS) * HALF_HOUR_MS) <= SECOND_MS


def _zone_of_turn(before: LogEvent, after: LogEvent) -> int:
    """Return the offset of stamps without a zone if time runs backwards by about a zone's offset; else 0."""
    back_ms = (before.time_ms or 0) - (after.time_ms or 0)
    zone = -(-back_ms // HALF_HOUR_MS) * HALF_HOUR_MS
    if back_ms < QUARTER_MS or zone - back_ms > QUARTER_MS or zone > ZONES_MS:
        return 0
    return zone if before.time_assumed else -zone


def _zone_like(offset_ms: int) -> int:
    zone = round(offset_ms / QUARTER_MS) * QUARTER_MS
    return zone if ClockOffset("", offset_ms, 1).is_like_a_zone and abs(zone) <= ZONES_MS else 0


def _shared_by_most(offsets: Sequence[int], server_count: int) -> int:
    """Return the distance of most logs' shared clock from the servers' clock; 0 if it is the same."""
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
    """Return the distance of each log's clock from the coordinators' clock."""
    inits = [event for event in events if event.category == "INIT_PRODUCER_ID"]
    owners: dict[str | None, set[str | None]] = defaultdict(set)
    for event in inits:
        if "coordinator_partition" in event.fields:
            owners[event.fields.get("producer_id")].add(event.fields.get("transactional_id"))
    # Clusters assign the same producer ids: the transactional id shows whether a client belongs to this one.
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
    """Return by how much the servers' logs were read in a wrong zone, according to clients' stamps that have a zone."""
    has_zone = any(not event.time_assumed for event in events if "coordinator_partition" in event.fields)
    zoned = {logs.of(event) for event in events if not event.time_assumed}
    known = {offset for log, offset in offsets.items() if log in zoned}
    if has_zone or not known or max(known) - min(known) > TOLERATED_MS:
        return 0
    offset = round(median(known))
    return offset if ClockOffset("", offset, 1).is_like_a_zone else 0


def _moved(source: SourceSummary, by_ms: int) -> SourceSummary:
    return source._replace(
        first_ms=None if source.first_ms is None else source.first_ms + by_ms,
        last_ms=None if source.last_ms is None else source.last_ms + by_ms,
        programs=tuple(
            span._replace(first_ms=span.first_ms + by_ms, last_ms=span.last_ms + by_ms) for span in source.programs
        ),
    )
