"""What logs hold: events and incidents for programs, and an incident report for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from typing import Final

import msgspec

from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.log_reading import cataloged_text, unlisted_texts
from eosctl.findings.log_times import assumption_texts, is_dated, period_text
from eosctl.findings.logs_report import check_id
from eosctl.model.incident import Incident
from eosctl.model.log_digest import LogDigest
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.log_findings import FileCoverage, LogFindings, Recognition, SkippedFile
from eosctl.render.envelope import Envelope, envelope
from eosctl.render.findings.sections import suppressed_blocks
from eosctl.render.findings.views import SuppressedView, suppressed_views
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column
from eosctl.render.logs.category import labelled
from eosctl.render.logs.digest import clock_text, histogram_lines
from eosctl.render.logs.floods import rest_text, shorten_incidents
from eosctl.render.logs.verdict import (
    UnexplainedView,
    headline,
    record_text,
    unexplained_view,
    what_text,
    worst_severity,
)
from eosctl.render.one import render_one
from eosctl.render.page import Block, Field, Grid, Line, Style, render_page
from eosctl.text import count_text, time_text

SHOWN_EVIDENCE: Final = 5
TONES: Final = {"critical": "red", "error": "red", "warning": "yellow", "info": "green"}


class ExceptionView(msgspec.Struct, frozen=True, rename={"class_name": "class"}):
    """The throwable of an event: its class, the class of its root cause, and a hash of its frames."""

    class_name: str
    root_class: str
    fingerprint: str


class EventView(msgspec.Struct, frozen=True):
    """A log record that means something."""

    category: str
    time: str | None
    time_assumed: bool
    level: str
    file: str
    offset: int
    line: int
    application: str
    host: str
    fields: Mapping[str, str]
    exception: ExceptionView | None
    message: str


class PlaceView(msgspec.Struct, frozen=True):
    """Where a record starts: the byte, and the line from 1."""

    file: str
    offset: int
    line: int


class IncidentView(msgspec.Struct, frozen=True):
    """An incident and its cause. Without times in its records, its period is the last change of a file."""

    kind: str
    root_cause: str
    severity: str
    confidence: float
    subject: Mapping[str, str | tuple[str, ...]]
    t_start: str
    t_end: str
    evidence: tuple[PlaceView, ...]
    explanation: str
    next_step: str
    is_dated: bool = True


class SourceView(msgspec.Struct, frozen=True):
    """A file that was read, and what of it could not be understood."""

    file: str
    application: str
    layout: str
    size_bytes: int
    event_count: int
    unmatched_line_count: int
    truncated_count: int
    undecodable_count: int
    first: str | None
    last: str | None
    recognition: Recognition
    error: str


class SkippedView(msgspec.Struct, frozen=True):
    """A file that was not read, and why."""

    file: str
    reason: str


class LogsView(Envelope, frozen=True):
    """The result of a scan of logs."""

    headline: str
    items: tuple[EventView, ...]
    incidents: tuple[IncidentView, ...]
    unexplained: tuple[UnexplainedView, ...]
    sources: tuple[SourceView, ...]
    skipped: tuple[SkippedView, ...]
    digest: LogDigest | None
    suppressed: tuple[SuppressedView, ...] = ()
    remarks: tuple[str, ...] = ()


def logs_view(
    findings: LogFindings,
    command: str,
    generated_at_ms: int,
    digest: LogDigest | None = None,
    diagnosis: Diagnosis | None = None,
) -> LogsView:
    """Put the result of a scan into its machine-readable form; a report has a digest and suppressions, too."""
    return LogsView(
        *envelope("logs", command, generated_at_ms),
        headline=headline(findings),
        items=tuple(event_view(event) for event in findings.events),
        incidents=tuple(_incident_view(incident, findings.sources) for incident in findings.incidents),
        unexplained=tuple(unexplained_view(one) for one in findings.unexplained),
        sources=tuple(map(_source_view, findings.sources, findings.coverage)),
        skipped=tuple(SkippedView(one.file, one.reason) for one in findings.skipped),
        digest=digest,
        suppressed=() if diagnosis is None else suppressed_views(diagnosis.suppressed),
        remarks=() if diagnosis is None else (*unlisted_texts(findings), *diagnosis.remarks),
    )


def report_blocks(findings: LogFindings, digest: LogDigest, diagnosis: Diagnosis) -> list[Block]:
    """Return the incidents, the new messages compared with a baseline, and the inputs."""
    blocks: list[Block] = [Line(headline(findings), _tone(findings)), Line("")]
    if digest.histogram is not None:
        blocks += [*starmap(Field, histogram_lines(digest.histogram)), Line("")]
    shortened = shorten_incidents(findings.incidents)
    for incident in shortened.shown:
        blocks += [
            Line(
                f"{incident.severity.value.upper()}  {incident.kind}: {incident.root_cause}",
                TONES[incident.severity.value],
            ),
            Field("when", period_text(incident, findings.sources)),
            Field("what", ", ".join(f"{name} {subject_text(value)}" for name, value in incident.subject.items())),
            Field("why", f"{incident.explanation} (confidence {incident.confidence:.0%})"),
            Field("next", incident.next_step),
            *labelled("evidence", _evidence_lines(incident)),
            Field("more", f"eosctl explain {check_id(incident.kind)}"),
            Line(""),
        ]
    for rest in shortened.counted:
        blocks += [Line(rest_text(rest), TONES[rest[0].severity.value]), Line("")]
    for one in findings.unexplained:
        blocks += [
            Line(f"{one.severity.value.upper()}  {one.category}: no known cause", TONES[one.severity.value]),
            Field("what", what_text(one)),
            Field("means", one.meaning),
            Field("next", one.next_step or f"eosctl logs explain {one.category}"),
            *labelled("evidence", map(record_text, one.records)),
            Line(""),
        ]
    if digest.has_baseline:
        new = [one for one in digest.templates if one.is_new]
        lines = [f"{one.event_count} x {one.text} ({', '.join(one.applications)})" for one in new[:SHOWN_EVIDENCE]]
        blocks += [Line(f"{count_text(len(new), 'message')} that the baseline does not have."), *labelled("new", lines)]
        blocks.append(Line(""))
    apart = [clock_text(one) for one in digest.clocks if one.is_apart]
    return [*blocks, *_reading(findings), *labelled("clocks", apart, "yellow"), *suppressed_blocks(diagnosis)]


def _scan_blocks(findings: LogFindings) -> list[Block]:
    """Return the number of events by category, and the inputs."""
    counts = Counter(event.category for event in findings.events)
    first: dict[str, LogEvent] = {}
    for event in findings.events:
        first.setdefault(event.category, event)
    rows = tuple(
        (category, str(count), f"{first[category].file}:{first[category].line}")
        for category, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    table: list[Block] = [Grid(rows, ("CATEGORY", "EVENTS", "FIRST SEEN AT"))] if rows else [Line("No events.")]
    return [*table, Line(""), *_reading(findings)]


def subject_text(value: str | tuple[str, ...]) -> str:
    """Write the value of a subject, shortened when it is a long list."""
    if isinstance(value, str):
        return value
    return ", ".join(value[:6]) + (f" and {len(value) - 6} more" if len(value) > 6 else "")


EVENT_COLUMNS: Final[tuple[Column[EventView], ...]] = (
    Column("TIME", lambda item: item.time or ""),
    Column("CATEGORY", lambda item: item.category),
    Column("LEVEL", lambda item: item.level),
    Column("APPLICATION", lambda item: item.application),
    Column("HOST", lambda item: item.host),
    Column("FILE", lambda item: item.file),
    Column("OFFSET", lambda item: str(item.offset)),
    Column("LINE", lambda item: str(item.line)),
    Column("ROOT-CLASS", lambda item: item.exception.root_class if item.exception else ""),
    Column("MESSAGE", lambda item: item.message),
)
INCIDENT_COLUMNS: Final[tuple[Column[IncidentView], ...]] = (
    Column("START", lambda item: item.t_start),
    Column("END", lambda item: item.t_end),
    Column("SEVERITY", lambda item: item.severity),
    Column("KIND", lambda item: item.kind),
    Column("ROOT-CAUSE", lambda item: item.root_cause),
    Column("CONFIDENCE", lambda item: f"{item.confidence:.2f}"),
    Column("EXPLANATION", lambda item: item.explanation),
)


def event_view(event: LogEvent) -> EventView:
    """Put an event into its machine-readable form."""
    thrown = event.exception
    return EventView(
        category=event.category,
        time=_moment(event.time_ms),
        time_assumed=event.time_assumed,
        level=event.level,
        file=event.file,
        offset=event.offset,
        line=event.line,
        application=event.application,
        host=event.host,
        fields=dict(event.fields.items()),
        exception=None if thrown is None else ExceptionView(thrown.class_name, thrown.root_class, thrown.fingerprint),
        message=event.message,
    )


def _incident_view(incident: Incident, sources: Sequence[SourceSummary]) -> IncidentView:
    return IncidentView(
        kind=incident.kind,
        root_cause=incident.root_cause,
        severity=incident.severity.value,
        confidence=incident.confidence,
        subject=incident.subject,
        t_start=time_text(incident.t_start_ms),
        t_end=time_text(incident.t_end_ms),
        evidence=tuple(PlaceView(*place) for place in incident.evidence),
        explanation=incident.explanation,
        next_step=incident.next_step,
        is_dated=is_dated(incident, sources),
    )


def _source_view(source: SourceSummary, coverage: FileCoverage) -> SourceView:
    return SourceView(
        file=source.file,
        application=source.application,
        layout=source.layout,
        size_bytes=source.size_bytes,
        event_count=source.event_count,
        unmatched_line_count=source.unmatched_line_count,
        truncated_count=source.truncated_count,
        undecodable_count=source.undecodable_count,
        first=_moment(source.first_ms),
        last=_moment(source.last_ms),
        recognition=coverage.recognition,
        error=source.error,
    )


def _moment(time_ms: int | None) -> str | None:
    return None if time_ms is None else time_text(time_ms)


def skipped_texts(skipped: Sequence[SkippedFile]) -> list[str]:
    """Name each file that should have been read and was not; count those that hold no log, by the reason."""
    others: dict[str, list[str]] = {}
    for one in skipped:
        if not one.is_failure:
            others.setdefault(one.reason, []).append(one.file)
    counted = [
        f"{files[0]}: {reason}" if len(files) == 1 else f"{len(files)} files, e.g. {files[0]}: {reason}"
        for reason, files in others.items()
    ]
    return [*(f"{one.file}: {one.reason}" for one in skipped if one.is_failure), *counted]


def _evidence_lines(incident: Incident) -> Iterator[str]:
    for place in incident.evidence[:SHOWN_EVIDENCE]:
        yield place.text
    if len(incident.evidence) > SHOWN_EVIDENCE:
        yield f"and {len(incident.evidence) - SHOWN_EVIDENCE} more"


def _tone(findings: LogFindings) -> str:
    worst = worst_severity(findings)
    return TONES[worst.value] if worst else "green" if findings.has_records else "yellow"


def _layout_text(source: SourceSummary) -> str:
    return "no known layout" if source.layout == "none" else source.layout


def _doubts(source: SourceSummary) -> list[str]:
    counts = (
        (source.unmatched_line_count, "without a known header"),
        (source.truncated_count, "cut"),
        (source.undecodable_count, "not UTF-8"),
    )
    doubts = [f"{count_text(count, 'record')} {what}" for count, what in counts if count]
    return [*doubts, source.error] if source.error else doubts


def _reading(findings: LogFindings) -> Iterator[Block]:
    """Say what was read, and everything that was not understood."""
    sources = findings.sources
    yield Line(f"{cataloged_text(findings)}.")
    doubts = [
        f"{source.file}: {', '.join(doubt)} ({_layout_text(source)})"
        for source in sources
        if (doubt := _doubts(source))
    ]
    if doubts:
        yield from labelled("doubt", doubts, "yellow")
    if findings.skipped:
        yield from labelled("skipped", skipped_texts(findings.skipped))
    for text in assumption_texts(findings):
        yield Field("time", text, "yellow")


def render_scan(findings: LogFindings, now_ms: int, output: OutputFormat, style: Style) -> str:
    """Render events of logs."""
    view = logs_view(findings, "logs scan", now_ms)
    rows = ([column.cell(item) for column in EVENT_COLUMNS] for item in view.items)
    return render_one(view, output, lambda: rows, lambda: render_page(_scan_blocks(findings), style))
