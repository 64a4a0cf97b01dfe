"""Clients of other languages: the answers of their programs become the same history as eosctl's own client."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from eosctl.errors import EosctlError
from eosctl.lab.engine import MissingTool
from eosctl.lab.history.events import Ended, EndInvoked, OffsetsSent, Outcome, Polled, SendInvoked, Sent
from eosctl.lab.recording import Recorder
from eosctl.lab.verify.driven import DrivenMember, DrivenProducer, follow_driven
from eosctl.lab.verify.driver import Driver, DriverFailure, FailureClass, start_driver
from eosctl.lab.verify.drivers.programs import prepare_driver
from eosctl.lab.verify.plan import ClientKind
from eosctl.lab.workloads.transactional import Fate
from eosctl.model.transaction import TopicPartition

PLACE = TopicPartition("t", 1)
#: Answers as the actor's name says: `commit=fenced` fails a commit so, `commit=again,` the first one only.
PROGRAM = """
import json, sys
access, offset, failed, groups, told = json.loads(sys.stdin.readline()), 0, set(), {}, []
for line in sys.stdin:
    ask = json.loads(line)
    op, answer = ask["op"], {"number": ask["number"]}
    for part in ask["actor"].split(";"):
        which, _, how = part.partition("=")
        if which != op or (how.endswith(",") and part in failed):
            continue
        failed.add(part)
        if how == "die":
            sys.exit("out of memory")
        if how == "hang":
            op = "drop"
        elif how == "rebalance":
            answer["aborted"] = True
        elif how == "babble":
            print("WARN  a line of a log", flush=True)
        else:
            answer.update({"error": "SomeException", "class": how.rstrip(",")})
    if op == "append":
        answer["offset"] = offset = offset + 1
    if op == "read":
        answer["records"] = [[1, 7, "a value   "]]
    if op == "take":
        answer["records"] = [[1, 7, access["bootstrap"] + "  "], [0, 3, json.dumps([groups[ask["actor"]], told])]]
    if op == "open":
        groups[ask["actor"]] = [ask.get("group"), ask.get("topic")]
    if op == "offsets":
        told += ask["offsets"]
    if op != "drop":
        print(json.dumps(answer), flush=True)
