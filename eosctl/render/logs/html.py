"""Render an incident report from logs as one HTML file that needs no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final, NamedTuple

from eosctl import __version__
from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.log_reading import reading_text
from eosctl.findings.log_times import assumption_texts, period_text
from eosctl.model.incident import Incident
from eosctl.model.log_digest import LogDigest
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.log_findings import LogFindings
from eosctl.model.log_totals import Activity
from eosctl.render.logs.digest import clock_text, pause_text, precursor_text, unexplained_text
from eosctl.render.logs.floods import rest_text, shorten_incidents
from eosctl.render.logs.picture import draw_timeline
from eosctl.render.logs.report import skipped_texts, subject_text
from eosctl.render.logs.verdict import headline, what_text
from eosctl.render.templating import render_template
from eosctl.text import time_text

TOP_CATEGORIES: Final = 25
TOP_TEMPLATES: Final = 15
TOP_BURSTS: Final = 10
TOP_PRECURSORS: Final = 6
EVIDENCE_SHOWN: Final = 8
QUOTED_CHARS: Final = 400


class Quote(NamedTuple):
    """A record that is evidence of an incident: the place, the time, and the message."""

    place: str
    time: str
    text: str


class Card(NamedTuple):
    """An incident with its texts ready."""

    incident: Incident
    period: str
    subject: tuple[tuple[str, str], ...]
    quotes: tuple[Quote, ...]
    more_count: int


def render_logs_html(
    findings: LogFindings, digest: LogDigest, generated_at_ms: int, diagnosis: Diagnosis, *, static: bool = False
) -> str:
    """Render the incidents of a scan, worst first, with the records that they rest on; ``static`` without scripts."""
    from markupsafe import Markup

    ordered, counted = shorten_incidents(findings.incidents)
    texts = {(event.file, event.offset): event for event in findings.events}
    counts = Counter(findings.totals.by_category)
    live = _LiveTimeline("", "") if static else _draw_live(findings.activity, findings.events, ordered)
    return render_template(
        "logs.html.j2",
        version=__version__,
        generated_at=time_text(generated_at_ms),
        headline=headline(findings),
        diagnosis=diagnosis,
        # The drawings escape every text in them.
        timeline=Markup(draw_timeline(findings.activity, ordered)),
        script=Markup(live.script),
        live_timeline=Markup(live.timeline),
        digest=digest,
        templates=[(one, one.first_ms and time_text(one.first_ms)) for one in digest.templates[:TOP_TEMPLATES]],
        bursts=[(one, time_text(one.start_ms), time_text(one.end_ms)) for one in digest.bursts[:TOP_BURSTS]],
        precursors=[precursor_text(one) for one in digest.precursors[:TOP_PRECURSORS]],
        unexplained=[unexplained_text(one) for one in digest.unexplained],
        pauses=[(one, pause_text(one)) for one in digest.pauses[:TOP_BURSTS]],
        clocks=[clock_text(one) for one in digest.clocks if one.is_apart],
        cards=[_card(one, texts, findings.sources) for one in ordered],
        rests=[rest_text(rest) for rest in counted],
        unexplained_records=[(one, what_text(one)) for one in findings.unexplained],
        categories=counts.most_common(TOP_CATEGORIES),
        sources=findings.sources,
        skipped=skipped_texts(findings.skipped),
        reading=reading_text(findings),
        assumptions=tuple(assumption_texts(findings)),
    )


class _LiveTimeline(NamedTuple):
    """An interactive timeline and its script; both are empty without a timeline."""

    script: str
    timeline: str


def _draw_live(activity: Activity | None, events: Sequence[LogEvent], incidents: Sequence[Incident]) -> _LiveTimeline:
    if activity is None or find_spec("bokeh") is None:
        return _LiveTimeline("", "")
    from eosctl.render.bokeh_page import library_script
    from eosctl.render.logs import bokeh_timeline as drawn

    timeline = drawn.draw_timeline(activity, events, incidents)
    return _LiveTimeline(library_script(), timeline)


def _card(one: Incident, events: dict[tuple[str, int], LogEvent], sources: Sequence[SourceSummary]) -> Card:
    quotes = []
    for place in one.evidence[:EVIDENCE_SHOWN]:
        event = events.get((place.file, place.offset))
        if event is not None:
            moment = "" if event.time_ms is None else time_text(event.time_ms)
            quotes.append(Quote(place.text, moment, event.message[:QUOTED_CHARS]))
    return Card(
        incident=one,
        period=period_text(one, sources),
        subject=tuple((name, subject_text(value)) for name, value in one.subject.items()),
        quotes=tuple(quotes),
        more_count=max(0, len(one.evidence) - EVIDENCE_SHOWN),
    )
