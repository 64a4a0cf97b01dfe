"""Find errors that are not in the catalog and after which a program does not continue.

They are faults until a person has judged them.

Most errors without a category are noise of a program that continues. One that ends a program, or that repeats up to
the end of its log, is not: silence after it is not health.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.digest.templates import template_of
from eosctl.logs.incidents.remaining.record_groups import may_concern_kafka, short_text
from eosctl.logs.incidents.remaining.unexplained import is_unknown_error
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import FATAL_LEVELS, LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text

REPEATED: Final = 2
"""Minimum number of equal errors of a program that does not end by itself."""
END_MS: Final = 60_000
"""A program that logs for longer than this after its last error continues."""
CONFIDENCE: Final = 0.5
_ENDS: Final = re.compile(
    r"(?i:\b(?:crash(?:ed|ing)?|panic|uncaught|unrecoverable|giving up|gave up|exit(?:ed|ing)|terminat(?:ed|ing)"
    r"|shutting down|(?:fail(?:ed|s)?|unable|cannot|could ?n.t|can.t) to (?:start|initiali[sz]e|create|boot|launch)"
    r"|expected \d+ brokers? but found)\b)"
)
"""A program's words about an error that it does not survive."""
_SUBJECT: Final[tuple[tuple[EventField, str], ...]] = (
    ("group", "group"),
    ("partition", "topic-partition"),
    ("topic", "topic"),
    ("connector_task", "connector.task"),
    ("client_id", "client.id"),
    ("peer", "server"),
)


def find_unknown_errors(timeline: LogTimeline, records: Iterable[LogEvent]) -> Iterator[Incident]:
    """Yield an incident for each kind of unknown error about Kafka after which the log of its program ends.

    Args:
        timeline: The logs.
        records: Records that no incident explains; those of the catalog and those without a time are left out.
    """
    unknown = [one for one in records if is_unknown_error(one) and one.time_ms is not None and may_concern_kafka(one)]
    for events in by_key((f"{timeline.log_of(one)}\0{template_of(one.message)}", one) for one in unknown).values():
        ordered = sorted(events, key=time_of)
        last = ordered[-1]
        is_open = timeline.log_end_ms(last) - time_of(last) <= END_MS
        if is_open and (len(ordered) >= REPEATED or ends_program(last)):
            yield _incident(timeline, ordered)


def ends_program(event: LogEvent) -> bool:
    """Return whether an error is fatal by its level, or reports that its program ends."""
    return event.level in FATAL_LEVELS or _ENDS.search(event.message) is not None


def _incident(timeline: LogTimeline, events: Sequence[LogEvent]) -> Incident:
    first = events[0]
    is_server = first.application in timeline.servers()
    program = first.application if is_server else program_of(timeline, first)
    subject = {"application": first.application}
    for field, name in _SUBJECT:
        values = {value for one in events if (value := one.fields.get(field))}
        if len(values) == 1:
            subject[name] = values.pop()
    count = f" ({count_text(len(events), 'time')})" if len(events) > 1 else ""
    thrown = next((text for one in events if (text := one.fields.get("thrown"))), "")
    cause = f" Its last cause: {short_text(thrown).rstrip('.')}." if thrown else ""
    return incident(
        "error_outside_catalog",
        "unexplained",
        subject,
        events,
        f"{opening(program)} reports an error that is not in the log catalog{count}, and nothing after it shows that "
        f'it continues: "{short_text(first.message)}".{cause}',
        "Read the record and the lines around it: its text is the only evidence of the cause. If the program works, "
        "add the log of a longer time.",
        severity=Severity.ERROR,
        confidence=CONFIDENCE,
    )