"""

Scenario = Callable[[Driver], Coroutine[Any, Any, None]]


def play(scenario: Scenario, tmp_path: Path, patience_s: float = 20.0) -> None:
    async def run() -> None:
        command, access = [sys.executable, "-c", PROGRAM], {"bootstrap": "b:1"}
        async with asyncio.timeout(30), start_driver(command, tmp_path / "stderr", access, patience_s) as driver:
            await scenario(driver)

    asyncio.run(run())


def attempt(tmp_path: Path, actor: str, *, aborts: bool = False) -> tuple[Fate | None, list[object]]:
    """Attempt a transaction of one value; return its fate and the recorded events without times."""
    numbers: Iterator[int] = iter(range(1_000))
    recorder = Recorder(lambda: next(numbers))
    fates: list[Fate | None] = []

    async def scenario(driver: Driver) -> None:
        producer = DrivenProducer(driver, "id", recorder, actor, transaction_timeout_ms=1_000)
        assert await producer.survives()
        fates.append(await producer.attempt("x", lambda: producer.send_value(PLACE, "v", size_bytes=10), aborts=aborts))
        producer.drop()

    play(scenario, tmp_path)
    return fates[0], [type(event) for event in recorder.history]


@pytest.mark.parametrize(
    ("actor", "aborts", "fate", "told"),
    [
        ("w", False, Fate.COMMITTED, [SendInvoked, Sent, EndInvoked, Ended]),
        ("w", True, Fate.ABORTED, [SendInvoked, Sent, EndInvoked, Ended]),
        ("w;commit=again,", False, Fate.COMMITTED, [SendInvoked, Sent, EndInvoked, Ended]),
        ("w;open=again,", False, Fate.COMMITTED, [SendInvoked, Sent, EndInvoked, Ended]),
        ("w;append=abortable", False, Fate.ABORTED, [SendInvoked, EndInvoked, Ended]),
        ("w;commit=rebalance", False, Fate.ABORTED, [SendInvoked, Sent, EndInvoked, Ended]),
        ("w;commit=abortable", False, Fate.ABORTED, [SendInvoked, Sent, EndInvoked, EndInvoked, Ended]),
        ("w;commit=fenced", False, None, [SendInvoked, Sent, EndInvoked, Ended]),
        ("w;commit=fatal", False, None, [SendInvoked, Sent, EndInvoked, Ended]),
        ("w;append=fenced", False, None, [SendInvoked, Ended]),
        ("w;begin=fatal", False, None, [Ended]),
        ("w;abort=fatal", True, None, [SendInvoked, Sent, EndInvoked, Ended]),
    ],
)
def test_a_transaction_is_recorded_as_the_client_ended_it(
    actor: str, aborts: bool, fate: Fate | None, told: list[type], tmp_path: Path
) -> None:
    assert attempt(tmp_path, actor, aborts=aborts) == (fate, told)


def test_what_cannot_be_opened_does_not_survive(tmp_path: Path) -> None:
    async def scenario(driver: Driver) -> None:
        producer = DrivenProducer(driver, "id", Recorder(lambda: 0), "w;open=fatal", transaction_timeout_ms=1_000)
        assert not await producer.survives()

    play(scenario, tmp_path)


def test_an_unknown_outcome_is_recorded_as_unknown(tmp_path: Path) -> None:
    recorder = Recorder(lambda: 0)

    async def scenario(driver: Driver) -> None:
        producer = DrivenProducer(driver, "id", recorder, "w;commit=fatal", transaction_timeout_ms=1_000)
        await producer.attempt("x", lambda: producer.send_value(PLACE, "v"))

    play(scenario, tmp_path)
    assert recorder.history[-1] == Ended(0, "w;commit=fatal", "x", Outcome.UNKNOWN)


def test_a_hanging_call_ends_the_producer_but_not_the_run(tmp_path: Path) -> None:
    async def scenario(driver: Driver) -> None:
        with pytest.raises(DriverFailure, match=r"commit of w;commit=hang did not return within 0\.2 s") as raised:
            await driver.ask("w;commit=hang", "commit")
        assert raised.value.failure_class is FailureClass.FATAL
        await driver.ask("other", "begin")

    play(scenario, tmp_path, patience_s=0.2)


@pytest.mark.parametrize("how", ["again", "fenced"])
def test_an_unusable_client_reports_why_before_the_run(how: str, tmp_path: Path) -> None:
    program = PROGRAM.replace('"SomeException"', '"invalid credentials"')
    program = program.replace('ask["actor"].split(";")', f'["open={how}"]')

    async def run() -> None:
        command = [sys.executable, "-c", program]
        async with asyncio.timeout(30), start_driver(command, tmp_path / "stderr", {}) as driver:
            with pytest.raises(EosctlError, match="cannot use the cluster") as raised:
                await driver.greet("id")
            assert "invalid credentials" in raised.value.why

    asyncio.run(run())


@pytest.mark.parametrize(("how", "said"), [("die", "out of memory"), ("babble", "WARN  a line of a log")])
def test_a_broken_program_ends_pending_calls(how: str, said: str, tmp_path: Path) -> None:
    async def scenario(driver: Driver) -> None:
        for _ in range(2):
            with pytest.raises(EosctlError) as raised:
                await driver.ask(f"w;begin={how}", "begin")
            assert not isinstance(raised.value, DriverFailure)
            assert said in raised.value.why

    play(scenario, tmp_path)


def test_readers_record_what_they_receive(tmp_path: Path) -> None:
    recorder = Recorder(lambda: 5)

    async def scenario(driver: Driver) -> None:
        await follow_driven(driver, recorder, "reader", [TopicPartition("t", 0), PLACE], lambda: bool(recorder.history))

    play(scenario, tmp_path)
    assert set(recorder.history) == {Polled(5, "reader", PLACE, 7, "a value")}


def test_a_member_takes_records_and_sends_offsets(tmp_path: Path) -> None:
    recorder = Recorder(lambda: 5)

    async def scenario(driver: Driver) -> None:
        member = DrivenMember(driver, "id", recorder, "m", transaction_timeout_ms=1_000, group="g", topic="t")
        assert await member.survives()
        assert (await member.take())[0] == (PLACE, 7, "b:1")
        await member.attempt("x", lambda: member.send_positions({PLACE: 8}))
        (place, _, told) = (await member.take())[1]
        assert (place, json.loads(told)) == (TopicPartition("t", 0), [["g", "t"], [[1, 8]]])

    play(scenario, tmp_path)
    assert recorder.history == (
        OffsetsSent(5, "m", "x", "g", PLACE, 8),
        EndInvoked(5, "m", "x", True),
        Ended(5, "m", "x", Outcome.COMMITTED),
    )


def test_a_missing_program_is_reported(tmp_path: Path) -> None:
    async def start() -> None:
        async with start_driver([str(tmp_path / "nothing")], tmp_path / "stderr", {}):
            pass

    with pytest.raises(EosctlError, match="cannot be started"):
        asyncio.run(start())


def test_a_missing_compiler_is_named_with_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(MissingTool) as raised:
        prepare_driver(ClientKind.FRANZ_GO, tmp_path)
    assert raised.value.tool == "go"
    assert "golang-go" in raised.value.next_step
