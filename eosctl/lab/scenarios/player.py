"""Plays scenario files: step by step, then the checks, and a verdict of what was expected and what was seen."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import NamedTuple

from eosctl.client import connect
from eosctl.client.producer_errors import TransactionFailed
from eosctl.errors import BrokerError, RequestTimedOut
from eosctl.lab.scenarios.place import Place
from eosctl.lab.scenarios.scenario import Step
from eosctl.lab.scenarios.script import Script
from eosctl.lab.scenarios.steps.judging import judge
from eosctl.lab.scenarios.steps.play import Expectation, Play
from eosctl.lab.scenarios.steps.registry import BoundStep, bind
from eosctl.wire.error_codes import ErrorCode

Tell = Callable[[Step], None]


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
        await judge(play, script.findings.fire, script.findings.silent)
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
