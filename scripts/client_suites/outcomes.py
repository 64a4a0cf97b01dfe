"""The results of tests, as the runners of each language report them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET


class Outcome(StrEnum):
    """The result of a test; `NOT_RUN` means that its runner ended without one."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_RUN = "not_run"


Outcomes = Mapping[str, Outcome]

_GO_RESULT: Final = re.compile(r"^--- (?P<state>PASS|FAIL|SKIP): (?P<test>\S+) \(", re.MULTILINE)
_GO_BEGIN: Final = re.compile(r"^=== RUN +(\w+)$", re.MULTILINE)
_GO_STATES: Final = {"PASS": Outcome.PASSED, "FAIL": Outcome.FAILED, "SKIP": Outcome.SKIPPED}
_CARGO_RESULT: Final = re.compile(r"^test (?P<test>\S+)(?: - .*?)? \.\.\. (?P<state>ok|FAILED|ignored)", re.MULTILINE)
_CARGO_STATES: Final = {"ok": Outcome.PASSED, "FAILED": Outcome.FAILED, "ignored": Outcome.SKIPPED}
_LIBRDKAFKA_STATES: Final = {"PASSED": Outcome.PASSED, "FAILED": Outcome.FAILED, "SKIPPED": Outcome.SKIPPED}


def read_go(output: str) -> Outcomes:
    """Return the results of `go test -v`, of whole tests only.

    >>> read_go("--- PASS: TestA (0.1s)\\n    --- FAIL: TestA/part (0.1s)\\n--- SKIP: TestB (0.0s)")
    {'TestA': <Outcome.PASSED: 'passed'>, 'TestB': <Outcome.SKIPPED: 'skipped'>}
    """
    return {found["test"]: _GO_STATES[found["state"]] for found in _GO_RESULT.finditer(output)}


def unfinished_go(output: str) -> str | None:
    """Return the last test of `go test -v` that began and has no result, if there is one.

    >>> unfinished_go("=== RUN   TestA\\n--- PASS: TestA (0.1s)\\n=== RUN   TestB\\n=== RUN   TestB/part\\npanic: b")
    'TestB'
    """
    done = read_go(output)
    begun = [name for name in _GO_BEGIN.findall(output) if name not in done]
    return begun[-1] if begun else None


def read_cargo(output: str) -> Outcomes:
    """Return the results of a test program of Cargo.

    >>> read_cargo("test test_a ... ok\\ntest test_b - should panic ... FAILED\\ntest result: FAILED. 1 passed")
    {'test_a': <Outcome.PASSED: 'passed'>, 'test_b': <Outcome.FAILED: 'failed'>}
    """
    return {found["test"]: _CARGO_STATES[found["state"]] for found in _CARGO_RESULT.finditer(output)}


def read_junit(path: Path) -> Outcomes:
    """Return the results of a JUnit report; a test that passed and failed in its teardown has failed."""
    if not path.exists():
        return {}
    found: dict[str, Outcome] = {}
    for case in ET.parse(path).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            found[name] = Outcome.FAILED
        elif found.get(name) is not Outcome.FAILED:
            found[name] = Outcome.SKIPPED if case.find("skipped") is not None else Outcome.PASSED
    return found


def read_librdkafka(path: Path) -> Outcomes:
    """Return the results of librdkafka's report (`TEST_REPORT`), by the number and name of each test."""
    if not path.exists():
        return {}
    tests = json.loads(path.read_text("utf-8", errors="replace"))["tests"]
    return {
        name: _LIBRDKAFKA_STATES.get(result["state"], Outcome.NOT_RUN)
        for name, result in tests.items()
        if name[:4].isdigit()
    }


def completed(expected: Iterable[str], outcomes: Outcomes) -> Outcomes:
    """Return the results with the expected tests that have none."""
    return {**dict.fromkeys(expected, Outcome.NOT_RUN), **outcomes}


def chosen(outcomes: Outcomes, tests: Collection[str]) -> Outcomes:
    """Return the results of these tests only."""
    return {name: outcome for name, outcome in outcomes.items() if name in tests}


def names_with(outcomes: Outcomes, *wanted: Outcome) -> tuple[str, ...]:
    """Return the sorted names of the tests with one of these results."""
    return tuple(sorted(name for name, outcome in outcomes.items() if outcome in wanted))
