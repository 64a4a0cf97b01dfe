"""Find errors that are not in the catalog and that a person must judge: of Kafka, or the last of their program.

Most errors without a category are noise of a program that continues. One that ends a program, or that repeats up to
the end of its log, is not: silence after it is not health. One that Kafka or its clients report is not noise either,
unless another incident of the same program is near it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.logs.digest.templates import template_of
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.remaining.record_groups import may_concern_kafka
from eosctl.logs.incidents.remaining.spans import without_copies
from eosctl.logs.incidents.remaining.unexplained import is_unknown_error
from eosctl.logs.incidents.timeline.evidence import incident, short_text
from eosctl.logs.incidents.timeline.index import Intervals
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.logs.incidents.timeline.trouble import SUCCESSES
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import FATAL_LEVELS, LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text

REPEATED: Final = 2
"""Minimum number of equal errors of a program that does not end by itself."""
END_MS: Final = 60_000
"""A program that logs for longer than this after its last error continues."""
NEAR_MS: Final = 60_000
"""Maximum time between an incident of a program and an unknown error that is about the same fault."""
LATE_MS: Final = 1_800_000
"""Maximum time from a fault that stays to an error that only it explains."""
MOMENT_MS: Final = 10_000
"""Maximum time between the records in which the layers of a program report one fault."""
CONFIDENCE: Final = 0.5
_STAYS: Final = kinds_with("stays")
_PANIC: Final = "panic: "
"""The first word of a program in Go that ends."""
_LIBRARIES: Final = re.compile(
    r"(?:org\.apache\.kafka|o\.a\.k(?:afka)?|org\.springframework\.kafka|o\.s\.k(?:afka)?|kafka|kafkajs|aiokafka"
    r"|confluent_kafka|rdkafka|io\.confluent|i\.confluent|io\.smallrye\.reactive\.messaging\.kafka|io\.sma\.rea\.mes\.kafka)(?:\.|$)"
)
"""The loggers of Kafka, and of what programs use to reach it."""
_OF_KAFKA: Final = re.compile(
    r"(?i:kafka|\bsarama\b|\bfranz-go\b|\bkgo\b)|\b(?:Local|Broker): [A-Z]|\bConsumerRecord\(|\bTopicPartition\("
)
_OF_MEMBERS: Final = re.compile(r"(?i:\bpoll|\bconsum|\bcommit|\brebalanc|\bfetch|\bheartbeat|\bgroup\b)")
"""Words of messages about what a member of a group does."""
_ENDS: Final = re.compile(
    r"(?i:\b(?:crash(?:ed|ing)?|panic|uncaught(?! exception in rest call)|unrecoverable|giving up|gave up"
    r"|exit(?:ed|ing)|terminat(?:ed|ing)|shutting down"
    r"|(?:fail(?:ed|s)?|unable|cannot|could ?n.t|can.t) to (?:start|initiali[sz]e|create|boot|launch)"
    r"|expected \d+ brokers? but found)\b)"
)
"""A program's words about an error that it does not survive."""
_REPEATS: Final = re.compile(r"\b[Rr]etrying\b|\b[Ww]ill (?:be )?retr(?:y|ied)\b")
"""A program's words about an error that it answers with another attempt."""
_SUBJECT: Final[tuple[tuple[EventField, str], ...]] = (
    ("group", "group"),
    ("partition", "topic-partition"),
    ("topic", "topic"),
    ("connector_task", "connector.task"),
    ("client_id", "client.id"),
    ("component", "component"),
    ("peer", "server"),
)


class _Unknown(NamedTuple):
    """Equal errors, or those of one moment, and whether nothing after them shows that their program continues."""

    events: Sequence[LogEvent]
    is_last: bool


def find_unknown_errors(
    timeline: LogTimeline, records: Iterable[LogEvent], incidents: Iterable[Incident]
) -> Iterator[Incident]:
    """Yield an incident for each kind of unknown error of Kafka, or after which the log of its program ends.

    Args:
        timeline: The logs.
        records: Records that no incident explains; those of the catalog and those without a time are left out.
        incidents: The incidents that have been found. A program reports one fault in several records, so an unknown
            error next to one of its incidents is not another fault, unless the program ends with it.
    """
    spans: dict[str, list[tuple[int, int, Incident]]] = {}
    faults: dict[str, list[Incident]] = {}
    for one in incidents:
        for log in {timeline.log_of(event) for event in timeline.evidence(one)}:
            spans.setdefault(log, []).append((one.t_start_ms - NEAR_MS, one.t_end_ms + NEAR_MS, one))
            if one.kind in _STAYS and one.severity is not Severity.INFO:
                faults.setdefault(log, []).append(one)
    near = {log: Intervals(own) for log, own in spans.items()}
    unknown = [one for one in records if is_unknown_error(one) and one.time_ms is not None and may_concern_kafka(one)]
    found: dict[str, list[_Unknown]] = {}
    for events in by_key((f"{timeline.log_of(one)}\0{template_of(one.message)}", one) for one in unknown).values():
        ordered = sorted(events, key=time_of)
        last, log = ordered[-1], timeline.log_of(ordered[-1])
        is_open = timeline.log_end_ms(last) - time_of(last) <= END_MS
        known = near.get(log)
        if _is_near(known, ordered[0]) and not ends_program(last):
            continue
        lasting = [] if ends_program(last) else faults.get(log, [])
        if any(_may_be_of(timeline, fault, ordered[0]) for fault in lasting):
            continue
        if is_open and (ends_program(last) or (len(ordered) >= REPEATED and not _is_overcome(timeline, last))):
            found.setdefault(log, []).append(_Unknown(ordered, True))
        elif _is_overcome(timeline, last):
            continue
        elif own := [one for one in ordered if is_of_kafka(one) and not _is_near(known, one)]:
            found.setdefault(log, []).append(_Unknown(own, False))
    for ones in found.values():
        for whole in _merged(ones):
            yield _incident(timeline, whole)


