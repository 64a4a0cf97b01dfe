"""Walk through a runbook: look, decide, ask, act, verify; every step is in the journal before and after.

A run without a journal is a dry run: it reads, shows the first change that it would make, and stops there, because
what comes after depends on it. Just before a change the deciding probe is asked again and the change planned again; if
either says something else than before, nothing is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Final, NamedTuple, Protocol, TypeVar

from eosctl.errors import (
    AuthenticationFailed,
    AuthorizationDenied,
    ConfigFileError,
    EosctlError,
    PlanRefused,
    UsageError,
)
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.runbooks.book import (
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
from eosctl.runbooks.changes import Done, Prepared, Sees, find_change
from eosctl.runbooks.expression import evaluate, fill
from eosctl.runbooks.journal import Journal
from eosctl.runbooks.position import Position
from eosctl.runbooks.probe_kind import COMPLETE
from eosctl.runbooks.probes import find_probe
from eosctl.runbooks.readings import Facts

POLL_MS: Final = 500
LOOKS: Final = 30  # not many more in the longest wait
AFTER: Final = "after"
MAX_STEPS: Final = 1_000
# More attempts will not help against these.
_FINAL: Final = (UsageError, ConfigFileError, AuthenticationFailed, AuthorizationDenied)

T = TypeVar("T")


class Told(NamedTuple):
    """What a run says about one step as it goes; ``kind`` is the step's type, or ``end``."""

    step: str
    kind: str
    text: str
    detail: str = ""


