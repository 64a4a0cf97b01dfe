"""The result of rehearsing a runbook."""

from __future__ import annotations

import msgspec


class RehearsedScenario(msgspec.Struct, frozen=True):
    """One rehearsal; `failure` is empty if it ended as expected."""

    name: str
    outcome: str
    step: str
    failure: str


class RehearsalItem(msgspec.Struct, frozen=True):
    """A runbook: its rehearsals, and the outcomes of its steps that none of them covers."""

    runbook: str
    scenarios: tuple[RehearsedScenario, ...] = msgspec.field(name="stories")
    way_count: int
    untaken: tuple[str, ...]

    @property
    def failed(self) -> tuple[RehearsedScenario, ...]:
        """Return the failed rehearsals."""
        return tuple(one for one in self.scenarios if one.failure)