def _is_overcome(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether a program repeats what failed, or reports soon after it that it reaches the brokers again."""
    again = timeline.log_between(event, time_of(event), time_of(event) + NEAR_MS, ("WORKS_AGAIN",))
    return _REPEATS.search(event.message) is not None or bool(again)


def is_of_kafka(event: LogEvent) -> bool:
    """Return whether Kafka or one of its client libraries reports an error: by its logger, exception, or words."""
    chain = event.exception.chain if event.exception is not None else ()
    text = "\n".join((event.message, event.fields.get("thrown", ""), *chain))
    return _LIBRARIES.match(event.logger) is not None or _OF_KAFKA.search(text) is not None


def _is_near(spans: Intervals[Incident] | None, event: LogEvent) -> bool:
    return spans is not None and spans.has(time_of(event), time_of(event))


def _may_be_of(timeline: LogTimeline, fault: Incident, event: LogEvent) -> bool:
    """Return whether an error may be an effect of a fault that stays: it came later, and names nothing else."""
    if not 0 <= time_of(event) - fault.t_start_ms <= LATE_MS:
        return False
    pairs = ((event.fields.get(field), fault.subject.get(name)) for field, name in _SUBJECT)
    if any(mine and other and mine != other for mine, other in pairs):
        return False
    return not timeline.log_between(event, fault.t_end_ms + 1, time_of(event), SUCCESSES)


def _merged(ones: Iterable[_Unknown]) -> Iterator[_Unknown]:
    """Yield the errors of a program; those in the same moment are one fault in the words of several layers."""
    current: _Unknown | None = None
    for one in sorted(ones, key=lambda one: time_of(one.events[0])):
        if current is not None and time_of(one.events[0]) - time_of(current.events[0]) <= MOMENT_MS:
            current = _Unknown((*current.events, *one.events), current.is_last or one.is_last)
            continue
        if current is not None:
            yield current
        current = one
    if current is not None:
        yield current


def ends_program(event: LogEvent) -> bool:
    """Return whether an error is fatal by its level, or reports that its program ends."""
    is_fatal = event.level in FATAL_LEVELS or event.fields.get("thrown", "").startswith(_PANIC)
    return is_fatal or _ENDS.search(event.message) is not None


def _incident(timeline: LogTimeline, unknown: _Unknown) -> Incident:
    events = unknown.events
    first, last = events[0], max(events, key=time_of)
    left_ms = timeline.log_end_ms(last) - time_of(last)
    after = f"the log continues for {duration_text(left_ms)} after it" if left_ms else "the log ends with it"
    if unknown.is_last:
        after = "nothing after it shows that it continues"
    is_server = first.application in timeline.servers()
    program = first.application if is_server else program_of(timeline, first)
    subject = {"application": first.application}
    for field, name in _SUBJECT:
        values = {value for one in events if (value := one.fields.get(field))}
        if len(values) == 1:
            subject[name] = values.pop()
    if not is_server and not subject.get("group") and _OF_MEMBERS.search(first.message):
        subject["group"] = timeline.group_of(first)
    times = sum(1 for _ in without_copies(events))
    count = f" ({count_text(times, 'time')})" if times > 1 else ""
    thrown = next((text for one in events if (text := one.fields.get("thrown"))), "")
    # A message that has only the attempted operation says less than its exception; a panic has no message of its own.
    words = thrown if thrown.startswith(_PANIC) else first.message
    cause = f", because of {short_text(thrown).rstrip('.')}" if thrown and thrown not in words else ""
    return incident(
        "error_outside_catalog",
        "unexplained",
        subject,
        events,
        f"{opening(program)} reports an error that is not in the log catalog{count}, and {after}: "
        f'"{short_text(words)}"{cause}.',
        "Read the record and the lines around it: its text is the only evidence of the cause. If the program works, "
        "add the log of a longer time.",
        severity=Severity.ERROR if unknown.is_last else Severity.WARNING,
        confidence=CONFIDENCE,
    )
