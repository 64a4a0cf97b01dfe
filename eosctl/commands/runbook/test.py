"""``eosctl runbook test``: each story of a runbook on a sandbox of its own, on virtual time."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import ExitCode, UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat


def test_runbooks(
    context: typer.Context,
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
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Run runbooks from faults that are really made, on sandboxes of their own, and tell which ways were not taken.

    Each story makes its fault, runs the runbook dry and for real, lets people act where it hands over, and looks at
    the cluster with every check when it ended well. Time is virtual. Exit code 3 when a story does not end as told or
    a way out of a step is taken by none; with --story or --interrupted only the first counts.

    With --interrupted the process of each run is gone after each line of its journal in turn, and the run goes on as
    --resume does: it must still do what it is for, and leave the same cluster.
    """
    from eosctl.lab.rehearsals.rehearse import rehearse
    from eosctl.lab.rehearsals.story import rehearsal_of, rehearsals
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.page import render_page
    from eosctl.render.progress import show_progress
    from eosctl.render.runbooks.rehearsal import REHEARSAL_COLUMNS, rehearsal_blocks, rehearsal_item
    from eosctl.runbooks.sound import load_sound_runbook

    invocation = invocation_of(context)
    whole = story is None and not interrupted
    chosen = [(load_sound_runbook(name), rehearsal_of(name)) for name in names or rehearsals()]
    items = []
    with show_progress() as progress:
        for book, rehearsal in chosen:
            stories = [told for told in rehearsal.stories if story is None or story.lower() in told.name.lower()]
            performances = []
            for told in stories:
                progress(f"{book.id}: {told.name}")
                performances.append(rehearse(book, told, interrupted=interrupted))
            if performances:
                items.append(rehearsal_item(book, performances))
    if not items:
        raise UsageError(f"No story has {story!r} in its name.", "Nothing was tested.", "Leave --story out.")
    result = listing("runbook-test", "runbook test", invocation.now_ms(), tuple(items))
    if output in FOR_PEOPLE:
        text = render_page(rehearsal_blocks(items, ways=whole), invocation.style())
    else:
        text = render_listing(result, REHEARSAL_COLUMNS, output)
    write_result(text, output_file)
    failed = any(not item.is_sound if whole else item.failed for item in items)
    raise typer.Exit(ExitCode.FINDINGS if failed else 0)
