"""A scenario as programs read it, and the verdict on one that was played."""

from __future__ import annotations

from typing import Any

import msgspec


class ScenarioItem(msgspec.Struct, frozen=True):
    """A scenario that can be played; ``inner`` says why real Kafka cannot play it, empty when it can."""

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
    """Something that had to be so, and what was seen."""

    what: str
    expected: str
    seen: str
    holds: bool


class VerdictItem(msgspec.Struct, frozen=True):
    """A scenario that was played; ``holds`` says whether everything was as expected."""

    scenario: str
    place: str
    holds: bool
    steps: tuple[str, ...]
    expectations: tuple[ExpectationItem, ...]
