"""``eosctl runbook list``, ``show``, ``journal`` and ``new``: the library, and the records of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, note, write_file, write_result
from eosctl.commands.emit import emit_list
from eosctl.commands.options import OutputFile, ResultOptions
from eosctl.render.runbooks.book import ShowFormat, render_book
from eosctl.render.runbooks.runbook import BOOK_COLUMNS, JOURNAL_COLUMNS, book_item, journal_items
from eosctl.services import runbooks


def list_all(invocation: Invocation, result: ResultOptions) -> None:
    """List the runbooks.

    Examples:
        eosctl runbook list
        eosctl runbook list -o json
    """
    items = tuple(map(book_item, runbooks.list_runbooks()))
    emit_list(("runbooks", "runbook list"), items, BOOK_COLUMNS, result, invocation)


def show(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(metavar="RUNBOOK", help="Runbook id, or a .yaml file.")],
    output: Annotated[ShowFormat, typer.Option("--output", "-o", help="Format of the tree.")] = ShowFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show a runbook as a decision tree.

    The tree is printed as text, as an HTML page, or as Mermaid.

    Examples:
        eosctl runbook show hanging-transaction
        eosctl runbook show hanging-transaction -o html --output-file runbook.html
    """
    write_result(
        render_book(runbooks.load_runbook(name), runbooks.change_costs(), output, invocation.style()), output_file
    )


def show_journal(
    invocation: Invocation,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Run id; all are listed by default.")] = None,
    *,
    result: ResultOptions,
) -> None:
    """Show the journal of a run, or list the runs.

    The journal is verified first: a journal that was changed afterwards is rejected.

    Examples:
        eosctl runbook journal
        eosctl runbook journal 1763747456648-hanging-transaction
    """
    found = runbooks.list_runs() if run is None else ((run, runbooks.read_run(run)),)
    items = tuple(item for name, entries in found for item in journal_items(name, entries))
    name = ("runbook-journal", "runbook journal")
    emit_list(name, items, JOURNAL_COLUMNS, result, invocation, empty="No runbook was run.")


def new(file: Annotated[Path, typer.Argument(metavar="FILE", help="New file to write.")]) -> None:
    """Write a small runbook as a starting point.

    The runbook works as written and comes with scenarios that test it.

    Examples:
        eosctl runbook new own-runbook.yaml
    """
    for one in runbooks.new_runbook(file):
        write_file(one.text, one.path)
    note(f"runbook: {file}\ncheck it with: eosctl runbook lint {file}\ntest it with:  eosctl runbook test {file}")
