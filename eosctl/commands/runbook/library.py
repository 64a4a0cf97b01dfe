"""``eosctl runbook list``, ``show``, ``journal`` and ``new``: the library, and the records of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.emit import emit_list
from eosctl.commands.invocation import Invocation, note, write_file, write_result
from eosctl.commands.options import OutputFile, ResultOptions
from eosctl.render.runbooks.book import ShowFormat, render_book
from eosctl.render.runbooks.runbook import BOOK_COLUMNS, JOURNAL_COLUMNS, book_item, journal_items
from eosctl.services import runbooks


def list_all(invocation: Invocation, result: ResultOptions) -> None:
    """List the runbooks that come with eosctl."""
    items = tuple(map(book_item, runbooks.list_runbooks()))
    emit_list(("runbooks", "runbook list"), items, BOOK_COLUMNS, result, invocation)


def show(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(metavar="RUNBOOK", help="An id of the library, or a file that ends in .yaml.")],
    output: Annotated[ShowFormat, typer.Option("--output", "-o", help="How to draw it.")] = ShowFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Draw a runbook as a decision tree: as text, as a page of HTML, or as Mermaid."""
    write_result(
        render_book(runbooks.load_runbook(name), runbooks.change_costs(), output, invocation.style()), output_file
    )


def show_journal(
    invocation: Invocation,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="A run; all are listed without one.")] = None,
    *,
    result: ResultOptions,
) -> None:
    """Show the events of a run after checking that nobody changed its journal, or list the runs."""
    found = runbooks.list_runs() if run is None else ((run, runbooks.read_run(run)),)
    items = tuple(item for name, entries in found for item in journal_items(name, entries))
    name = ("runbook-journal", "runbook journal")
    emit_list(name, items, JOURNAL_COLUMNS, result, invocation, empty="No runbook was run.")


def new(file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it; it must not exist.")]) -> None:
    """Write a small runbook that runs, with stories that test it, to start one's own from."""
    for one in runbooks.new_runbook(file):
        write_file(one.text, one.path)
    note(f"runbook: {file}\ncheck it with: eosctl runbook lint {file}\ntest it with:  eosctl runbook test {file}")
