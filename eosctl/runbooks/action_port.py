"""The action of a runbook as one attempt to change a cluster: its journal, its audit lines, and its verification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from eosctl.actions.protocol import Attempt, State
from eosctl.errors import PlanRefused
from eosctl.model.runbook import Action, Runbook, Value
from eosctl.model.runbook_run import StepReport
from eosctl.runbooks.changes import Outcome, find_change
from eosctl.runbooks.readings import Facts
from eosctl.runbooks.scene import Scene


class Walk(Protocol):
    """What an action needs of the run that it is a step of."""

    @property
    def book(self) -> Runbook:
        """The runbook."""

    @property
    def scene(self) -> Scene:
        """The world around the run."""

    @property
    def cluster_id(self) -> str:
        """The cluster of the run."""

    @property
    def is_dry(self) -> bool:
        """Whether the run only plans."""

    async def prepare(self, step: Action) -> object:
        """Read the cluster and plan the step's change."""

    async def check_again(self, step: Action) -> None:
        """Ask the deciding probe again; raises PlanRefused on another answer."""

    async def verify(self, step: Action) -> tuple[bool, Facts]:
        """Return whether the step's verification holds in time, and the last facts."""

    def note_acted(self) -> None:
        """Keep in mind that the cluster may have changed from here on."""

    def write(self, event: str, step: str, **data: object) -> None:
        """Append an event to the journal."""

    def show(self, step: Action, detail: str = "") -> None:
        """Show what a step is about to do."""


class ActionPort:
    """The port of one action: confirmed by the steps before it, recorded in the journal and in the audit file.

    The journal keeps each step of the attempt, and a line there comes before what it announces. ``planned`` is the plan
    that was shown with the previous step's question; None without one.
    """

    def __init__(self, walk: Walk, step: Action, planned: object = None) -> None:
        self.target = f"step {step.id}"
        self.inspect = f"eosctl runbook run {walk.book.id}"
        self._walk = walk
        self._step = step
        self._planned = planned
        self._change = find_change(step.run)
        self._is_outcome_known = False
        self._facts: Facts = {}

    async def plan(self) -> object:
        """Return the plan that was shown, or plan."""
        return await self._walk.prepare(self._step) if self._planned is None else self._planned

    async def confirm(self, plan: object) -> bool:
        """Return whether the run may act: it was ordered as a whole, and its questions were answered before."""
        return not self._walk.is_dry

    async def plan_again(self) -> object:
        """Ask the deciding probe again, and plan again; raises PlanRefused where the probe decides otherwise."""
        await self._walk.check_again(self._step)
        return await self._walk.prepare(self._step)

    def changed(self) -> PlanRefused:
        """Return the refusal for a second plan that differs."""
        return changed(self._step)

    async def is_effective(self, plan: object, outcome: Outcome) -> bool:
        """Return whether the step's verification holds in time."""
        self._walk.write("acted", self._step.id, verified=outcome.verified, detail=outcome.detail)
        self._is_outcome_known = True
        holds, self._facts = await self._walk.verify(self._step)
        return holds

    def record(self, attempt: Attempt[object, Outcome]) -> None:
        """Write to the journal and the audit file; raises EosctlError where one cannot be written."""
        step, summary = self._step, self._change.summary(attempt.plan)
        match attempt.state:
            case State.PLANNED:
                self._walk.write("planned", step.id, change=step.run, summary=summary)
                self._walk.show(step, summary)
            case State.DECLINED:  # A dry run; its journal has the plan.
                pass
            case State.BEGUN:
                self._audit("begun", summary)
                self._walk.write("acting", step.id, change=step.run, summary=summary)
                self._walk.note_acted()
            case State.VERIFIED if attempt.outcome is not None:
                self._verified(attempt.outcome, attempt.verified, summary)
            case _:
                if not self._is_outcome_known:
                    error = str(attempt.error) or type(attempt.error).__name__
                    self._walk.write("not acted", step.id, error=error)
                self._audit("broke off", summary)

    def _verified(self, outcome: Outcome, holds: bool, summary: str) -> None:
        text = "verified" if holds else "not verified"
        self._walk.write(text, self._step.id, facts=dict(self._facts))
        identity = {} if self._change.identify is None else self._change.identify(outcome)
        self._audit("done", summary, {"verified": holds, "detail": outcome.detail, **identity})
        self._walk.scene.show(StepReport(self._step.id, "verify", text, outcome.detail))

    def _audit(self, event: str, summary: str, more: Mapping[str, Value] | None = None) -> None:
        details: dict[str, Value] = {"runbook": self._walk.book.id, "step": self._step.id, "summary": summary}
        action = f"runbook {self._step.run} {event}"
        self._walk.scene.audit(action, self._walk.cluster_id, details | dict(more or {}))


def changed(step: Action) -> PlanRefused:
    """Return the refusal of a step whose cluster is no longer the one that the run decided on."""
    return PlanRefused(
        f"The cluster changed before step {step.id}: it was not carried out.",
        "The deciding probe, asked again, says something else than before.",
        "Run the runbook again.",
    )
