"""Run scenario files: the steps, then the checks, and a verdict with expectations and observations."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple

from eosctl.checks.registry import check_id_of
from eosctl.client import connect
from eosctl.client.producer_errors import TransactionFailed
from eosctl.errors import BrokerError, EosctlError, RequestTimedOut
from eosctl.lab.engine import Engine
from eosctl.lab.scenarios.script import Findings, Script, StepWords
from eosctl.lab.scenarios.steps.judging import firing_checks, judge
from eosctl.lab.scenarios.steps.play import Expectation, Play, Step
from eosctl.lab.scenarios.steps.registry import BoundStep, bind
from eosctl.wire.error_codes import ErrorCode

OnStep = Callable[[Step], None]


class Verdict(NamedTuple):
    """The result of a scenario.

    Attributes:
        scenario: Its name.
        engine: The cluster.
        steps: The steps, with the cluster's responses.
        expectations: Expected and observed values, including the findings of the checks at the end.
    """

    scenario: str
    engine: str
    steps: tuple[Step, ...]
    expectations: tuple[Expectation, ...]

    @property
    def holds(self) -> bool:
        """Return whether all expectations were met."""
        return all(expectation.holds for expectation in self.expectations)


def _ignore_step(step: Step) -> None:
    return None


async def play_script(
    script: Script, engine: Engine, *, seed: int = 0, on_step: OnStep = _ignore_step, is_fresh: bool = True
) -> Verdict:
    """Run a scenario on a matching cluster.

    Args:
        script: The scenario.
        engine: The cluster.
        seed: Seed of the clients' random choices.
        on_step: Called with every completed step.
        is_fresh: Whether the cluster was created for the scenario. Otherwise, checks with findings before the scenario
            need not be silent at its end.

    Raises:
        EosctlError: A step failed unexpectedly.
    """
    chance = random.Random(seed)
    silent = script.findings.silent
    if silent and not is_fresh:
        before = await firing_checks(engine, chance)
        silent = tuple(each for each in silent if check_id_of(each) not in before)
    return await _play(
        script.name, script.steps, engine, chance, on_step, Findings(fire=script.findings.fire, silent=silent)
    )


async def play_steps(script: Script, engine: Engine, chance: random.Random, names: Mapping[str, str]) -> None:
    """Run the steps of a scenario under other names, without its checks.

    Args:
        script: The scenario.
        engine: The cluster.
        chance: Random source of the clients.
        names: New names of topics, groups, and transactional ids, by the name in the scenario.

    Raises:
        EosctlError: A step failed, or an expectation was not met.
    """
    steps = [
        {key: _renamed(value, names) for key, value in words.items()}
        for words in script.steps
        if words["do"] != "doctor"
    ]
    verdict = await _play(script.name, steps, engine, chance, _ignore_step, Findings())
    if wrong := next((one for one in verdict.expectations if not one.holds), None):
        raise EosctlError(
            f"The scenario {script.name} did not go as expected on {engine.name}.",
            f"{wrong.what}: {wrong.seen}, not {wrong.expected}.",
            f"Play it on a cluster of its own: eosctl sandbox scenario run {script.name}",
        )


def _renamed(value: object, names: Mapping[str, str]) -> object:
    return names.get(value, value) if isinstance(value, str) else value


async def _play(
    name: str,
    script_steps: Sequence[StepWords],
    engine: Engine,
    chance: random.Random,
    on_step: OnStep,
    findings: Findings,
) -> Verdict:
    steps: list[Step] = []
    async with AsyncExitStack() as clients:
        client = await clients.enter_async_context(connect(engine.config, connector=engine.connector, chance=chance))
        play = Play(engine, client, chance, clients)
        for words in script_steps:
            step = await _do(play, bind(words))
            steps.append(step)
            on_step(step)
        await judge(play, findings.fire, findings.silent)
    return Verdict(name, engine.name, tuple(steps), tuple(play.expectations))


async def _do(play: Play, step: BoundStep) -> Step:
    known = len(play.expectations)
    answer = await _answer(play, step)
    if step.refused:
        seen = answer or "accepted"
        expected = seen if seen in step.refused else " or ".join(sorted(step.refused))
        play.expect(f"{step.actor}: {step} is refused with", expected, seen)
    elif step.is_assertion:
        found = play.expectations[known:]
        answer = "; ".join(f"{one.seen}" + ("" if one.holds else f", not {one.expected}") for one in found)
    return Step(step.actor, str(step), answer)


async def _answer(play: Play, step: BoundStep) -> str:
    """Return the error of a step that may fail; empty if it succeeded."""
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
