"""Walk through a runbook: look, decide, ask, act, verify; every step is in the journal before and after.

A run without a journal is a dry run: it reads, shows the first change that it would make, and stops there, because
what comes after depends on it. Just before a change the deciding probe is asked again and the change planned again; if
either says something else than before, nothing is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Final, NamedTuple, TypeVar

from eosctl.actions.protocol import carry_out
from eosctl.errors import (
    AuthenticationFailed,
    AuthorizationDenied,
    ConfigFileError,
    EosctlError,
    EvidenceIncomplete,
    PlanRefused,
    UsageError,
)
from eosctl.model.runbook import (
    Action,
    Asking,
    Assert,
    Confirm,
    Evidence,
    Manual,
    Notify,
    Outcome,
    Probe,
    Runbook,
    Step,
    Value,
    Wait,
    duration_ms,
)
from eosctl.model.runbook_run import StepReport
from eosctl.runbooks.action_port import ActionPort, changed
from eosctl.runbooks.changes import find_change
from eosctl.runbooks.expression import evaluate, fill
from eosctl.runbooks.journal import Journal
from eosctl.runbooks.position import Position
from eosctl.runbooks.probe_kind import COMPLETE
from eosctl.runbooks.probes import find_probe
from eosctl.runbooks.readings import Facts
from eosctl.runbooks.scene import Scene

POLL_MS: Final = 500
LOOKS: Final = 30  # not many more in the longest wait
AFTER: Final = "after"
MAX_STEPS: Final = 1_000
# More attempts will not help against these.
_FINAL: Final = (UsageError, ConfigFileError, AuthenticationFailed, AuthorizationDenied)

T = TypeVar("T")


class Ending(NamedTuple):
    """How a run ended: ``step`` is where, ``next`` where it can be resumed (empty when it cannot)."""

    outcome: Outcome
    message: str
    step: str
    next: str = ""
    acted: bool = False


class _Decision(NamedTuple):
    step: Asking
    target: str


class Run:
    """One walk through one runbook."""

    def __init__(
        self, book: Runbook, scene: Scene, position: Position, cluster_id: str, journal: Journal | None = None
    ) -> None:
        self.book = book
        self.scene = scene
        self._position = position
        self.cluster_id = cluster_id
        self._journal = journal
        self._decision: _Decision | None = None
        self._asserted: list[Assert] = []
        self._planned: dict[str, object] = {}
        self._unread = ""  # the first gap of the last reading
        self.lacked_right = False

    @property
    def is_dry(self) -> bool:
        """Whether the run only plans."""
        return self._journal is None

    async def walk(self) -> Ending:
        """Walk until the run ends, and return how it ended.

        Raises:
            EosctlError: The journal cannot be written. What the cluster refuses is an ending, not an error.
        """
        at = self._position.at
        if self._position.begun:
            action = self.book.step(self._position.begun)
            at = await self._settle(action) or at
            if at in set(Outcome):
                return self._end(action, at)
        for _ in range(MAX_STEPS):
            step = self.book.step(at)
            self.write("begun", step.id, type=type(step).__name__.lower())
            try:
                found = await self._take(step)
            except PlanRefused as error:
                found = self._refused(step, error)
            except TimeoutError:
                found = self._stopped(step, f"Step {step.id} took longer than it may; what it began may have happened.")
            except EosctlError as error:
                self.lacked_right = self.lacked_right or isinstance(error, AuthorizationDenied | EvidenceIncomplete)
                found = self._stopped(step, str(error))
            if isinstance(found, str) and found not in set(Outcome):
                self.write("done", step.id, next=found)
                at = found
                continue
            return self._end(step, found)
        return self._stopped(self.book.step(at), f"The run took {MAX_STEPS} steps: it goes in circles.")

    async def _settle(self, action: Step) -> str:
        """Return the step after an interrupted change if the cluster shows that it is done, else an empty string."""
        assert isinstance(action, Action)
        following, verify = self.book.after(action), action.verify
        if following not in set(Outcome) and isinstance(self.book.step(following), Assert | Confirm | Action):
            return ""  # they stand on what the last probe said
        try:
            facts = await self._facts(verify.run, verify.arguments)
        except _FINAL:
            raise
        except EosctlError:
            return ""
        if not facts[COMPLETE] or not evaluate(verify.until, self._position.known | {AFTER: facts}):
            return ""
        self.write("verified", action.id, facts=dict(facts))
        return following

    def _end(self, step: Step, found: str | Ending) -> Ending:
        ending = found if isinstance(found, Ending) else self._arrived(step, Outcome(found))
        self.write("ended", step.id, outcome=ending.outcome.value, message=ending.message, next=ending.next)
        self.scene.show(StepReport(step.id, "end", ending.outcome.value, ending.message))
        return ending

    async def _take(self, step: Step) -> str | Ending:
        following = self.book.after(step)
        match step:
            case Probe():
                await self._ask(step)
                return self._decide(step)
            case Wait():
                return await self._wait(step)
            case Assert():
                self.show(step)
                self._asserted.append(step)
                if evaluate(step.that, self._position.known):
                    return following
                why = self._text(step.why)
                self.scene.show(StepReport(step.id, "assert", "does not hold", why))
                return self._stopped(step, why) if step.otherwise == Outcome.BLOCKED else step.otherwise
            case Evidence():
                return await self._keep(step)
            case Confirm():
                return await self._confirm(step)
            case Action():
                return await self._act(step)
            case Manual():
                self.show(step)
                return Ending(Outcome.MANUAL, self._text(step.say), step.id, step.next, self._position.acted)
            case Notify():
                self.show(step)
                outcome = Outcome.FAILED if self._position.acted else Outcome.MANUAL
                return Ending(outcome, self._text(step.say), step.id, "", self._position.acted)

    async def _ask(self, step: Probe) -> None:
        facts = await self._within(step.timeout, self._facts(step.run, step.arguments))
        self._position.known[step.id] = facts
        self.write("facts", step.id, facts=dict(facts))
        self.show(step, "" if facts[COMPLETE] else f"Some evidence is missing, so there may be more.{self._unread}")

    def _decide(self, step: Probe) -> str:
        target = self._target(step, self._position.known)
        self._decision, self._asserted = _Decision(step, target), []
        return target

    def _target(self, step: Asking, known: Mapping[str, Mapping[str, Value]]) -> str:
        if isinstance(step, Probe):
            for branch in step.branch:
                if evaluate(branch.when, known):
                    return branch.goto
        elif not evaluate(step.until, known):
            return step.otherwise
        return self.book.after(step)

    async def _wait(self, step: Wait) -> str | Ending:
        self.show(step)
        if self._journal is None:
            facts = await self._facts(step.run, step.arguments)
            known = self._position.known | {step.id: facts}
            if not evaluate(step.until, known):
                return Ending(Outcome.PLANNED, f"It would wait up to {step.within} here.{self._unread}", step.id)
            if not facts[COMPLETE]:
                return self._stopped(step, f"Some evidence is missing, so the wait cannot end.{self._unread}")
            self._position.known = known
            return self.book.after(step)
        holds, facts = await self._until(step.id, step.run, step.arguments, step.until, step.within)
        if facts:
            self._position.known[step.id] = facts
            self.write("facts", step.id, facts=dict(facts))
        target = self.book.after(step) if holds else step.otherwise
        self._decision, self._asserted = _Decision(step, target), []
        if target == Outcome.BLOCKED:
            return self._stopped(step, f"Not within {step.within}: {step.until}.{self._unread}")
        return target

    async def _keep(self, step: Evidence) -> str:
        from eosctl.collect.collector import EVERYTHING

        self.show(step)
        if self._journal is not None:
            snapshot = await self._within(step.timeout, self.scene.collect(EVERYTHING))
            kept = self.scene.keep(snapshot, step.id)
            self.write("evidence", step.id, **kept)
        return self.book.after(step)

    async def _confirm(self, step: Confirm) -> str | Ending:
        following = self.book.after(step)
        action = self.book.step(following) if following not in set(Outcome) else None
        expected = str(fill(step.expect, self._position.known))
        question = self._text(step.say)
        if isinstance(action, Action):
            self._planned[action.id] = planned = await self.prepare(action)
            question = f"{question}\n{find_change(action.run).summary(planned)}"
        if self._journal is None:
            self.scene.show(StepReport(step.id, "confirm", question, f"type: {expected}"))
            return following
        try:
            is_confirmed = await self.scene.confirm(question, expected)
        except KeyboardInterrupt:
            self._decline(step, question)
            raise
        if not is_confirmed:
            self._decline(step, question)
            return self._stopped(step, f"It was not confirmed with {expected!r}.")
        self.write("confirmed", step.id, expected=expected)
        return following

    def _decline(self, step: Confirm, question: str) -> None:
        details: dict[str, Value] = {"runbook": self.book.id, "step": step.id, "summary": question}
        self.scene.audit(f"runbook {self.book.id} declined", self.cluster_id, details)

    async def prepare(self, step: Action) -> object:
        """Plan the change of a step, within the step's time."""
        planned = find_change(step.run).plan(self.scene, self._filled(step.arguments, self._position.known))
        return await self._within(step.timeout, planned)

    async def _act(self, step: Action) -> str | Ending:
        change = find_change(step.run)
        port = ActionPort(self, step, self._planned.pop(step.id, None))
        timeout_s = duration_ms(step.timeout) / 1000
        attempt = await carry_out(change.action, self.scene.client, port, timeout_s=timeout_s)
        if attempt.outcome is None:
            summary = change.summary(attempt.plan)
            return Ending(Outcome.PLANNED, f"It would {summary.rstrip('.')}. Carry it out with --yes.", step.id)
        if not attempt.verified:
            verify = step.verify
            return self._stopped(step, f"{attempt.outcome.detail} But not within {verify.within}: {verify.until}.")
        return self.book.after(step)

    async def verify(self, step: Action) -> tuple[bool, Facts]:
        """Ask the probe that verifies a step until the change shows or the time is up."""
        verify = step.verify
        return await self._until(AFTER, verify.run, verify.arguments, verify.until, verify.within)

    def note_acted(self) -> None:
        """Keep in mind that the cluster may have changed from here on."""
        self._position.acted = True

    async def check_again(self, step: Action) -> None:
        """Run the deciding probe again; another result means that the cluster has changed in the meantime."""
        if self._decision is None:
            return
        asked, target = self._decision
        facts = await self._facts(asked.run, asked.arguments)
        known = self._position.known | {asked.id: facts}
        same = self._target(asked, known) == target and all(evaluate(a.that, known) for a in self._asserted)
        arguments = self._filled(step.arguments, self._position.known)
        if not same or self._filled(step.arguments, known) != arguments:
            raise changed(step)

    async def _until(
        self, name: str, probe: str, arguments: Mapping[str, Value], until: str, within: str
    ) -> tuple[bool, Facts]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + duration_ms(within) / 1000
        pause_ms, longest_ms = POLL_MS, max(POLL_MS, duration_ms(within) // LOOKS)
        facts: Facts = {}
        while True:
            try:
                facts = await self._facts(probe, arguments)
                if evaluate(until, self._position.known | {name: facts}) and facts[COMPLETE]:
                    return True, facts
            except _FINAL:
                raise
            except EosctlError:
                # A broker that restarts does not answer; the deadline decides.
                pass
            if loop.time() >= deadline:
                return False, facts
            await self.scene.sleep(pause_ms)
            pause_ms = min(pause_ms * 2, longest_ms)

    async def _facts(self, probe: str, arguments: Mapping[str, Value]) -> Facts:
        kind = find_probe(probe)
        snapshot = await self.scene.collect(kind.kinds)
        if snapshot.cluster_id != self.cluster_id:
            raise PlanRefused(
                f"The cluster is {snapshot.cluster_id} now and was {self.cluster_id}: nothing more is done.",
                "The address leads to another cluster.",
                "Check --bootstrap-server.",
            )
        missing = kind.missing(snapshot)
        self.lacked_right = self.lacked_right or any(gap.is_denied for gap in missing)
        self._unread = f" Missing: {missing[0].kind.value}. {missing[0].next_step}" if missing else ""
        return kind.facts_of(snapshot, self._filled(arguments, self._position.known))

    def _arrived(self, step: Step, outcome: Outcome) -> Ending:
        last = self._decision.step.id if self._decision else ""
        if outcome is not Outcome.BLOCKED and not self._position.known.get(last, {}).get(COMPLETE, True):
            missing = f"Some evidence is missing, so nothing is called healthy.{self._unread}"
            return self._stopped(step, f"{missing} See all of it: eosctl doctor")
        if outcome is Outcome.BLOCKED:
            return self._stopped(step, self._text(step.say))
        if outcome is Outcome.NO_ACTION and self._position.acted:
            outcome = Outcome.VERIFIED
        return Ending(outcome, self._text(step.say), step.id, "", self._position.acted)

    def _refused(self, step: Step, error: PlanRefused) -> Ending:
        if isinstance(step, Action) and not self.is_dry:
            details: dict[str, Value] = {
                "runbook": self.book.id,
                "step": step.id,
                "error": error.what,
                "why": error.why,
            }
            self.scene.audit(f"runbook {step.run} refused", self.cluster_id, details)
        return self._stopped(step, str(error))

    def _stopped(self, step: Step, message: str) -> Ending:
        outcome = Outcome.FAILED if self._position.acted else Outcome.BLOCKED
        return Ending(outcome, message, step.id, "", self._position.acted)

    async def _within(self, timeout: str, work: Awaitable[T]) -> T:
        async with asyncio.timeout(duration_ms(timeout) / 1000):
            return await work

    def _filled(self, arguments: Mapping[str, Value], known: Mapping[str, Mapping[str, Value]]) -> dict[str, Value]:
        return {name: fill(value, known) for name, value in arguments.items()}

    def _text(self, template: str) -> str:
        return str(fill(template, self._position.known))

    def show(self, step: Step, detail: str = "") -> None:
        """Show what a step is about to do."""
        self.scene.show(StepReport(step.id, type(step).__name__.lower(), self._text(step.say), detail))

    def write(self, event: str, step: str, **data: object) -> None:
        """Append an event to the journal; a dry run has none."""
        if self._journal is not None:
            self._journal.write(event, step, **data)
