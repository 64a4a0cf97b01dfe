"""Run a rehearsal: make its fault, run its runbook, act in people's turns, and check the cluster afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from eosctl.checks.declaration import Case
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose
from eosctl.client.client import Client, connect
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.collect.collector import EVERYTHING, Observer, collect_snapshot
from eosctl.errors import EosctlError, UsageError
from eosctl.lab.rehearsals.clusters import HERE, RehearsalCluster, RehearsalClusters, open_clusters
from eosctl.lab.rehearsals.rehearsal import RehearsalScenario, Turn
from eosctl.lab.rehearsals.steps.registry import STEPS, do
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind
from eosctl.model.runbook import Action, Outcome, Runbook, Step, Value, Wait, duration_ms
from eosctl.model.runbook_run import Entry, StepReport
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.runbooks.engine import Ending, Run
from eosctl.runbooks.journal import Journal, read_journal
from eosctl.runbooks.lint import required_inputs
from eosctl.runbooks.position import INPUTS, Position, position_of
from eosctl.runbooks.ways import Way, ways_taken
from eosctl.temporary_folders import temporary_folder

SECOND_LOOK_MS: Final = 100


class Performance(NamedTuple):
    """The result of a rehearsal; `failure` is empty if it matched the expectations."""

    scenario: str
    outcome: str
    step: str
    message: str
    failure: str
    ways: frozenset[Way]
    reports: tuple[StepReport, ...]


_WELL: Final = (Outcome.VERIFIED, Outcome.NO_ACTION)


class _Killed(BaseException):
    """The process of the run was killed."""


class _UnexpectedEnd(EosctlError):  # noqa: N818
    """The run did not match the expectations."""


def rehearse(book: Runbook, scenario: RehearsalScenario, *, interrupted: bool = False) -> Performance:
    """Run a rehearsal on clusters of its own, on virtual time.

    Args:
        book: The runbook.
        scenario: The scenario.
        interrupted: Kill the run at the first write of each journal line in turn, and continue as `--resume` does. The
            run may then end at another step that verifies the effect.

    Raises:
        ConfigFileError: The arguments of a step are invalid.
        UsageError: A step is unknown, or an input is missing.
    """
    for words in (*scenario.given, *(words for turn in scenario.people for words in turn.does), *scenario.afterwards):
        STEPS.bind(words, "in")
    missing = [name for name in required_inputs(book) if name not in scenario.inputs]
    if missing:
        raise UsageError(
            f"The scenario {scenario.name!r} lacks the input {missing[0]}.",
            book.inputs[missing[0]].about,
            "Give it a value under the scenario's `inputs:`.",
        )
    with temporary_folder("eosctl-rehearsal-") as directory:
        return run_virtual(_play(book, scenario, directory, interrupted))


async def _play(book: Runbook, scenario: RehearsalScenario, directory: Path, interrupted: bool) -> Performance:
    async with open_clusters(scenario, directory) as clusters:
        return await rehearse_at(clusters, book, scenario, directory, interrupted=interrupted)


async def rehearse_at(
    clusters: RehearsalClusters,
    book: Runbook,
    scenario: RehearsalScenario,
    directory: Path,
    *,
    interrupted: bool = False,
) -> Performance:
    """Run a rehearsal on existing clusters, by their own clock.

    Args:
        clusters: The clusters in the state that the rehearsal expects.
        book: The runbook.
        scenario: The scenario.
        directory: Directory of journal and evidence.
        interrupted: Kill the run repeatedly.

    Raises:
        ConfigFileError: A step needs a sandbox, or a cluster's name is unknown.
    """
    for step in scenario.given:
        await do(clusters, step)
    scene = _Scene(clusters, clusters.named(HERE), directory, list(scenario.people), in_order=not interrupted)
    run = _Rehearsal(_with_patience(book, scenario), scenario, scene, directory, set() if interrupted else None)
    ending, failure = Ending(Outcome.FAILED, "", ""), ""
    try:
        await run.run_read_only()
        ending = await run.run_to_end()
        _hold_to(scenario, ending, run.survived)
        await _hold_cluster_to(scenario, scene)
    except EosctlError as error:
        failure = str(error)
    ways = ways_taken(run.book, read_journal(run.path)) if run.path.exists() else frozenset()
    return Performance(
        scenario=scenario.name,
        outcome=ending.outcome.value,
        step=ending.step,
        message=ending.message,
        failure=failure,
        ways=ways,
        reports=tuple(scene.reports),
    )


class _Rehearsal:
    """A run that continues after each hand-over, as long as people have turns there."""

    def __init__(
        self,
        book: Runbook,
        scenario: RehearsalScenario,
        scene: _Scene,
        directory: Path,
        survived: set[tuple[str, str]] | None,
    ) -> None:
        self.book = book
        self.survived = survived
        self.path = directory / "run.jsonl"
        self._scene = scene
        defaults = {name: spec.default for name, spec in book.inputs.items() if spec.default is not None}
        self._inputs: dict[str, Value] = {**defaults, **scenario.inputs}

    async def run_read_only(self) -> None:
        """Run dry, with a read-only client, which must be possible in any state."""
        cluster = self._scene.cluster
        async with connect(
            cluster.config, connector=cluster.connector, chance=cluster.chance, allowed_apis=READ_ONLY_APIS
        ) as client:
            scene = _Scene(self._scene.clusters, cluster, self._scene.directory, [], client)
            cluster_id = (await scene.collect(frozenset())).cluster_id
            position = Position(self.book.steps[0].id, {INPUTS: self._inputs})
            ending = await Run(self.book, scene, position, cluster_id).walk()
            if ending.acted:
                raise _UnexpectedEnd(
                    "The dry run changed something.",
                    "A probe of the runbook sent a request that is not among those that only read.",
                    "Make what changes the cluster an action: only those wait for --yes.",
                )

    async def run_to_end(self) -> Ending:
        scene = self._scene
        cluster_id = (await scene.collect(frozenset())).cluster_id
        journal = _Watched(self.path, scene)
        journal.write("started", runbook=self.book.id, digest="", cluster_id=cluster_id, inputs=self._inputs, user="")
        position = Position(self.book.steps[0].id, {INPUTS: self._inputs})
        while True:
            journal.survived = self.survived
            try:
                ending = await Run(self.book, scene, position, cluster_id, journal).walk()
            except _Killed:
                pass
            else:
                if not scene.has_turn(ending.step) or not (
                    ending.next or ending.outcome in (Outcome.BLOCKED, Outcome.FAILED)
                ):
                    return ending
                await scene.take_turn(ending.step)
            entries = read_journal(self.path)
            position = position_of(self.book, entries)
            journal = _Watched(self.path, scene, entries)
            journal.write("resumed", position.at)


@dataclass
class _Scene:
    """A cluster of a rehearsal, as the runbook engine uses it."""

    clusters: RehearsalClusters
    cluster: RehearsalCluster
    directory: Path
    people: list[Turn]
    reader: Client | None = None
    in_order: bool = True  # An interrupted run takes longer, and may skip steps with people's turns.
    reports: list[StepReport] = field(default_factory=list)
    _at: str = ""
    _type: str = ""

    @property
    def client(self) -> Client:
        return self.reader or self.cluster.client

    async def collect(self, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        if self._type == "probe" and self.has_turn(self._at):
            await self.take_turn(self._at)
        observer = Observer(self.cluster.now_ms, second_look_after_ms=SECOND_LOOK_MS)
        return await collect_snapshot(self.client, observer, kinds)

    async def sleep(self, ms: int) -> None:
        if self.has_turn(self._at):
            await self.take_turn(self._at)
        await asyncio.sleep(ms / 1000)

    async def confirm(self, question: str, expected: str) -> bool:
        return await self.take_turn(self._at) if self.has_turn(self._at) else True

    def show(self, report: StepReport) -> None:
        self.reports.append(report)

    def keep(self, snapshot: ClusterSnapshot, step: str) -> dict[str, str]:
        path = self.directory / f"{step}.json"
        save_snapshot(snapshot, path)
        return {"file": path.name}

    def audit(self, action: str, cluster_id: str, details: Mapping[str, Value]) -> None:
        return None

    def begun(self, step: str, type_: object) -> None:
        """Record the current step."""
        self._at, self._type = step, str(type_)

    def has_turn(self, step: str) -> bool:
        """Return whether the next turn is at this step."""
        return any(turn.at == step for turn in (self.people[:1] if self.in_order else self.people))

    async def take_turn(self, step: str) -> bool:
        """Run the people's actions at a step, and return their answer."""
        turn = next(turn for turn in self.people if turn.at == step)
        self.people.remove(turn)
        for words in turn.does:
            await do(self.clusters, words)
        return turn.answer


