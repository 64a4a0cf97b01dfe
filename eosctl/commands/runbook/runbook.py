"""``eosctl runbook``: procedures that look, decide, ask, act, verify, and leave a record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.diagnosis_output import FindingResultOptions, write_judged
from eosctl.commands.gate import GateAtWarning
from eosctl.commands.invocation import Invocation, invocation_of, note, write_file, write_result
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    Bootstrap,
    CommandConfig,
    Output,
    OutputFile,
    Overrides,
    Profile,
    SecondLookAfter,
    Timeout,
)
from eosctl.commands.session import callbacks
from eosctl.errors import UsageError
from eosctl.render.formats import OutputFormat
from eosctl.render.runbooks.runbook import ShowFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.runbooks.book import Runbook, Value

Name = Annotated[str, typer.Argument(metavar="RUNBOOK", help="An id of the library, or a file that ends in .yaml.")]


def list_runbooks(context: typer.Context, output: Output = OutputFormat.TABLE, output_file: OutputFile = None) -> None:
    """List the runbooks that come with eosctl."""
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.runbooks.runbook import BOOK_COLUMNS, book_item
    from eosctl.runbooks.load import library

    invocation = invocation_of(context)
    items = tuple(book_item(source.book) for source in library())
    result = listing("runbooks", "runbook list", invocation.now_ms(), items)
    write_result(render_listing(result, BOOK_COLUMNS, output, invocation.style()), output_file)


def show_runbook(
    context: typer.Context,
    name: Name,
    output: Annotated[ShowFormat, typer.Option("--output", "-o", help="How to draw it.")] = ShowFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Draw a runbook as a decision tree: as text, as a page of HTML, or as Mermaid."""
    from eosctl.render.machine import render_json, render_yaml
    from eosctl.render.page import render_page
    from eosctl.render.runbooks.graph import render_mermaid, render_page_of
    from eosctl.render.runbooks.runbook import show_blocks
    from eosctl.runbooks.sound import load_sound_runbook

    book = load_sound_runbook(name)
    match output:
        case ShowFormat.JSON:
            text = render_json(book)
        case ShowFormat.YAML:
            text = render_yaml(book)
        case ShowFormat.MERMAID:
            text = render_mermaid(book)
        case ShowFormat.HTML:
            text = render_page_of(book)
        case ShowFormat.TABLE:
            style = invocation_of(context).style()
            text = render_page(show_blocks(book, style.width), style)
    write_result(text, output_file)


def run_runbook(
    context: typer.Context,
    name: Name,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", "-i", metavar="NAME=VALUE", help="An input; repeatable.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Carry it out; without this it only looks and plans.")] = False,
    confirm: Annotated[
        list[str] | None,
        typer.Option("--confirm", metavar="TEXT", help="Answers a question where nobody can type; repeatable."),
    ] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="Go on with a run that was cut off or handed over.")
    ] = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Run a runbook: without --yes it only looks and says what it would do first.

    Just before a change the deciding question is asked again; another answer stops the run. Every step is written to a
    journal, from which a run that was cut off goes on. Exit codes: 0 verified, or planned; 1 could not be run; 2 usage;
    5 no action needed; 6 a person has to go on; 7 blocked, nothing was changed; 8 failed after a change.
    """
    from eosctl.commands.runbook.run import Order, carry_out
    from eosctl.render.envelope import listing
    from eosctl.render.machine import render_json, render_tsv, render_yaml
    from eosctl.render.page import render_page
    from eosctl.render.runbooks.runbook import run_blocks
    from eosctl.runbooks.sound import load_sound_runbook

    book = load_sound_runbook(name)
    if resume is not None and not yes:
        raise UsageError("--resume needs --yes.", "A dry run has no journal, so only real runs go on.", "Add --yes.")
    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    order = Order(name, _inputs(book, inputs or []), yes, tuple(confirm or ()), resume, second_look_after)
    item, code = carry_out(order, connection, invocation)
    result = listing("runbook-run", "runbook run", invocation.now_ms(), (item,))
    match output:
        case OutputFormat.JSON:
            text = render_json(result)
        case OutputFormat.YAML:
            text = render_yaml(result)
        case OutputFormat.TSV:
            text = render_tsv([[item.runbook, item.run, item.outcome, item.step, item.message]])
        case _:
            text = render_page(run_blocks(item, connection.option_text), invocation.style())
    write_result(text, output_file)
    raise typer.Exit(code)


def show_journal(
    context: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="A run; all are listed without one.")] = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show the events of a run after checking that nobody changed its journal, or list the runs."""
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.runbooks.runbook import JOURNAL_COLUMNS, journal_items
    from eosctl.runbooks.journal import journal_path, list_runs, read_journal

    invocation = invocation_of(context)
    if run is None:
        items = tuple(
            item for name in list_runs() for item in journal_items(name, read_journal(journal_path(name)))[-1:]
        )
    else:
        items = journal_items(run, read_journal(journal_path(run)))
    result = listing("runbook-journal", "runbook journal", invocation.now_ms(), items)
    text = render_listing(result, JOURNAL_COLUMNS, output, invocation.style(), empty="No runbook was run.")
    write_result(text, output_file)


def lint(
    invocation: Invocation,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUNBOOK...", help="Ids or files; the whole library without any."),
    ] = None,
    *,
    result: FindingResultOptions,
    gate: GateAtWarning,
) -> None:
    """Find flaws of runbooks: unknown probes and facts, steps that lead nowhere, and unconfirmed changes.

    Steps with procedures that are known to destroy data are findings too, with the safe procedure. Exit codes: 0 no
    finding at or above --fail-on (a warning, unless named), 2 usage or a malformed file, 3 findings, 4 with
    --require-complete when flaws keep steps or paths from being judged.
    """
    from eosctl.render.runbooks.lint import render_runbook_lint
    from eosctl.services.lint_runbooks import lint_runbooks

    with callbacks(invocation.now_ms) as shown:
        linted = lint_runbooks(tuple(names or ()), gate.options, shown)
    text = render_runbook_lint(linted.names, linted.judged, result.output, invocation.style(), result.header)
    write_judged(linted.judged, text, result)


def new_runbook(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it; it must not exist.")],
) -> None:
    """Write a small runbook that runs, with stories that test it, to start one's own from."""
    from eosctl.lab.rehearsals.story import example_stories, stories_path
    from eosctl.runbooks.load import example

    if file.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{file} is no name for a runbook.", "Its name ends in .yaml.", "Choose another name.")
    for path in (file, stories_path(file)):
        if path.exists():
            raise UsageError(f"{path} exists: nothing was written.", "", "Choose another name.")
    write_file(example(file.stem), file)
    write_file(example_stories(file.stem), stories_path(file))
    note(f"runbook: {file}\ncheck it with: eosctl runbook lint {file}\ntest it with:  eosctl runbook test {file}")


def _inputs(book: Runbook, given: list[str]) -> dict[str, Value]:
    found: dict[str, Value] = {name: spec.default for name, spec in book.inputs.items() if spec.default is not None}
    for text in given:
        name, equals, value = text.partition("=")
        spec = book.inputs.get(name)
        if spec is None or not equals:
            known = ", ".join(book.inputs) or "none"
            raise UsageError(f"--input {text}: there is no such input.", f"Its inputs: {known}.", "Write NAME=VALUE.")
        if spec.type == "int":
            try:
                found[name] = int(value)
            except ValueError:
                raise UsageError(f"--input {text}: it is no number.", spec.about, "Write a whole number.") from None
        else:
            found[name] = value
    return found
