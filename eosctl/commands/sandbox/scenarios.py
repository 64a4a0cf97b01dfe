"""``eosctl sandbox scenario``: list, show, and run scenarios, on a cluster of their own or on a live sandbox."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, note
from eosctl.commands.emit import emit_list
from eosctl.commands.options import ResultOptions
from eosctl.commands.sandbox.options import Seed
from eosctl.commands.session import callbacks
from eosctl.errors import ExitCode, UsageError
from eosctl.render.page import Style
from eosctl.render.sandbox.listing import connection_words
from eosctl.render.sandbox.scenarios import SCENARIO_COLUMNS, VERDICT_COLUMNS, render_scenario, render_verdict
from eosctl.services.play_scenario import ScenarioRequest, describe_scenario, list_scenarios, play_scenario
from eosctl.services.sandbox_access import client_file_of
from eosctl.services.sandboxes import DEFAULT_NAME, EngineChoice, require_sandbox

SCENARIOS = ("scenarios", "sandbox scenario")


def scenario(
    invocation: Invocation,
    what: Annotated[
        str | None,
        typer.Argument(metavar="[list|show|run|NAME]", help="Action; NAME alone runs the scenario on a live sandbox."),
    ] = None,
    which: Annotated[str | None, typer.Argument(metavar="[NAME|FILE]", help="Scenario to show or run.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Live sandbox to use; by default, run starts its own cluster.")
    ] = None,
    engine: Annotated[
        EngineChoice, typer.Option("--engine", help="Cluster: a sandbox on virtual time, or real Kafka.")
    ] = EngineChoice.SANDBOX,
    kafka: Annotated[
        str | None,
        typer.Option(
            "--kafka-version", metavar="VERSION", help="Release of the cluster; by default the newest of the scenario."
        ),
    ] = None,
    seed: Seed = None,
    watch: Annotated[bool, typer.Option("--steps", help="Print each step when it is done.")] = False,
    *,
    result: ResultOptions,
) -> None:
    """List, show, and run failure scenarios.

    Each scenario describes a failure, why it matters, and the expected findings. `run NAME` runs it on its own cluster:
    on virtual time, on real Kafka with --engine apache, or on a live sandbox with --name. NAME alone runs it on the
    live sandbox. Exit code 3 when the result differs from the expected one.

    Examples:
        eosctl sandbox scenario list
        eosctl sandbox scenario hanging
        eosctl sandbox scenario run hanging --engine apache --kafka-version 4.0.2
    """
    if what in (None, "list"):
        emit_list(SCENARIOS, list_scenarios(), SCENARIO_COLUMNS, result, invocation)
    if what in ("show", "run") and which is None:
        raise UsageError(f"sandbox scenario {what} needs a name.", "", "See: eosctl sandbox scenario list")
    if what == "show":
        _show(str(which), result, invocation)
    if what == "run":
        _run(ScenarioRequest(str(which), name, engine, seed or 0, kafka), result, invocation, watch=watch)
    where = name or DEFAULT_NAME
    _run(ScenarioRequest(str(what), where, EngineChoice.SANDBOX, seed or 0, kafka), result, invocation, watch=watch)


def _show(name: str, result: ResultOptions, invocation: Invocation) -> None:
    item = describe_scenario(name)
    emit_list(SCENARIOS, (item,), SCENARIO_COLUMNS, result, invocation, page=partial(render_scenario, item))


def _run(request: ScenarioRequest, result: ResultOptions, invocation: Invocation, *, watch: bool = False) -> None:
    with callbacks(invocation.now_ms) as shown:
        item = play_scenario(request, note if watch else lambda _: None, shown)
    code = ExitCode.DONE if item.holds else ExitCode.FINDINGS

    def page(style: Style) -> str:
        return render_verdict(item, _connection(request.sandbox), style)

    name = ("scenario-verdict", "sandbox scenario run")
    emit_list(name, (item,), VERDICT_COLUMNS, result, invocation, page=page, code=code)


def _connection(name: str | None) -> str:
    if name is None:
        return ""
    sandbox = require_sandbox(name)
    return connection_words(sandbox.bootstrap, client_file_of(sandbox.spec))
