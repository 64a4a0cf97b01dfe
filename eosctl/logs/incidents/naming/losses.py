"""Sum the records, spans, metrics, and events that a program reports as dropped during an incident.

Collectors count what they drop: the OpenTelemetry Collector as ``dropped_items``, Vector as ``count``, Telegraf, Fluent
Bit, and most other programs in words. Nothing else in their logs shows how much is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, evidence_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, time_text

AFTER_MS: Final = 60_000
"""Maximum time from the last record of a fault to the record of what was dropped because of it."""
TWICE_MS: Final = 1_000
"""Within this time, a library and its program report the same loss."""
_NOUN: Final = (
    r"(?P<{}>records?|messages?|events?|metrics?|spans?|batch(?:es)?|chunks?|logs?|log records?|data points?|entries"
    r"|items|points)"
)
_UNIT: Final = r"(?:(?:kafka|metric|log|data|trace|oldest|queued|buffered|pending) )?"
_LOSSES: Final = (
    re.compile(r'"?\bdropped_(?:items|spans|metric_points|log_records)"?[=:] ?"?(?P<count>\d+)'),
    re.compile(r"\b[Ee]vents dropped\b[^\n]{0,120}?\bcount=(?P<count>\d+)"),
    re.compile(r"\bdropping all chunks\b[^\n]{0,120}?\brecords=(?P<count>\d+)"),
    re.compile(
        rf"(?P<count>\d+) {_UNIT}{_NOUN.format('noun')} (?:(?:have|has|had) been |was |were |are |is )?(?:being )?"
        r"(?:dropped|lost|discarded)\b"
    ),
    re.compile(rf"\b(?i:dropp(?:ing|ed)|discard(?:ing|ed)|lost|losing) (?P<count>\d+) {_UNIT}{_NOUN.format('noun')}\b"),
    re.compile(r"\b(?i:dropped|lost|discarded)[=:] ?(?P<count>\d+)\b"),
)
"""How programs report one loss with its number."""
_SUPPRESSED: Final = re.compile(
    r"\b(?i:dropp(?:ing|ed)|discard(?:ing|ed)|lost|losing)\b[^\n]{0,120}?\bsuppressed (?P<count>\d+) times?\b"
)
"""How Vector reports how often it did not print a loss again: each time lost one item or more."""
_FAILED_CALLS: Final = re.compile(
    r"\[Service call failed\. No retries or retries exhausted\.\] has been suppressed (?P<count>\d+) times?\b"
)
"""The same for the calls that ended with a loss: it counts where the losses themselves are not reported so."""
_WORDS: Final = ("discard", "drop", "losing", "lost")
"""Each form above has one of them."""
_NOT_PRINTED: Final = re.compile(r"\bhas been suppressed \d+ times?\b")
_PLURALS: Final = {"batch": "batches", "entry": "entries"}
_TOTAL: Final = re.compile(r"(?i:\btotal\b|\bso far\b|\bsince (?:the )?start|\bin all\b)")
"""A number that counts all losses until then."""
_UNITS_OF_SIGNALS: Final = (
    (re.compile(r'"(?:data_type|otelcol\.signal)": ?"traces"'), "spans"),
    (re.compile(r'"(?:data_type|otelcol\.signal)": ?"metrics"'), "data points"),
    (re.compile(r'"(?:data_type|otelcol\.signal)": ?"logs"'), "log records"),
    (re.compile(r"\b[Ee]vents dropped\b"), "events"),
    (re.compile(r"\brecords=\d"), "records"),
)


class _Loss(NamedTuple):
    """A record of a loss, its number, its unit (empty if unknown), and whether the number is a total.

    ``suppressed`` is the number of losses that the record stands for, and that the program did not print.
    """

    event: LogEvent
    number: int
    unit: str
    is_total: bool
    suppressed: int = 0


def sum_losses(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents of clients with the number of records that their programs report as dropped.

    A record counts for the first incident of its program at that time: one loss is not reported twice.
    """
    counted: set[tuple[str, int]] = set()
    for one in incidents:
        losses = [] if one.severity is Severity.INFO else list(_losses_of(timeline, one, counted))
        counted |= {(loss.event.file, loss.event.offset) for loss in losses}
        yield _with_losses(one, losses, is_cut=_is_cut(timeline, one, losses)) if losses else one


