"""Plays scenario files: step by step, then the checks, and a verdict of what was expected and what was seen."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple

from eosctl.checks.registry import check_id_of
from eosctl.client import connect
from eosctl.client.producer_errors import TransactionFailed
from eosctl.errors import BrokerError, EosctlError, RequestTimedOut
from eosctl.lab.scenarios.place import Place
from eosctl.lab.scenarios.script import Findings, Script, StepWords
from eosctl.lab.scenarios.steps.judging import firing_checks, judge
from eosctl.lab.scenarios.steps.play import Expectation, Play, Step
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
        """Return whether everything was as expected."""
        return all(expectation.holds for expectation in self.expectations)


def _tell_nobody(step: Step) -> None:
    return None


async def play_script(
    script: Script, place: Place, *, seed: int = 0, tell: Tell = _tell_nobody, is_fresh: bool = True
) -> Verdict:
    """Play a scenario on a cluster that is fit for it.

    Args:
        script: The scenario.
        place: The cluster.
        seed: Of the clients' chance.
        tell: Called with every step when it is done.
        is_fresh: The cluster was made for the scenario. On another one, checks that find something before the scenario
            begins need not be silent at its end.

    Raises:
        EosctlError: A step failed that was not expected to be refused.
    """
    chance = random.Random(seed)
    silent = script.findings.silent
    if silent and not is_fresh:
        before = await firing_checks(place, chance)
        silent = tuple(each for each in silent if check_id_of(each) not in before)
    return await _play(
        script.name, script.steps, place, chance, tell, Findings(fire=script.findings.fire, silent=silent)
    )


async def play_steps(script: Script, place: Place, chance: random.Random, names: Mapping[str, str]) -> None:
    """Play the steps of a scenario under other names, without the checks at its end.

    Args:
        script: The scenario.
        place: The cluster.
        chance: Of the clients.
        names: Other names for topics, groups, and transactional ids, by the name in the scenario.

    Raises:
        EosctlError: A step failed, or something that must be seen was not.
    """
    steps = [{key: _renamed(value, names) for key, value in words.items()} for words in script.steps]
    verdict = await _play(script.name, steps, place, chance, _tell_nobody, Findings())
    if wrong := next((one for one in verdict.expectations if not one.holds), None):
        raise EosctlError(
            f"The scenario {script.name} did not go as expected on {place.name}.",
            f"{wrong.what}: {wrong.seen}, not {wrong.expected}.",
            f"Play it on a cluster of its own: eosctl sandbox scenario run {script.name}",
        )


def _renamed(value: object, names: Mapping[str, str]) -> object:
    return names.get(value, value) if isinstance(value, str) else value


async def _play(
    name: str,
    script_steps: Sequence[StepWords],
    place: Place,
    chance: random.Random,
    tell: Tell,
    findings: Findings,
) -> Verdict:
    steps: list[Step] = []
    async with AsyncExitStack() as clients:
        client = await clients.enter_async_context(connect(place.config, connector=place.connector, chance=chance))
        play = Play(place, client, chance, clients)
        for words in script_steps:
            step = await _do(play, bind(words))
            steps.append(step)
            tell(step)
        await judge(play, findings.fire, findings.silent)
    return Verdict(name, place.name, tuple(steps), tuple(play.expectations))


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
