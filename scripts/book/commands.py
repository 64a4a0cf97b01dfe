"""Pages of the top-level commands: their `--help` as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import typer

from eosctl.command_line.help_text import manual_of, parameter_sections, usage_of
from eosctl.command_line.lazy import Entry, load_command
from eosctl.commands.registry import COMMANDS
from scripts.book.cells import cell, code


def command_pages() -> dict[str, str]:
    """Return the pages of all commands by name, and their index as `index`."""
    pages = {entry.name: _page(entry) for entry in COMMANDS}
    return pages | {"index": _index()}


def _index() -> str:
    lines = ["# Commands", "", "Each page is what `--help` says."]
    for panel, entries in groupby(COMMANDS, key=lambda entry: entry.panel):
        lines += ["", f"## {panel}", ""]
        lines += [f"- [`eosctl {entry.name}`]({entry.name}.md): {entry.summary}" for entry in entries]
    return "\n".join(lines) + "\n"


def _page(entry: Entry) -> str:
    command = load_command(entry)
    context = typer.Context(command, info_name=f"eosctl {entry.name}", **command.context_settings)
    return "\n".join(_lines(command, context, 1)).rstrip() + "\n"


def _lines(command: Any, context: typer.Context, level: int) -> Iterator[str]:
    yield f"{'#' * level} {context.command_path}"
    yield ""
    manual = manual_of(command.help or "")
    for paragraph in (manual.summary, *manual.paragraphs):
        yield from (paragraph, "")
    if not hasattr(command, "commands"):
        yield from _block([usage_of(command, context)])
        if manual.examples:
            yield from ("Examples:", "", *_block(manual.examples))
    yield from _parameters(command, context)
    for name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from _lines(child, typer.Context(child, info_name=name, parent=context), min(level + 1, 4))


def _block(lines: Iterable[str]) -> Iterator[str]:
    yield from ("```text", *lines, "```", "")


def _parameters(command: Any, context: typer.Context) -> Iterator[str]:
    rows = [row for rows in parameter_sections(command, context).values() for row in rows]
    rows = [row for row in rows if "--help" not in row.words]
    if not rows:
        return
    yield "| Argument or option | |"
    yield "|---|---|"
    for words, text in rows:
        yield f"| {code(words)} | {cell(text)} |"
    yield ""