def _is_cut(timeline: LogTimeline, one: Incident, losses: Sequence[_Loss]) -> bool:
    """Return whether a program did not print all errors of this time, and some of them may be further losses."""
    last = losses[-1].event
    return bool(timeline.log_matching(last, one.t_start_ms, time_of(last) + AFTER_MS, _NOT_PRINTED))


def _losses_of(timeline: LogTimeline, one: Incident, counted: set[tuple[str, int]]) -> Iterator[_Loss]:
    events = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    components = {name for event in events if (name := event.fields.get("component"))}
    previous: _Loss | None = None
    calls: list[_Loss] = []
    unit, is_printed = "", True
    for first in {timeline.log_of(event): event for event in events}.values():
        for event in timeline.log_between(first, one.t_start_ms, one.t_end_ms + AFTER_MS):
            component = event.fields.get("component", "")
            if (event.file, event.offset) in counted or (components and component and component not in components):
                continue
            if found := _FAILED_CALLS.search(event.message):
                calls.append(_Loss(event, int(found["count"]), "", False, int(found["count"])))
            loss = _loss_in(event)
            if loss is not None and not (previous is not None and _is_repeated(previous, loss)):
                yield loss
                previous = loss
                unit, is_printed = loss.unit, is_printed and not loss.suppressed
    if previous is not None and is_printed:
        yield from (call._replace(unit=unit) for call in calls)


def _loss_in(event: LogEvent) -> _Loss | None:
    text = event.message.lower()
    if not any(word in text for word in _WORDS):
        return None
    suppressed = _SUPPRESSED.search(event.message)
    found = suppressed or next((match for text in _LOSSES if (match := text.search(event.message))), None)
    if found is None or int(found["count"]) == 0:
        return None
    noun = found.groupdict().get("noun") or next(
        (unit for text, unit in _UNITS_OF_SIGNALS if text.search(event.message)), ""
    )
    count = int(found["count"])
    return _Loss(event, count, noun, _TOTAL.search(event.message) is not None, count if suppressed else 0)


def _is_repeated(before: _Loss, loss: _Loss) -> bool:
    """Return whether another layer of the program reports the same loss."""
    is_other = before.event.logger != loss.event.logger or before.event.thread != loss.event.thread
    return is_other and before.number == loss.number and time_of(loss.event) - time_of(before.event) <= TWICE_MS


def _with_losses(one: Incident, losses: Sequence[_Loss], *, is_cut: bool) -> Incident:
    totals = [loss.number for loss in losses if loss.is_total]
    count = max(totals) if totals else sum(loss.number for loss in losses)
    units = {loss.unit.rstrip("s") for loss in losses}
    unit = losses[0].unit.rstrip("s") if len(units) == 1 and losses[0].unit else "item"
    unit = {"batche": "batch", "entrie": "entry"}.get(unit, unit)
    suppressed = sum(loss.suppressed for loss in losses)
    number = suppressed + sum(not loss.suppressed for loss in losses)
    hidden = f"{suppressed:,} of them suppressed, " if suppressed else ""
    times = f"{count_text(number, 'time')}, {hidden}" if number > 1 else ""
    last = max(time_of(loss.event) for loss in losses)
    places = evidence_of([loss.event for loss in losses])
    kept = one.evidence[: max(MAX_EVIDENCE_COUNT // 2, MAX_EVIDENCE_COUNT - len(places))]
    least = "at least " if (suppressed or is_cut) and not totals else ""
    lost = f"{least}{count_text(count, unit, _PLURALS.get(unit))}"
    return one._replace(
        t_end_ms=max(one.t_end_ms, last),
        evidence=tuple(dict.fromkeys((*kept, *places)))[:MAX_EVIDENCE_COUNT],
        explanation=f"{one.explanation} The program reports {lost} as dropped "
        f"({times}{'last ' if times else ''}at {time_text(last)}): they are missing from the output.",
    )
