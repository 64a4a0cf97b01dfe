"""List and play scenarios: a fault, its consequences, and the expected findings."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from eosctl.errors import UsageError
from eosctl.lab.apache.releases import branches
from eosctl.lab.scenarios.engines import real_kafka, simulated
from eosctl.lab.scenarios.live import SandboxEngine, release_of, require_fit
from eosctl.lab.scenarios.load import find_script, library
from eosctl.lab.scenarios.player import Verdict, play_script
from eosctl.lab.scenarios.releases import settle
from eosctl.lab.scenarios.script import Script, StepWords
from eosctl.lab.scenarios.steps.registry import bind
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.emulation import FULL_RELEASE
from eosctl.model.scenario import ExpectationItem, ScenarioItem, VerdictItem
from eosctl.sandbox.process import manage
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.sandbox_access import client_config_of
from eosctl.services.sandboxes import EngineChoice


class ScenarioRequest(NamedTuple):
    """A scenario to play.

    Attributes:
        scenario: Its name, or its file.
        sandbox: A running sandbox to play on; None for a new cluster.
        engine: The kind of new cluster: a sandbox on virtual time, or real Kafka.
        seed: The seed of random choices.
        kafka: The release of a new cluster; None for the newest that the scenario holds on.
    """

    scenario: str
    sandbox: str | None = None
    engine: EngineChoice = EngineChoice.SANDBOX
    seed: int = 0
    kafka: str | None = None


def list_scenarios() -> tuple[ScenarioItem, ...]:
    """Return the scenarios that come with eosctl."""
    return tuple(map(_scenario_item, library().values()))


def describe_scenario(name: str) -> ScenarioItem:
    """Return a scenario of the library, or the one in a file.

    Raises:
        UsageError: No scenario has this name.
        ConfigFileError: The file is not a scenario.
    """
    return _scenario_item(find_script(name))


def play_scenario(
    request: ScenarioRequest, report: Callable[[str], None] = lambda _: None, callbacks: Callbacks = SILENT
) -> VerdictItem:
    """Play a scenario, and compare the expectations with the observations.

    Args:
        request: The scenario, and the cluster to play it on.
        report: Called with a description of each completed step.
        callbacks: Only the clock is called.

    Raises:
        UsageError: No scenario has this name, or it cannot be played there.
        EosctlError: The cluster does not start or does not run.
    """
    script, engine = find_script(request.scenario), request.engine
    if request.sandbox is not None and engine is EngineChoice.APACHE:
        raise UsageError("--name and --engine apache were both given.", "A sandbox is not real Kafka.", "Omit one.")
    if request.sandbox is not None and request.kafka is not None:
        raise UsageError("--name and --kafka-version were both given.", "A running sandbox has a release.", "Omit one.")
    if request.sandbox is not None:
        return _verdict_item(_play_live(script, request.sandbox, request.seed, report, callbacks))
    if engine is EngineChoice.APACHE and script.inner:
        raise UsageError(f"{script.name} cannot be played on real Kafka.", script.inner, "Play it on the sandbox.")
    releases = FULL_RELEASE if engine is EngineChoice.SANDBOX else branches()
    script = settle(script, releases, request.kafka)
    return _verdict_item(_play_own(script, engine, request.seed, report, callbacks))


def _play_own(
    script: Script, choice: EngineChoice, seed: int, report: Callable[[str], None], callbacks: Callbacks
) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="eosctl-scenario-") as directory:

        async def run() -> Verdict:
            own = (
                simulated(script.cluster, Path(directory), seed)
                if choice is EngineChoice.SANDBOX
                else real_kafka(script.cluster, Path(directory), random.Random(callbacks.now_ms()), callbacks.now_ms)
            )
            async with own as engine:
                return await play_script(script, engine, seed=seed, on_step=lambda step: report(str(step)))

        return run_virtual(run(), seed) if choice is EngineChoice.SANDBOX else asyncio.run(run())


def _play_live(script: Script, name: str, seed: int, report: Callable[[str], None], callbacks: Callbacks) -> Verdict:
    sandbox = manage.require(name)
    if sandbox.spec.kafka and script.inner:
        raise UsageError(f"{script.name} cannot be played on real Kafka.", script.inner, "Play it on the sandbox.")
    require_fit(script, sandbox.spec)
    release = release_of(sandbox.spec)
    script = settle(script, {release: release})
    engine = SandboxEngine(sandbox, client_config_of(sandbox), callbacks.now_ms)
    return asyncio.run(play_script(script, engine, seed=seed, on_step=lambda step: report(str(step)), is_fresh=False))


def _scenario_item(script: Script) -> ScenarioItem:
    return ScenarioItem(
        name=script.name,
        title=script.title,
        happens=script.happens,
        matters=script.matters,
        sees=script.sees,
        expected_findings=script.findings.fire,
        unexpected_findings=script.findings.silent,
        inner=script.inner,
        cluster=msgspec.to_builtins(script.cluster),
        steps=tuple(map(_step_text, script.steps)),
    )


def _step_text(words: StepWords) -> str:
    step = bind(words)
    on = f" (on {words['releases']})" if "releases" in words else ""
    refused = f" (refused: {' or '.join(sorted(step.refused))})" if step.refused else ""
    return f"{step.actor}: {step}{refused}{on}"


def _verdict_item(verdict: Verdict) -> VerdictItem:
    return VerdictItem(
        verdict.scenario,
        verdict.engine,
        verdict.holds,
        tuple(str(step) for step in verdict.steps),
        tuple(ExpectationItem(*expectation, expectation.holds) for expectation in verdict.expectations),
    )
