"""Plays scenario files: step by step, then the checks, and a verdict of what was expected and what was seen."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from typing import NamedTuple

from eosctl.checks.declaration import Case
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose
from eosctl.client import connect
from eosctl.client.producer_errors import TransactionFailed
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.errors import BrokerError, RequestTimedOut
from eosctl.lab.scenarios.place import Place
from eosctl.lab.scenarios.scenario import Step
from eosctl.lab.scenarios.script import Findings, Script
from eosctl.lab.scenarios.steps.play import Expectation, Play
from eosctl.lab.scenarios.steps.registry import BoundStep, bind
from eosctl.wire.error_codes import ErrorCode

Tell = Callable[[Step], None]
SECOND_LOOK_MS = 500


class Verdict(NamedTuple):
    """What came of a scenario.

    Attributes:
        scenario: Its name.
        place: Where it was played.
        steps: What was done, and what the cluster answered.
        expectations: What was expected and seen, the findings of the checks at the end.
    """

    scenario: str
    place: str
    steps: tuple[Step, ...]
    expectations: tuple[Expectation, ...]

    @property
    def holds(self) -> bool:
        """Whether everything was as expected."""
        return all(expectation.holds for expectation in self.expectations)


def _tell_nobody(step: Step) -> None:
    return None


async def play_script(script: Script, place: Place, *, seed: int = 0, tell: Tell = _tell_nobody) -> Verdict:
    """Play a scenario on a cluster that is fit for it.

    Args:
        script: The scenario.
        place: The cluster.
        seed: Of the clients' chance.
        tell: Hears every step when it is done.

    Raises:
        EosctlError: A step failed that was not expected to be refused.
    """
    steps: list[Step] = []
    async with AsyncExitStack() as clients:
        chance = random.Random(seed)
        config = place.config
        client = await clients.enter_async_context(connect(config, connector=place.connector, chance=chance))
        play = Play(place, client, chance, clients)
        for words in script.steps:
            step = await _do(play, bind(words))
            steps.append(step)
            tell(step)
        await _judge(play, script.findings)
    return Verdict(script.name, place.name, tuple(steps), tuple(play.expectations))


async def _do(play: Play, step: BoundStep) -> Step:
    known = len(play.expectations)
    answer = await _answer(play, step)
    if step.refused:
        seen = answer or "accepted"
        expected = seen if seen in step.refused else " or ".join(sorted(step.refused))
        play.expect(f"{step.actor}: {step} is refused with", expected, seen)
    elif step.is_sight:
        found = play.expectations[known:]
        answer = "; ".join(f"{one.seen}" + ("" if one.holds else f", not {one.expected}") for one in found)
    return Step(step.actor, str(step), answer)


async def _answer(play: Play, step: BoundStep) -> str:
    """Return the error that a step which may be refused met, empty when it succeeded."""
    try:
        await step.doing(play, **step.arguments)
    except (TransactionFailed, BrokerError) as error:
        if not step.refused:
            raise
        return ErrorCode(error.error_code).name
    except RequestTimedOut:
        if not step.refused:
            raise
        return "RequestTimedOut"
    return ""


async def _judge(play: Play, findings: Findings) -> None:
    """Let the checks look at the cluster, as ``eosctl doctor`` does."""
    if not findings.fire and not findings.silent:
        return
    place = play.place
    observer = Observer(place.now_ms, second_look_after_ms=SECOND_LOOK_MS)
    chance = random.Random(play.chance.random())
    async with connect(place.config, connector=place.connector, chance=chance, allowed_apis=READ_ONLY_APIS) as client:
        snapshot = await collect_snapshot(client, observer)
    found = {finding.check_id for finding in diagnose(ALL_CHECKS, Case(snapshot)).findings}
    _compare(play, findings.fire, found, "finds something")
    _compare(play, findings.silent, found, "finds nothing")


def _compare(play: Play, ids: Iterable[str], found: set[str], expected: str) -> None:
    for check_id in ids:
        play.expect(f"the check {check_id}", expected, "finds something" if check_id in found else "finds nothing")
