"""What the engine promises: nothing is done on an old answer, and a run goes on after any interruption."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from eosctl.actions.abort import plan_abort
from eosctl.actions.marker import apply_marker
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.client import connect
from eosctl.commands.changes import MARKED, Aim
from eosctl.commands.invocation import Invocation
from eosctl.commands.runbook_run import LiveScene, Order
from eosctl.errors import UsageError
from eosctl.lab.scenarios.hanging import HangingReport, run_hanging
from eosctl.model.client_config import ClientConfig
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.runbooks.engine import INPUTS, Ending, Position, Run, position_of
from eosctl.runbooks.journal import Journal, journal_path, only_run, read_journal
from eosctl.runbooks.load import find_runbook, parse_runbook
from eosctl.settings.endpoints import parse_endpoints
from eosctl.testing import SandboxThread
from tests.runbooks.conftest import now_ms, play

BOOK = find_runbook("hanging-transaction")
GIVEN = {"topic": "", "partition": -1}


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


class Agreeable(LiveScene):
    """Agrees to everything; ``meanwhile`` is what somebody else does while the question stands."""

    meanwhile: Any = None
    silent: bool = False

    async def look(self, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        if self.silent:
            await asyncio.Event().wait()
        return await super().look(kinds)

    async def confirm(self, question: str, expected: str) -> bool:
        if self.meanwhile is not None:
            await self.meanwhile(self)
        return True


@pytest.fixture(scope="module")
def cluster() -> Iterator[SandboxThread]:
    with SandboxThread(fast=False) as started:
        yield started


def hang(cluster: SandboxThread) -> HangingReport:
    report: HangingReport = play(cluster.bootstrap, run_hanging, switch_verification_off=True)
    return report


async def walk(
    cluster: SandboxThread, run_id: str, *, writes: int = 0, meanwhile: Any = None, text: str | None = None
) -> Ending:
    """Start or go on with a run in this process."""
    book = BOOK.book if text is None else parse_runbook(text, "test").book
    config = ClientConfig(parse_endpoints(cluster.bootstrap, "test"))
    async with connect(config, chance=random.Random(1)) as client:
        scene = Agreeable(client, Invocation(), Order("test", GIVEN, True, (), None, 50), run_id)
        scene.meanwhile = meanwhile
        cluster_id = (await scene.look(frozenset())).cluster_id
        scene.silent = text == SLOW
        path = journal_path(run_id)
        entries = read_journal(path) if path.exists() else ()
        journal = MortalJournal(path, now_ms, entries)
        journal.writes_left = writes or journal.writes_left
        if entries:
            position = position_of(book, entries)
        else:
            position = Position(book.steps[0].id, {INPUTS: GIVEN})
            journal.write("started", runbook=book.id, digest="", cluster_id=cluster_id, inputs=GIVEN, user="test")
        return await Run(book, scene, position, cluster_id, journal).walk()


def test_a_run_that_is_killed_after_any_line_goes_on_to_the_end(cluster: SandboxThread) -> None:
    """After each line of the journal in turn, from the first to the last."""
    for writes in itertools.count(1):
        hang(cluster)
        name = f"killed-{writes}"
        with pytest.raises(Killed):
            asyncio.run(walk(cluster, name, writes=writes))
        if read_journal(journal_path(name))[-1].event == "ended":
            break
        ending = asyncio.run(walk(cluster, name))
        assert ending.outcome == ("verified" if ending.acted else "no-action"), (writes, ending)
        entries = read_journal(journal_path(name))
        assert len(entries) > writes
        # A marker is announced twice only when the first announcement is where the run was cut off.
        markers = [entry.sequence for entry in entries if entry.event == "acting" and entry.step == "abort"]
        assert len(markers) == 1 or (len(markers) == 2 and markers[0] == writes - 1)
    assert writes > 20


def abort_it(aim: Aim) -> Any:
    async def meanwhile(scene: LiveScene) -> None:
        snapshot = await scene.look(MARKED)
        plan = plan_abort(snapshot, classify_open_transactions(snapshot), aim)
        await apply_marker(scene.client, plan)

    return meanwhile


def test_a_cluster_that_changes_between_plan_and_act_stops_the_step() -> None:
    with SandboxThread(fast=False) as own:
        report = play(own.bootstrap, run_hanging, switch_verification_off=True)
        aim = Aim.of(report.partition.topic, report.partition.partition, None, None)
        ending = asyncio.run(walk(own, "changed", meanwhile=abort_it(aim)))
        assert (ending.outcome, ending.acted) == ("blocked", False)
        assert "changed before step abort" in ending.message
        assert "acting" not in [entry.event for entry in read_journal(journal_path("changed"))]


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
def test_every_step_has_an_end(cluster: SandboxThread, text: str, told: str) -> None:
    ending = asyncio.run(walk(cluster, f"late-{len(text)}", text=text))
    assert ending.outcome == "blocked"
    assert told in ending.message


def test_two_runs_on_one_cluster_are_refused() -> None:
    with only_run("abc", "first"):
        with only_run("other", "second"):
            pass
        with pytest.raises(UsageError, match="first is running on cluster abc"), only_run("abc", "second"):
            raise AssertionError("both hold the lock")
    with only_run("abc", "third"):
        pass
