"""Recognize the consoles of test runs, in which tests provoke errors on purpose.

A test that passes has expected its errors, and one that fails reports so itself: neither is a fault of a cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from typing import Final

from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.severity import Severity
from eosctl.text import count_text

_RUNNER: Final = re.compile(
    r"^Gradle Test Run \S|^Gradle Test Executor \d+ >|^> Task :[\w:-]*[tT]est\b"
    r"|^(?:\[INFO\] |\[ERROR\] )?Running (?:[a-z]\w*\.)+[A-Z]\w*(?:Tests?|IT)\b"
    r"|\bTests run: \d+, Failures: \d+, Errors: \d|^=== RUN +Test\w|^--- (?:PASS|FAIL|SKIP): Test\w"
    r"|^=+ test session starts =+|^\S+\.py::\w+ (?:PASSED|FAILED|SKIPPED)"
    r"|^running \d+ tests?$|^test \S+ \.\.\. (?:ok|FAILED|ignored)$",
    re.MULTILINE,
)
"""Lines of Gradle, Maven Surefire, Go, pytest, and cargo about the tests that they run."""
_KIND: Final = "test_run"
_CAUSE: Final = "errors-of-tests"


def files_of_test_runs(events: Iterable[LogEvent], sources: Iterable[SourceSummary]) -> frozenset[str]:
    """Return the files that are the console of a test run, by their beginning or a record."""
    by_record = {one.file for one in events if one.category == "TEST_RUN"}
    return frozenset(by_record | {one.file for one in sources if _RUNNER.search(one.beginning)})


def without_tests(incidents: Iterable[Incident], files: Set[str]) -> Iterator[Incident]:
    """Yield incidents; all of those whose evidence is only in consoles of test runs become one, which is benign."""
    of_tests = []
    for one in incidents:
        if files and one.evidence and all(place.file in files for place in one.evidence):
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
        f"({count_text(len(ones), 'fault')}: {kinds}) are those of its tests, not of a cluster.",
        next_step="Read the results of the tests: a test that failed names its own error.",
    )
