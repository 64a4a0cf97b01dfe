"""``eosctl runbook test``: each story of a runbook on a sandbox of its own, on virtual time."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.emit import emit, emit_list
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import ResultOptions
from eosctl.commands.session import perform
from eosctl.render.formats import FOR_PEOPLE
from eosctl.render.page import render_page
from eosctl.render.runbooks.rehearsal import REHEARSAL_COLUMNS, rehearsal_blocks
from eosctl.services.rehearse_runbooks import RehearsalRequest, rehearse_runbooks


def test_runbooks(
    invocation: Invocation,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUNBOOK...", help="Ids, or files with their .stories.yaml beside; all without any."),
    ] = None,
    story: Annotated[
        str | None, typer.Option("--story", metavar="TEXT", help="Only stories whose name contains this.")
    ] = None,
    interrupted: Annotated[
        bool, typer.Option("--interrupted", help="Kill each run after every line of its journal, and go on with it.")
    ] = False,
    *,
    result: ResultOptions,
) -> None:
    """Run runbooks from faults that are really made, on sandboxes of their own, and tell which ways were not taken.

    Each story makes its fault, runs the runbook dry and for real, lets people act where it hands over, and looks at
    the cluster with every check when it ended well. Time is virtual. Exit code 3 when a story does not end as told or
    a way out of a step is taken by none; with --story or --interrupted only the first counts.

    With --interrupted the process of each run is gone after each line of its journal in turn, and the run goes on as
    --resume does: it must still do what it is for, and leave the same cluster.
    """
    request = RehearsalRequest(tuple(names or ()), story, interrupted)
    done = perform(rehearse_runbooks, request, invocation)
    items = done.runbooks
    if result.output in FOR_PEOPLE:
        text = render_page(rehearsal_blocks(items, ways=request.is_whole), invocation.style())
        emit(text, result, code=done.exit_code)
    emit_list(("runbook-test", "runbook test"), items, REHEARSAL_COLUMNS, result, invocation, code=done.exit_code)
