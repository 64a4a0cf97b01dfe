"""Rehearse runbooks with real faults, on separate sandboxes in virtual time."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.errors import ExitCode, UsageError
from eosctl.lab.rehearsals.rehearsal import rehearsal_of, rehearsals
from eosctl.lab.rehearsals.rehearse import rehearse
from eosctl.model.rehearsal import RehearsalItem, RehearsedScenario
from eosctl.runbooks.sound import load_sound_runbook
from eosctl.runbooks.ways import ways_of
from eosctl.services.callbacks import SILENT, Callbacks


class RehearsalRequest(NamedTuple):
    """Runbooks to rehearse.

    Attributes:
        names: Ids or files; all runbooks with scenarios if empty.
        scenario: Only scenarios with this text in their name; None for all.
        interrupted: Whether each run is killed after each line of its journal and then continued.
    """

    names: tuple[str, ...] = ()
    scenario: str | None = None
    interrupted: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all scenarios run, so that branches that none of them took count."""
        return self.scenario is None and not self.interrupted


class Rehearsals(NamedTuple):
    """The result, and the exit code that `eosctl runbook test` ends with."""

    runbooks: tuple[RehearsalItem, ...]
    exit_code: ExitCode


def rehearse_runbooks(request: RehearsalRequest, callbacks: Callbacks = SILENT) -> Rehearsals:
    """Run runbooks against real faults.

    Raises:
        UsageError: No runbook or no scenario has the name.
        ConfigFileError: A file is not a runbook, or has no scenarios.
    """
    chosen = [(load_sound_runbook(name), rehearsal_of(name)) for name in request.names or rehearsals()]
    done = []
    for book, rehearsal in chosen:
        performances = []
        for scenario in rehearsal.scenarios:
            if request.scenario is None or request.scenario.lower() in scenario.name.lower():
                callbacks.progress(f"{book.id}: {scenario.name}")
                performances.append(rehearse(book, scenario, interrupted=request.interrupted))
        if performances:
            taken = frozenset[object]().union(*(one.ways for one in performances))
            ways = ways_of(book)
            untaken = tuple(str(way) for way in ways if way not in taken)
            played = (
                RehearsedScenario(p.scenario, p.outcome, p.step, " ".join(p.failure.split())) for p in performances
            )
            done.append(RehearsalItem(book.id, tuple(played), len(ways), untaken))
    if not done:
        raise UsageError(
            f"No scenario has {request.scenario!r} in its name.", "", "Omit --scenario to run all scenarios."
        )
    is_bad = any(one.failed or (request.is_whole and one.untaken) for one in done)
    return Rehearsals(tuple(done), ExitCode.FINDINGS if is_bad else ExitCode.DONE)
