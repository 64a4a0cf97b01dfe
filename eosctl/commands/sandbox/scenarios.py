"""``eosctl sandbox scenario``: list, show and run scenarios, or play one of the short ones on a live sandbox."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eosctl.commands.invocation import Invocation, invocation_of, note, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.commands.sandbox.security import client_config_of, client_file_of
from eosctl.errors import ExitCode, UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

if TYPE_CHECKING:
    from eosctl.lab.scenarios.player import Tell, Verdict
    from eosctl.lab.scenarios.scenario import Report, Scenario, Stage
    from eosctl.lab.scenarios.script import Script
    from eosctl.lab.scenarios.steps.registry import BoundStep
    from eosctl.render.sandbox.listing import PlayedItem
    from eosctl.render.sandbox.scenarios import ScenarioItem, VerdictItem

DEFAULT_NAME = "default"


class EngineChoice(StrEnum):
    """Where a scenario is run."""

    SANDBOX = "sandbox"
    APACHE = "apache"


def scenario(
    context: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(metavar="[list|show|run|NAME]", help="What to do; NAME alone plays on a live sandbox."),
    ] = None,
    which: Annotated[str | None, typer.Argument(metavar="[NAME|FILE]", help="The scenario to show or run.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="A live sandbox to play on; run makes a cluster of its own without.")
    ] = None,
    engine: Annotated[
        EngineChoice, typer.Option("--engine", help="Run on a sandbox of virtual time, or on real Kafka.")
    ] = EngineChoice.SANDBOX,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeat the same random choices.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Tell every step when it is done.")] = False,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """List, show and run scenarios: what goes wrong, why it matters, and what must be found.

    `run NAME` plays on a cluster of its own (on virtual time, or on real Kafka with --engine apache; on a live sandbox
    with --name), compares what was expected with what was seen, and exits with 3 when they differ.
    """
    if what in (None, "list"):
        _list(context, output, output_file)
    elif what in ("show", "run"):
        from eosctl.lab.scenarios.load import find_script

        if which is None:
            raise UsageError(f"sandbox scenario {what} needs a name.", "", "See: eosctl sandbox scenario list")
        script = find_script(which)
        if what == "show":
            _show(context, script, output, output_file)
        else:
            _run(context, script, (name, engine, seed or 0), watch, output, output_file)
    elif what is not None:
        _play_short(context, what, name or DEFAULT_NAME, seed, output, output_file)


# --- list and show ------------------------------------------------------------------------------------------------


def _item(script: Script) -> ScenarioItem:
    import msgspec

    from eosctl.lab.scenarios.steps.registry import bind
    from eosctl.render.sandbox.scenarios import ScenarioItem

    return ScenarioItem(
        script.name,
        script.title,
        script.happens,
        script.matters,
        script.sees,
        script.findings.fire,
        script.findings.silent,
        script.inner,
        msgspec.to_builtins(script.cluster),
        tuple(_step_text(bind(step)) for step in script.steps),
    )


def _step_text(step: BoundStep) -> str:
    refused = f" (refused: {' or '.join(sorted(step.refused))})" if step.refused else ""
    return f"{step.actor}: {step}{refused}"


def _list(context: typer.Context, output: OutputFormat, output_file: OutputFile) -> None:
    from eosctl.lab.scenarios.load import library
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.sandbox.scenarios import SCENARIO_COLUMNS

    invocation = invocation_of(context)
    items = tuple(_item(script) for script in library().values())
    catalogue = listing("scenarios", "sandbox scenario", invocation.now_ms(), items)
    write_result(render_listing(catalogue, SCENARIO_COLUMNS, output, invocation.style()), output_file)


def _show(context: typer.Context, script: Script, output: OutputFormat, output_file: OutputFile) -> None:
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.sandbox.scenarios import SCENARIO_COLUMNS, render_scenario

    invocation = invocation_of(context)
    item = _item(script)
    if output in FOR_PEOPLE:
        write_result(render_scenario(item, invocation.style()), output_file)
    else:
        result = listing("scenarios", "sandbox scenario", invocation.now_ms(), (item,))
        write_result(render_listing(result, SCENARIO_COLUMNS, output), output_file)


# --- run ----------------------------------------------------------------------------------------------------------


def _run(
    context: typer.Context,
    script: Script,
    where: tuple[str | None, EngineChoice, int],
    watch: bool,
    output: OutputFormat,
    output_file: OutputFile,
) -> None:
    from eosctl.lab.scenarios.scenario import Step
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.sandbox.scenarios import VERDICT_COLUMNS, render_verdict

    invocation = invocation_of(context)
    name, engine, seed = where

    def tell(step: Step) -> None:
        if watch:
            note(str(step))

    if name is not None and engine is EngineChoice.APACHE:
        raise UsageError("--name and --engine apache were both given.", "A sandbox is no real Kafka.", "Leave one out.")
    if engine is EngineChoice.APACHE and script.inner:
        raise UsageError(f"{script.name} cannot be played on real Kafka.", script.inner, "Play it on the sandbox.")
    item = _verdict_item(
        _play_live(invocation, script, name, seed, tell) if name else _play_own(invocation, script, engine, seed, tell)
    )
    if output in FOR_PEOPLE:
        write_result(render_verdict(item, invocation.style()), output_file)
    else:
        result = listing("scenario-verdict", "sandbox scenario run", invocation.now_ms(), (item,))
        write_result(render_listing(result, VERDICT_COLUMNS, output), output_file)
    if not item.holds:
        raise typer.Exit(ExitCode.FINDINGS)


def _play_own(invocation: Invocation, script: Script, engine: EngineChoice, seed: int, tell: Tell) -> Verdict:
    import asyncio
    import random
    import tempfile
    from pathlib import Path

    from eosctl.lab.scenarios.place import real_kafka, simulated
    from eosctl.lab.scenarios.player import play_script
    from eosctl.lab.virtual_loop import run_virtual

    with tempfile.TemporaryDirectory(prefix="eosctl-scenario-") as directory:

        async def run() -> Verdict:
            own = (
                simulated(script.cluster, Path(directory), seed)
                if engine is EngineChoice.SANDBOX
                else real_kafka(script.cluster, Path(directory), random.Random(), invocation.now_ms)
            )
            async with own as place:
                return await play_script(script, place, seed=seed, tell=tell)

        return run_virtual(run(), seed) if engine is EngineChoice.SANDBOX else asyncio.run(run())


def _play_live(invocation: Invocation, script: Script, name: str, seed: int, tell: Tell) -> Verdict:
    import asyncio

    from eosctl.lab.scenarios.live import LivePlace, require_fit
    from eosctl.lab.scenarios.player import play_script
    from eosctl.sandbox.process import manage

    sandbox = manage.require(name)
    if sandbox.spec.kafka and script.inner:
        raise UsageError(f"{script.name} cannot be played on real Kafka.", script.inner, "Play it on the sandbox.")
    require_fit(script, sandbox.spec)
    return asyncio.run(
        play_script(script, LivePlace(sandbox, client_config_of(sandbox), invocation.now_ms), seed=seed, tell=tell)
    )


def _verdict_item(verdict: Verdict) -> VerdictItem:
    from eosctl.render.sandbox.scenarios import ExpectationItem, VerdictItem

    return VerdictItem(
        verdict.scenario,
        verdict.place,
        verdict.holds,
        tuple(str(step) for step in verdict.steps),
        tuple(ExpectationItem(*expectation, expectation.holds) for expectation in verdict.expectations),
    )


# --- the short ones on a live sandbox -------------------------------------------------------------------------------


def _play_short(
    context: typer.Context, wanted: str, name: str, seed: int | None, output: OutputFormat, output_file: OutputFile
) -> None:
    import asyncio
    import random

    from eosctl.lab.scenarios.load import library
    from eosctl.lab.scenarios.registry import SCENARIOS, find_scenario
    from eosctl.lab.scenarios.scenario import Stage
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.sandbox.listing import connection_words, render_played
    from eosctl.sandbox.process import manage

    invocation: Invocation = invocation_of(context)
    if wanted not in {short.name for short in SCENARIOS} and wanted in library():
        where: tuple[str | None, EngineChoice, int] = (name, EngineChoice.SANDBOX, seed or 0)
        _run(context, library()[wanted], where, False, output, output_file)
        return
    chosen = find_scenario(wanted)
    sandbox = manage.require(name)
    stage = Stage(client_config_of(sandbox), invocation.now_ms, random.Random(seed))
    played = _played(chosen, name, asyncio.run(_play(chosen, stage)))
    if output in FOR_PEOPLE:
        connection = connection_words(sandbox.bootstrap, client_file_of(sandbox.spec))
        text = render_played(played, chosen.title, connection, invocation.style())
    else:
        text = render_listing(listing("scenario-run", "sandbox scenario", invocation.now_ms(), (played,)), (), output)
    write_result(text, output_file)


async def _play(chosen: Scenario, stage: Stage) -> Report:
    return await chosen.run(stage)


def _played(chosen: Scenario, sandbox: str, report: Report) -> PlayedItem:
    import msgspec

    from eosctl.render.sandbox.listing import PlayedItem

    told: dict[str, Any] = msgspec.to_builtins(report)
    steps = tuple(str(step) for step in report.steps)
    return PlayedItem(chosen.name, sandbox, steps, chosen.expected_findings, told)
