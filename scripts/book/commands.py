"""A page per command of the first level: what `--help` says, as Markdown."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import typer

from eosctl.commands.lazy import Entry, load_command
from eosctl.commands.registry import COMMANDS
from scripts.book.cells import cell, code


def command_pages() -> dict[str, str]:
    """Return the pages of all commands by the command's name, and their index as `index`."""
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
    context = typer.Context(command, info_name=f"eosctl {entry.name}")
    return "\n".join(_lines(command, context, 1)).rstrip() + "\n"


def _lines(command: Any, context: typer.Context, level: int) -> Iterator[str]:
    yield f"{'#' * level} {context.command_path}"
    yield ""
    yield from _paragraphs(command.help or "")
    if not getattr(command, "commands", None) or command.invoke_without_command:
        yield "```text"
        yield " ".join([context.command_path, *command.collect_usage_pieces(context)])
        yield "```"
        yield ""
    yield from _parameters(command, context)
    for name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from _lines(child, typer.Context(child, info_name=name, parent=context), min(level + 1, 4))


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in inspect.cleandoc(text).replace("\b\n", "").split("\n\n"):
        yield paragraph
        yield ""


def _parameters(command: Any, context: typer.Context) -> Iterator[str]:
    rows = [record for parameter in command.get_params(context) if (record := parameter.get_help_record(context))]
    rows = [(words, told) for words, told in rows if words != "--help"]
    if not rows:
        return
    yield "| Argument or option | |"
    yield "|---|---|"
    for words, told in rows:
        yield f"| {code(words)} | {cell(told)} |"
    yield ""
