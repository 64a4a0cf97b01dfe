"""``eosctl runbook test``: each scenario of a runbook in its own sandbox, on virtual time."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit_list
from eosctl.commands.options import ResultOptions
from eosctl.commands.session import perform
from eosctl.render.page import render_page
from eosctl.render.runbooks.rehearsal import REHEARSAL_COLUMNS, rehearsal_blocks
from eosctl.services.rehearse_runbooks import RehearsalRequest, rehearse_runbooks


def test_runbooks(
    invocation: Invocation,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUNBOOK...", help="Runbook ids, or files with a .scenarios.yaml next to them; all by default."
        ),
    ] = None,
    scenario: Annotated[
        str | None, typer.Option("--scenario", metavar="TEXT", help="Text that the names of scenarios must contain.")
    ] = None,
    interrupted: Annotated[
        bool, typer.Option("--interrupted", help="Kill and resume each run after every line of its journal.")
    ] = False,
    *,
    result: ResultOptions,
) -> None:
    """Test runbooks against injected faults.

    Each scenario injects its fault into its own sandbox, runs the runbook dry and with --yes, performs the manual
    steps, and runs every check when the runbook succeeded. Time is virtual. Exit code 3 when a scenario ends in an
    unexpected way, or when no scenario takes one of the branches; with --scenario or --interrupted, branches are not
    counted.

    With --interrupted, each run is killed after every line of its journal and resumed. It must reach the same result
    and leave the same cluster.

    Examples:
        eosctl runbook test hanging-transaction
        eosctl runbook test own-runbook.yaml --interrupted
    """
    request = RehearsalRequest(tuple(names or ()), scenario, interrupted)
    done = perform(rehearse_runbooks, request, invocation)
    name, items = ("runbook-test", "runbook test"), done.runbooks
    page = partial(render_page, rehearsal_blocks(items, ways=request.is_whole))
    emit_list(name, items, REHEARSAL_COLUMNS, result, invocation, page=page, code=done.exit_code)
