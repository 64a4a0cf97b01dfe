"""Recognize the consoles of test runs, in which tests provoke errors on purpose.

A test that passes has expected its errors. A runner's record covers the records of its own program from the start of a
test to its result. A test that failed may have failed because of them, so they stay what they are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text

_RUNNER: Final = re.compile(
    r"^Gradle Test Run \S|^Gradle Test Executor \d+ >|^> Task :[\w:-]*[tT]est\b"
    r"|^(?:\[INFO\] |\[ERROR\] )?Running (?:[a-z]\w*\.)+[A-Z]\w*(?:Tests?|IT)\b"
    r"|^=== RUN +Test\w|^=+ test session starts =+|^running \d+ tests?$",
    re.MULTILINE,
)
"""Lines of Gradle, Maven Surefire, Go, pytest, and cargo about tests that they start."""
_FAILED: Final[tuple[EventField, ...]] = ("test_failed", "test_failures", "test_errors")
_RESULTS: Final[tuple[EventField, ...]] = (*_FAILED, "test_passed")
PAUSE_MS: Final = 600_000
"""Maximum time from a runner's record to an error of the same test."""
_KIND: Final = "test_run"
_CAUSE: Final = "errors-of-tests"


class _Marker(NamedTuple):
    """A runner's record: its line and time, and whether it reports a result, and a failure."""

    line: int
    time_ms: float
    is_result: bool
    is_failed: bool


class _Span(NamedTuple):
    """Lines and times, both ends included, of tests that did not fail."""

    first_line: float
    last_line: float
    start_ms: float
    end_ms: float


class TestRuns:
    """The spans of tests in each log."""

    __test__ = False

    def __init__(self, timeline: LogTimeline) -> None:
        markers: dict[tuple[str, str], list[_Marker]] = defaultdict(list)
        for source in timeline.sources:
            if found := _RUNNER.search(source.beginning):
                line = source.beginning.count("\n", 0, found.start()) + 1
                first_ms = -inf if source.first_ms is None else source.first_ms
                markers[source.file, source.application].append(_Marker(line, first_ms, False, False))
        if markers or timeline.of("TEST_RUN"):
            # The lines of a runner below a record of a log belong to it.
            for event in timeline.events:
                if event.category == "TEST_RUN" or not event.fields.keys().isdisjoint(_RESULTS):
                    markers[event.file, event.application].append(_marker_of(event))
        self._spans: Mapping[tuple[str, str], Sequence[_Span]] = {
            place: tuple(_spans_of(sorted(own))) for place, own in markers.items()
        }

    def __bool__(self) -> bool:
        return bool(self._spans)

    def cover(self, event: LogEvent) -> bool:
        """Return whether a record belongs to a test that did not fail."""
        spans = self._spans.get((event.file, event.application), ())
        moment = time_of(event)
        return any(
            span.first_line <= event.line <= span.last_line and span.start_ms <= moment <= span.end_ms for span in spans
        )


def _marker_of(event: LogEvent) -> _Marker:
    fields = event.fields
    is_failed = any(fields.get(name, "0").lstrip("0") for name in _FAILED)
    return _Marker(event.line, time_of(event), any(name in fields for name in _RESULTS), is_failed)


def _spans_of(markers: Sequence[_Marker]) -> Iterator[_Span]:
    """Yield the spans between a test's start, or the result before it, and its result."""
    before: _Marker | None = None
    for marker in markers:
        start_ms = max(marker.time_ms - PAUSE_MS, before.time_ms if before else -inf)
        if marker.is_result and not marker.is_failed:
            yield _Span(before.line if before else 0, marker.line, start_ms, marker.time_ms)
        before = marker
    if before is not None and not before.is_result:
        yield _Span(before.line, inf, before.time_ms, before.time_ms + PAUSE_MS)


def without_tests(timeline: LogTimeline, incidents: Iterable[Incident], tests: TestRuns) -> Iterator[Incident]:
    """Yield incidents; all of those whose evidence is only in tests that did not fail become one, which is benign."""
    of_tests = []
    for one in incidents:
        if tests and (events := timeline.evidence(one)) and all(map(tests.cover, events)):
            of_tests.append(one)
        else:
            yield one
    if of_tests:
        yield _joined(of_tests)


def _joined(ones: list[Incident]) -> Incident:
    kinds = ", ".join(sorted({one.kind for one in ones}))
    files = sorted({place.file for one in ones for place in one.evidence})
    return ones[0]._replace(
        kind=_KIND,
        root_cause=_CAUSE,
        severity=Severity.INFO,
        confidence=0.9,
        subject={"file": ", ".join(files)},
        t_start_ms=min(one.t_start_ms for one in ones),
        t_end_ms=max(one.t_end_ms for one in ones),
        evidence=tuple(dict.fromkeys(place for one in ones for place in one.evidence[:5])),
        explanation="The log is the console of a test run. The errors in it "
        f"({count_text(len(ones), 'fault')}: {kinds}) are those of tests that did not fail, not of a cluster.",
        next_step="Read the results of the tests: a test that failed names its own error.",
    )
