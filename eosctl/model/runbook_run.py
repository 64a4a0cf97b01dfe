"""A run of a runbook: what it reported, the entries of its journal, and how it ended."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from eosctl.model.runbook import Outcome

EXIT_CODES: Final = {
    Outcome.VERIFIED: 0,
    Outcome.PLANNED: 0,
    Outcome.NO_ACTION: 5,
    Outcome.MANUAL: 6,
    Outcome.BLOCKED: 7,
    Outcome.FAILED: 8,
}
#: The exit code of all commands for missing evidence.
LACKED_RIGHT: Final = 4


class StepReport(NamedTuple):
    """A run's report about a step; `kind` is the step's type, or `end`."""

    step: str
    kind: str
    text: str
    detail: str = ""


class RunResult(NamedTuple):
    """The result of a run; `lacked_right` if any reading was incomplete because the principal lacks a right."""

    runbook: str
    run: str
    cluster_id: str
    outcome: Outcome
    step: str
    message: str
    acted: bool
    resumable: bool
    journal: str
    reports: tuple[StepReport, ...]
    lacked_right: bool = False

    @property
    def exit_code(self) -> int:
        """Return the exit code of `eosctl runbook run`; only a failure is worse than a missing right."""
        is_incomplete = self.lacked_right and self.outcome is not Outcome.FAILED
        return LACKED_RIGHT if is_incomplete else EXIT_CODES[self.outcome]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One event: `data` depends on it. `hash` covers all other fields, `previous` among them."""

    sequence: int
    time_ms: int
    event: str
    step: str
    data: dict[str, Any]
    previous: str
    hash: str = ""
