"""Select the spans of records that are a fault, or worth a note, only by what else their log has at that time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.classifier.catalog import CatalogedIncident
from eosctl.logs.digest.templates import template_of
from eosctl.logs.incidents.remaining.lasting import REPEATED, ends_excerpt, is_fault, is_of_retrier
from eosctl.logs.incidents.timeline.index import Intervals
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.log_event import LogEvent

ECHO_MS: Final = 30_000
"""Maximum time between the records of one fault in different layers of a program."""
MOMENT_MS: Final = 1_000
"""Maximum time between two records of one failure."""
_IDENTITY: Final[tuple[EventField, ...]] = (
    *("client_id", "connector_task", "group", "partition", "peer", "producer_id", "rdkafka_client", "task"),
    *("topic", "transactional_id"),
)
"""Fields in which the records of one failure agree."""


def occurrence_count(timeline: LogTimeline, events: Iterable[LogEvent]) -> int:
    """Return how often a fault occurred: the layers of a program report one failure in several words.

    A record is a further one of the same occurrence if it follows within ``MOMENT_MS``, has other words, and names
    nothing else.
    """
    return sum(_occurrences(own) for own in by_key((timeline.log_of(one), one) for one in events).values())


def without_copies(events: Iterable[LogEvent]) -> Iterator[LogEvent]:
    """Yield events in the order of time; librdkafka logs the end of a connection once as FAIL and once as ERROR."""
    before: tuple[int, str] | None = None
    for event in sorted(events, key=time_of):
        own = (time_of(event), event.message) if event.fields.get("rdkafka_client") else None
        if own is None or own != before:
            yield event
        before = own


def _occurrences(events: Iterable[LogEvent]) -> int:
    count, last_ms = 0, 0
    words: set[str] = set()
    names: dict[EventField, str] = {}
    for event in without_copies(events):
        template = template_of(event.message)
        own = {field: value for field in _IDENTITY if (value := event.fields.get(field))}
        is_other = any(names.get(field, value) != value for field, value in own.items())
        if not count or template in words or is_other or time_of(event) - last_ms > MOMENT_MS:
            count, words, names = count + 1, set(), {}
        words.add(template)
        names |= own
        last_ms = time_of(event)
    return count


def spread(
    timeline: LogTimeline, spans: Iterable[Sequence[LogEvent]], known: Mapping[EventCategory, CatalogedIncident]
) -> Iterator[Sequence[LogEvent]]:
    """Yield the faults of client programs whose records have several subjects, each too few of them for a fault."""
    few = sorted(
        (
            one
            for span in spans
            if span[0].application not in timeline.servers() and not is_fault(timeline, span, known[span[0].category])
            for one in span
        ),
        key=time_of,
    )
    of_programs = by_key((f"{one.category}\0{timeline.log_of(one)}", one) for one in few)
    yield from (one for one in of_programs.values() if ends_excerpt(timeline, one, known[one[0].category]))


def brief(
    timeline: LogTimeline,
    spans: Iterable[Sequence[LogEvent]],
    faults: Sequence[Sequence[LogEvent]],
    known: Mapping[EventCategory, CatalogedIncident],
) -> Iterator[Sequence[LogEvent]]:
    """Yield the records of a transaction that waited for a while, in a log without a fault at that time."""
    of_logs: dict[str, list[tuple[float, float, Sequence[LogEvent]]]] = defaultdict(list)
    for one in faults:
        for log in {timeline.log_of(event) for event in one}:
            of_logs[log].append((time_of(one[0]), time_of(one[-1]), one))
    at = {log: Intervals(found) for log, found in of_logs.items()}
    for span in spans:
        own, log = known[span[0].category], timeline.log_of(span[0])
        is_named = len(span) >= own.at_least and all(event.fields.get("transactional_id") for event in span)
        is_brief = bool(own.brief) and (is_named or _is_overcome(timeline, span))
        if is_brief and span[0].application not in timeline.servers():
            near = log in at and at[log].has(time_of(span[0]) - ECHO_MS, time_of(span[-1]) + ECHO_MS)
            if not near:
                yield span


def _is_overcome(timeline: LogTimeline, span: Sequence[LogEvent]) -> bool:
    """Return whether a library repeats each of these requests itself, and its log continues without another one."""
    return all(map(is_of_retrier, span)) and timeline.log_end_ms(span[-1]) > time_of(span[-1])


def continued(
    timeline: LogTimeline,
    spans: Iterable[Sequence[LogEvent]],
    faults: Sequence[Sequence[LogEvent]],
    known: Mapping[EventCategory, CatalogedIncident],
) -> Iterator[Sequence[LogEvent]]:
    """Yield the records that a client retries and that are too few for a fault, where their program repeats its write.

    A pipeline names the reason once, and then only reports that its next attempt failed.
    """
    repeated: dict[str, list[Sequence[LogEvent]]] = defaultdict(list)
    for one in faults:
        if one[0].category == REPEATED:
            repeated[timeline.log_of(one[0])].append(one)
    taken = {id(one) for one in faults}
    for span in spans if repeated else ():
        if id(span) not in taken and known[span[0].category].at_least > 1 and span[0].category != REPEATED:
            begin, end = time_of(span[0]), time_of(span[-1])
            loops = repeated.get(timeline.log_of(span[0]), ())
            if any(time_of(one[0]) - ECHO_MS <= end and begin <= time_of(one[-1]) + ECHO_MS for one in loops):
                yield span
