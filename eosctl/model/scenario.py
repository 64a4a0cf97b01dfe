"""Scenarios and verdicts in the form of JSON output."""

from __future__ import annotations

from typing import Any

import msgspec


class ScenarioItem(msgspec.Struct, frozen=True):
    """A scenario; `inner` is why it cannot run on real Kafka, empty if it can."""

    name: str
    title: str
    happens: str
    matters: str
    sees: str
    expected_findings: tuple[str, ...]
    unexpected_findings: tuple[str, ...]
    inner: str
    cluster: dict[str, Any]
    steps: tuple[str, ...]


class ExpectationItem(msgspec.Struct, frozen=True):
    """An expectation, and the observed value."""

    what: str
    expected: str
    seen: str
    holds: bool


class VerdictItem(msgspec.Struct, frozen=True):
    """The result of a scenario; `holds` is whether all expectations were met."""

    scenario: str
    place: str
    holds: bool
    steps: tuple[str, ...]
    expectations: tuple[ExpectationItem, ...]