class Scene(Sees, Protocol):
    """What a run needs of the world around it."""

    async def sleep(self, ms: int) -> None:
        """Wait."""

    async def confirm(self, question: str, expected: str) -> bool:
        """Ask a person to type what is expected."""

    def tell(self, told: Told) -> None:
        """Show what happens."""

    def keep(self, snapshot: ClusterSnapshot, step: str) -> dict[str, str]:
        """Keep evidence and return where, with its hash."""

    def audit(self, action: str, cluster_id: str, details: Mapping[str, Value]) -> None:
        """Write a line of the audit file."""


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
        self._book = book
        self._scene = scene
        self._position = position
        self._cluster_id = cluster_id
        self._journal = journal
        self._decision: _Decision | None = None
        self._asserted: list[Assert] = []
        self._planned: dict[str, Prepared] = {}

    async def walk(self) -> Ending:
        """Go on until the run ends, and say how.

        Raises:
            EosctlError: The journal cannot be written. What the cluster refuses is an ending, not an error.
        """
        at = self._position.at
        if self._position.begun:
            action = self._book.step(self._position.begun)
            at = await self._settle(action) or at
            if at in set(Outcome):
                return self._end(action, at)
        for _ in range(MAX_STEPS):
            step = self._book.step(at)
            self._write("begun", step.id, type=type(step).__name__.lower())
            try:
                found = await self._take(step)
            except PlanRefused as error:
                found = self._stopped(step, str(error))
            except TimeoutError:
                found = self._stopped(step, f"Step {step.id} took longer than it may; what it began may have happened.")
            except EosctlError as error:
                found = self._stopped(step, str(error))
            if isinstance(found, str) and found not in set(Outcome):
                self._write("done", step.id, next=found)
                at = found
                continue
            return self._end(step, found)
        return self._stopped(self._book.step(at), f"The run took {MAX_STEPS} steps: it goes in circles.")

    async def _settle(self, action: Step) -> str:
        """Return where a run goes on that was cut off at a change: behind it when it is seen done, else empty."""
        assert isinstance(action, Action)
        following, verify = self._book.after(action), action.verify
        if following not in set(Outcome) and isinstance(self._book.step(following), Assert | Confirm | Action):
            return ""  # they stand on what the last probe said
        try:
            facts = await self._facts(verify.run, verify.arguments)
        except _FINAL:
            raise
        except EosctlError:
            return ""
        if not facts[COMPLETE] or not evaluate(verify.until, self._position.known | {AFTER: facts}):
            return ""
        self._write("verified", action.id, facts=dict(facts))
        return following

    def _end(self, step: Step, found: str | Ending) -> Ending:
        ending = found if isinstance(found, Ending) else self._arrived(step, Outcome(found))
        self._write("ended", step.id, outcome=ending.outcome.value, message=ending.message, next=ending.next)
        self._scene.tell(Told(step.id, "end", ending.outcome.value, ending.message))
        return ending

    async def _take(self, step: Step) -> str | Ending:
        following = self._book.after(step)
        match step:
            case Probe():
                await self._ask(step)
                return self._decide(step)
            case Wait():
                return await self._wait(step)
            case Assert():
                self._tell(step)
                self._asserted.append(step)
                if evaluate(step.that, self._position.known):
                    return following
                why = self._text(step.why)
                self._scene.tell(Told(step.id, "assert", "does not hold", why))
                return self._stopped(step, why) if step.otherwise == Outcome.BLOCKED else step.otherwise
            case Evidence():
                return await self._keep(step)
            case Confirm():
                return await self._confirm(step)
            case Action():
                return await self._act(step)
            case Manual():
                self._tell(step)
                return Ending(Outcome.MANUAL, self._text(step.say), step.id, step.next, self._position.acted)
            case Notify():
                self._tell(step)
                outcome = Outcome.FAILED if self._position.acted else Outcome.MANUAL
                return Ending(outcome, self._text(step.say), step.id, "", self._position.acted)

    async def _ask(self, step: Probe) -> None:
        facts = await self._within(step.timeout, self._facts(step.run, step.arguments))
        self._position.known[step.id] = facts
        self._write("facts", step.id, facts=dict(facts))
        self._tell(step)

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
        return self._book.after(step)

    async def _wait(self, step: Wait) -> str | Ending:
        self._tell(step)
        if self._journal is None:
            facts = await self._facts(step.run, step.arguments)
            known = self._position.known | {step.id: facts}
            if not evaluate(step.until, known):
                return Ending(Outcome.PLANNED, f"It would wait up to {step.within} here.", step.id)
            self._position.known = known
            return self._book.after(step)
        holds, facts = await self._until(step.id, step.run, step.arguments, step.until, step.within)
        if facts:
            self._position.known[step.id] = facts
            self._write("facts", step.id, facts=dict(facts))
        target = self._book.after(step) if holds else step.otherwise
        self._decision, self._asserted = _Decision(step, target), []
        if target == Outcome.BLOCKED:
            return self._stopped(step, f"Not within {step.within}: {step.until}.")
        return target

    async def _keep(self, step: Evidence) -> str:
        from eosctl.collect.collector import EVERYTHING

        self._tell(step)
        if self._journal is not None:
            snapshot = await self._within(step.timeout, self._scene.look(EVERYTHING))
            kept = self._scene.keep(snapshot, step.id)
            self._write("evidence", step.id, **kept)
        return self._book.after(step)

    async def _confirm(self, step: Confirm) -> str | Ending:
        following = self._book.after(step)
        action = self._book.step(following) if following not in set(Outcome) else None
        expected = str(fill(step.expect, self._position.known))
        question = self._text(step.say)
        if isinstance(action, Action):
            self._planned[action.id] = planned = await self._prepare(action)
            question = f"{question}\n{planned.summary}"
        if self._journal is None:
            self._scene.tell(Told(step.id, "confirm", question, f"type: {expected}"))
            return following
        if not await self._scene.confirm(question, expected):
            return self._stopped(step, f"It was not confirmed with {expected!r}.")
        self._write("confirmed", step.id, expected=expected)
        return following

    async def _prepare(self, step: Action) -> Prepared:
        planned = find_change(step.run).plan(self._scene, self._filled(step.arguments, self._position.known))
        return await self._within(step.timeout, planned)

    async def _act(self, step: Action) -> str | Ending:
        planned = self._planned.pop(step.id, None) or await self._prepare(step)
        self._write("planned", step.id, change=step.run, summary=planned.summary)
        self._tell(step, planned.summary)
        if self._journal is None:
            return Ending(Outcome.PLANNED, f"It would {planned.summary}. Carry it out with --yes.", step.id)
        await self._check_again(step)
        again = await self._prepare(step)
        if again.identity != planned.identity:
            raise _changed(step)
        details: dict[str, Value] = {"runbook": self._book.id, "step": step.id, "summary": again.summary}
        self._scene.audit(f"runbook {step.run} begun", self._cluster_id, details)
        self._write("acting", step.id, change=step.run, summary=again.summary)
        self._position.acted = True
        try:
            done: Done = await self._within(step.timeout, again.apply())
        except BaseException as error:
            # Also a person's interrupt: the request may have arrived, and the record must say so.
            self._write("not acted", step.id, error=str(error) or type(error).__name__)
            self._scene.audit(f"runbook {step.run} broke off", self._cluster_id, details)
            raise
        self._write("acted", step.id, verified=done.verified, detail=done.detail)
        verify = step.verify
        holds, facts = await self._until(AFTER, verify.run, verify.arguments, verify.until, verify.within)
        self._write("verified" if holds else "not verified", step.id, facts=dict(facts))
        outcome: dict[str, Value] = {"verified": holds, "detail": done.detail}
        self._scene.audit(f"runbook {step.run} done", self._cluster_id, details | outcome)
        self._scene.tell(Told(step.id, "verify", "verified" if holds else "not verified", done.detail))
        if not holds:
            return self._stopped(step, f"{done.detail} But not within {verify.within}: {verify.until}.")
        return self._book.after(step)

    async def _check_again(self, step: Action) -> None:
        """Ask the deciding probe again; another answer means that somebody changed the cluster meanwhile."""
        if self._decision is None:
            return
        asked, target = self._decision
        facts = await self._facts(asked.run, asked.arguments)
        known = self._position.known | {asked.id: facts}
        same = self._target(asked, known) == target and all(evaluate(a.that, known) for a in self._asserted)
        arguments = self._filled(step.arguments, self._position.known)
        if not same or self._filled(step.arguments, known) != arguments:
            raise _changed(step)

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
            await self._scene.sleep(pause_ms)
            pause_ms = min(pause_ms * 2, longest_ms)

    async def _facts(self, probe: str, arguments: Mapping[str, Value]) -> Facts:
        kind = find_probe(probe)
        snapshot = await self._scene.look(kind.kinds)
        if snapshot.cluster_id != self._cluster_id:
            raise PlanRefused(
                f"The cluster is {snapshot.cluster_id} now and was {self._cluster_id}: nothing more is done.",
                "The address leads to another cluster.",
                "Check --bootstrap-server.",
            )
        return kind.facts_of(snapshot, self._filled(arguments, self._position.known))

    def _arrived(self, step: Step, outcome: Outcome) -> Ending:
        last = self._decision.step.id if self._decision else ""
        if outcome is not Outcome.BLOCKED and not self._position.known.get(last, {}).get(COMPLETE, True):
            return self._stopped(step, "Some evidence is missing, so nothing is called healthy: see eosctl doctor.")
        if outcome is Outcome.BLOCKED:
            return self._stopped(step, self._text(step.say))
        if outcome is Outcome.NO_ACTION and self._position.acted:
            outcome = Outcome.VERIFIED
        return Ending(outcome, self._text(step.say), step.id, "", self._position.acted)

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

    def _tell(self, step: Step, detail: str = "") -> None:
        self._scene.tell(Told(step.id, type(step).__name__.lower(), self._text(step.say), detail))

    def _write(self, event: str, step: str, **data: object) -> None:
        if self._journal is not None:
            self._journal.write(event, step, **data)


def _changed(step: Action) -> PlanRefused:
    return PlanRefused(
        f"The cluster changed before step {step.id}: it was not carried out.",
        "The deciding probe, asked again, says something else than before.",
        "Run the runbook again.",
    )