class _Watched(Journal):
    """A journal that reports the current step to the scene.

    `survived` are the lines that do not kill the process when written first in their step; None if none does.
    """

    survived: set[tuple[str, str]] | None = None

    def __init__(self, path: Path, scene: _Scene, entries: tuple[Entry, ...] = ()) -> None:
        super().__init__(path, scene.cluster.now_ms, entries)
        self._scene = scene

    def write(self, event: str, step: str = "", **data: object) -> None:
        if event == "begun":
            self._scene.begun(step, data["type"])
        super().write(event, step, **data)
        if self.survived is not None and event != "ended" and (event, step) not in self.survived:
            self.survived.add((event, step))
            raise _Killed


def _hold_to(scenario: RehearsalScenario, ending: Ending, survived: set[tuple[str, str]] | None) -> None:
    expected = scenario.ends
    if survived:
        # The effect is verified where the run continues, or the rest is handed over there; the cluster decides.
        done = {Outcome.VERIFIED, Outcome.NO_ACTION, Outcome.MANUAL} if ending.acted else {Outcome.VERIFIED}
        as_well = ending.outcome is Outcome.NO_ACTION or (expected.outcome in _WELL and ending.outcome in done)
        if ending.outcome is not expected.outcome and not as_well:
            raise _UnexpectedEnd(
                f"Interrupted, it ended {ending.outcome.value} at {ending.step}.",
                ending.message,
                "Make the step before check whether its action is already done, because a run may continue after it.",
            )
        return
    if (ending.outcome, ending.step) != (expected.outcome, expected.step):
        raise _UnexpectedEnd(
            f"It ended {ending.outcome.value} at {ending.step} and not {expected.outcome.value} at {expected.step}.",
            ending.message,
            "Fix the path through the runbook, or the scenario's `ends:`.",
        )
    if expected.says not in ending.message:
        raise _UnexpectedEnd(
            f"Its last message lacks {expected.says!r}.", ending.message, "Fix the message, or the scenario's `says:`."
        )


