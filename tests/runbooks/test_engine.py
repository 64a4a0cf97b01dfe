"""The engine never acts on an old result, and a run can continue after any interruption."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from eosctl.analysis.fencing import find_fencings
from eosctl.client import connect
from eosctl.collect.audit_file import audit_file, read_own_fences
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.errors import AuthorizationDenied, UsageError
from eosctl.lab.rehearsals.clusters import HERE, RehearsalCluster, open_clusters
from eosctl.lab.rehearsals.rehearsal import parse_rehearsal
from eosctl.lab.rehearsals.steps.cluster import kill_controller, pass_time, set_brokers, start_controller
from eosctl.lab.rehearsals.steps.transactions import abort_hanging, begin, hang
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind
from eosctl.model.runbook import Value
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.runbooks.engine import Ending, Run
from eosctl.runbooks.journal import Journal, journal_path, only_run, read_journal
from eosctl.runbooks.load import find_runbook, parse_runbook
from eosctl.runbooks.position import INPUTS, Position, position_of
from eosctl.services.callbacks import SILENT, system_now_ms
from eosctl.services.run_runbook import LiveScene, RunbookDialog, RunbookRequest

BOOK = find_runbook("hanging-transaction")
GIVEN: dict[str, Value] = {"topic": "", "partition": -1}
SCENARIO = """
format: eosctl/v1
runbook: hanging-transaction
scenarios: [{name: anything, cluster: {brokers: BROKERS}, ends: {outcome: verified, step: look}}]
"""


class Killed(BaseException):
    """The process is gone."""


class MortalJournal(Journal):
    """A journal whose process is killed right after a write."""

    writes_left = 1_000_000

    def write(self, event: str, step: str = "", **data: Any) -> None:
        super().write(event, step, **data)
        self.writes_left -= 1
        if not self.writes_left:
            raise Killed


DIALOG = RunbookDialog(lambda _, __: True, lambda _: None)


class Agreeable(LiveScene):
    """Confirms everything; ``meanwhile`` is another user's action while the question is open."""

    meanwhile: Any = None
    silent: bool = False
    now_ms: Any = None

    async def collect(self, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        if self.silent:
            await asyncio.Event().wait()
        return await collect_snapshot(self.client, Observer(self.now_ms, second_look_after_ms=50), kinds)

    async def confirm(self, question: str, expected: str) -> bool:
        if self.meanwhile is not None:
            await self.meanwhile(self)
        return True


async def walk(
    cluster: RehearsalCluster, run_id: str, *, writes: int = 0, meanwhile: Any = None, text: str | None = None
) -> Ending:
    """Start or continue a run in this process."""
    book = BOOK.book if text is None else parse_runbook(text, "test").book
    async with connect(cluster.config, connector=cluster.connector, chance=random.Random(1)) as client:
        scene = Agreeable(client, RunbookRequest("test", yes=True), DIALOG, SILENT, run_id)
        scene.now_ms, scene.meanwhile = cluster.now_ms, meanwhile
        cluster_id = (await scene.collect(frozenset())).cluster_id
        scene.silent = text == SLOW
        path = journal_path(run_id)
        entries = read_journal(path) if path.exists() else ()
        journal = MortalJournal(path, system_now_ms, entries)
        journal.writes_left = writes or journal.writes_left
        if entries:
            position = position_of(book, entries)
        else:
            position = Position(book.steps[0].id, {INPUTS: GIVEN})
            journal.write("started", runbook=book.id, digest="", cluster_id=cluster_id, inputs=GIVEN, user="test")
        return await Run(book, scene, position, cluster_id, journal).walk()


def on_virtual_time(work: Callable[[RehearsalCluster], Awaitable[None]], directory: Path, brokers: int = 1) -> None:
    """Do something on a sandbox of its own."""
    story = parse_rehearsal(SCENARIO.replace("BROKERS", str(brokers)), "test").scenarios[0]

    async def run() -> None:
        async with open_clusters(story, directory) as clusters:
            await work(clusters.named(HERE))

    run_virtual(run())


def test_a_run_that_is_killed_after_any_line_can_be_completed(tmp_path: Path) -> None:
    """After each line of the journal in turn, from the first to the last."""

    async def kill_again_and_again(cluster: RehearsalCluster) -> None:
        for writes in itertools.count(1):
            await hang(cluster)
            name = f"killed-{writes}"
            with pytest.raises(Killed):
                await walk(cluster, name, writes=writes)
            if read_journal(journal_path(name))[-1].event == "ended":
                break
            ending = await walk(cluster, name)
            assert ending.outcome == ("verified" if ending.acted else "no-action"), (writes, ending)
            entries = read_journal(journal_path(name))
            assert len(entries) > writes
            # A marker is announced twice only when the first announcement is where the run was cut off.
            markers = [entry.sequence for entry in entries if entry.event == "acting" and entry.step == "abort"]
            assert len(markers) == 1 or (len(markers) == 2 and markers[0] == writes - 1)
        assert writes > 20

    on_virtual_time(kill_again_and_again, tmp_path / "cluster")


def test_a_change_between_plan_and_act_stops_the_step(tmp_path: Path) -> None:
    async def change(cluster: RehearsalCluster) -> None:
        await hang(cluster)

        async def another_administrator(scene: LiveScene) -> None:
            await abort_hanging(cluster)

        ending = await walk(cluster, "changed", meanwhile=another_administrator)
        assert (ending.outcome, ending.acted) == ("blocked", False)
        assert "changed before step abort" in ending.message
        assert "acting" not in [entry.event for entry in read_journal(journal_path("changed"))]

    on_virtual_time(change, tmp_path / "cluster")


SLOW = """
format: eosctl/v1
id: slow
title: Slow
about: A probe that takes longer than it may.
symptoms: [slow]
steps:
  - {id: look, type: probe, say: Looking., run: partitions, timeout: 1ms, next: verified}
"""
NEVER = """
format: eosctl/v1
id: never
title: Never
about: Waits for what does not happen.
symptoms: [never]
steps:
  - {id: look, type: wait, say: Waiting., run: brokers, until: look.count > 99, within: 10ms, next: verified}
"""


@pytest.mark.parametrize(("text", "told"), [(SLOW, "longer than it may"), (NEVER, "Not within 10ms")])
def test_every_step_has_an_end(text: str, told: str, tmp_path: Path) -> None:
    async def late(cluster: RehearsalCluster) -> None:
        ending = await walk(cluster, f"late-{len(text)}", text=text)
        assert ending.outcome == "blocked"
        assert told in ending.message

    on_virtual_time(late, tmp_path / "cluster")


STUCK = """
format: eosctl/v1
id: stuck
title: Stuck
about: An action that takes longer than it may, as nobody plays the controller.
symptoms: [stuck]
steps:
  - id: look
    type: probe
    say: Looking.
    run: doctor
    with: {checks: EOS-BRK-002}
    branch: [{when: look.findings == 0, goto: no-action}]
  - {id: ask, type: confirm, say: Go on?, expect: "yes"}
  - id: act
    type: action
    say: Acting.
    run: verification.enable
    timeout: 2s
    verify: {run: doctor, with: {checks: EOS-BRK-002}, until: after.findings == 0, within: 5s}
    next: verified
"""


def test_a_timed_out_action_is_recorded_and_the_run_continues(tmp_path: Path) -> None:
    async def stuck(cluster: RehearsalCluster) -> None:
        await set_brokers(cluster, name="transaction.partition.verification.enable", value="false")

        async def controller_dies(scene: LiveScene) -> None:
            await kill_controller(cluster)

        ending = await walk(cluster, "stuck", text=STUCK, meanwhile=controller_dies)
        assert (ending.outcome, ending.acted) == ("failed", True), ending
        assert "longer than it may" in ending.message
        events = [entry.event for entry in read_journal(journal_path("stuck"))]
        assert events[-3:] == ["acting", "not acted", "ended"]
        await start_controller(cluster)
        await pass_time(cluster, ms=10_000)  # what was sent may arrive late
        done = await walk(cluster, "stuck", text=STUCK)
        assert done.outcome == "verified", done

    on_virtual_time(stuck, tmp_path / "cluster", brokers=2)


def test_a_fence_by_a_runbook_is_identified_afterwards(tmp_path: Path) -> None:
    text = STUCK.replace("run: verification.enable", "run: txn.fence\n    with: {transactional_id: shop}").replace(
        "{run: doctor, with: {checks: EOS-BRK-002}, until: after.findings == 0, within: 5s}",
        "{run: transactions.open, until: after.count == 0, within: 5s}",
    )

    async def change(cluster: RehearsalCluster) -> None:
        await set_brokers(cluster, name="transaction.partition.verification.enable", value="false")
        await begin(cluster, id="shop", topic="orders")
        ending = await walk(cluster, "fencing", text=text)
        assert (ending.outcome, ending.acted) == ("verified", True), ending
        async with connect(cluster.config, connector=cluster.connector, chance=random.Random(1)) as client:
            snapshot = await collect_snapshot(client, Observer(cluster.now_ms, second_look_after_ms=50))
        fences = read_own_fences(audit_file(), snapshot.cluster_id)
        assert [fence.command for fence in fences] == ["eosctl runbook run stuck"]
        (event,) = find_fencings(replace(snapshot, own_fences=fences))
        assert event.own_fence == fences[0]

    on_virtual_time(change, tmp_path / "cluster")


def test_an_action_that_does_not_help_has_failed(tmp_path: Path) -> None:
    async def change(cluster: RehearsalCluster) -> None:
        await set_brokers(cluster, name="transaction.partition.verification.enable", value="false")
        ending = await walk(cluster, "in-vain", text=STUCK.replace("after.findings == 0", "after.findings > 0"))
        assert (ending.outcome, ending.acted) == ("failed", True)
        assert "But not within 5s" in ending.message

    on_virtual_time(change, tmp_path / "cluster")


def test_a_denied_verification_leaves_the_change_on_record(tmp_path: Path) -> None:
    async def deny_after_the_change(scene: LiveScene) -> None:
        collect = scene.collect

        async def denied(kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
            if any(entry.event == "acted" for entry in read_journal(journal_path("denied"))):
                raise AuthorizationDenied("DescribeConfigs was denied.", "No permission.", "Grant it.")
            return await collect(kinds)

        scene.collect = denied

    async def change(cluster: RehearsalCluster) -> None:
        await set_brokers(cluster, name="transaction.partition.verification.enable", value="false")
        ending = await walk(cluster, "denied", text=STUCK, meanwhile=deny_after_the_change)
        assert (ending.outcome, ending.acted) == ("failed", True), ending
        assert "was denied" in ending.message
        assert [entry.event for entry in read_journal(journal_path("denied"))][-2:] == ["acted", "ended"]
        actions = [json.loads(line)["action"] for line in audit_file().read_text().splitlines()]
        assert actions == ["runbook verification.enable begun", "runbook verification.enable broke off"]

    on_virtual_time(change, tmp_path / "cluster")


def test_an_interrupted_question_changes_nothing_and_is_audited(tmp_path: Path) -> None:
    async def interrupt(scene: LiveScene) -> None:
        raise KeyboardInterrupt

    async def change(cluster: RehearsalCluster) -> None:
        await hang(cluster)
        with pytest.raises(KeyboardInterrupt):
            await walk(cluster, "interrupted", meanwhile=interrupt)
        assert [json.loads(line)["action"] for line in audit_file().read_text().splitlines()] == [
            "runbook hanging-transaction declined"
        ]
        assert read_journal(journal_path("interrupted"))[-1].event == "begun"

    on_virtual_time(change, tmp_path / "cluster")


def test_two_runs_on_one_cluster_are_refused() -> None:
    with only_run("abc", "first"):
        with only_run("other", "second"):
            pass
        with pytest.raises(UsageError, match="first is running on cluster abc"), only_run("abc", "second"):
            raise AssertionError("both hold the lock")
    with only_run("abc", "third"):
        pass