async def _hold_cluster_to(scenario: RehearsalScenario, scene: _Scene) -> None:
    if scene.people and scene.in_order:
        raise _UnexpectedEnd(
            f"The run never reached {scene.people[0].at}, where people have a turn.",
            "It took another path, or ended before.",
            "Fix the runbook's path there, or remove this entry from the scenario's `people:`.",
        )
    for step in scenario.afterwards:
        await do(scene.clusters, step)
    snapshot = await scene.collect(EVERYTHING)
    findings = [
        f"{finding.check_id}: {finding.message}"
        for finding in diagnose(ALL_CHECKS, Case(snapshot)).findings
        if finding.severity.at_least(Severity.ERROR) and finding.check_id not in scenario.leaves
    ]
    gaps = [
        f"{gap.kind.value} of {gap.subject}: {gap.reason.value}"
        for gap in snapshot.gaps
        if gap.kind.value not in scenario.leaves
    ]
    if findings or gaps:
        raise _UnexpectedEnd(
            "It ended as expected, but the cluster is not healthy.",
            " ".join([*findings, *gaps]),
            "Make the runbook fix this too, or name it under the scenario's `leaves:`.",
        )


def _with_patience(book: Runbook, scenario: RehearsalScenario) -> Runbook:
    """Limit every wait, which only changes how long the run waits for help."""
    return msgspec.structs.replace(book, steps=tuple(_bounded(step, scenario.patience) for step in book.steps))


def _bounded(step: Step, most: str) -> Step:
    if isinstance(step, Wait) and duration_ms(step.within) > duration_ms(most):
        return msgspec.structs.replace(step, within=most)
    if isinstance(step, Action) and duration_ms(step.verify.within) > duration_ms(most):
        return msgspec.structs.replace(step, verify=msgspec.structs.replace(step.verify, within=most))
    return step
