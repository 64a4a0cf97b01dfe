"""The text of ``--help``: summary, usage, arguments and options by panel, and the examples of the docstring.

The docstring of a command is its help: a summary, paragraphs, and a last section ``Examples:`` with one command a line.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args, get_origin

import typer
from typer.core import TyperCommand

from eosctl.command_line.invocation import invocation_of
from eosctl.command_line.written_files import OUTPUTS, check_written_files
from eosctl.render.terminal import style_for

#: Columns of the help where the output is not a terminal, and the most that it uses on one.
_WIDTH: Final = 80
_WIDEST: Final = 100
_LEFT: Final = 28
#: Choices longer than this are listed in the description.
_LONGEST_CHOICES: Final = 24
#: Stands for a space at which no line is broken.
_TIED: Final = "\0"
_BOLD: Final = "\x1b[1m{}\x1b[0m"
_KINDS: Final = {int: "N", float: "NUMBER", Path: "FILE", str: "TEXT"}


class Manual(NamedTuple):
    """The parts of a command's docstring."""

    summary: str
    paragraphs: tuple[str, ...]
    examples: tuple[str, ...]


class Row(NamedTuple):
    """An option, argument or command: its words, and what it is for."""

    words: str
    text: str


class HelpedCommand(TyperCommand):
    """A command with this help, which does not write two results to one file."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        if not OUTPUTS.isdisjoint(ctx.params):
            words = {one.name: max(one.opts, key=len) for one in self.get_params(ctx)}
            check_written_files(ctx.params, words)
        return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the command."""
        formatter.write(help_of(self, ctx))


def manual_of(docstring: str) -> Manual:
    """Return the parts of a docstring, with paragraphs unwrapped."""
    text, _, examples = inspect.cleandoc(docstring).partition("Examples:\n")
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]
    lines = inspect.cleandoc(examples).splitlines()
    return Manual(paragraphs[0] if paragraphs else "", tuple(paragraphs[1:]), tuple(lines))


def help_of(command: Any, context: Any, sections: Mapping[str, Iterable[Row]] | None = None) -> str:
    """Return the help of a command or group.

    Args:
        command: The command.
        context: Its context.
        sections: Further sections by heading, such as the commands of a group. They stand before the options.
    """
    style = style_for(sys.stdout, invocation_of(context).color)
    width = min(style.width or _WIDTH, _WIDEST)
    heading = _BOLD.format if style.color else str
    manual = manual_of(command.help or "")
    lines = [manual.summary, "", f"{heading('Usage:')} {usage_of(command, context)}", ""]
    for paragraph in manual.paragraphs:
        lines += [*textwrap.wrap(paragraph, width, break_long_words=False, break_on_hyphens=False), ""]
    for title, rows in [*(sections or {}).items(), *parameter_sections(command, context).items()]:
        lines += [heading(f"{title}:"), *_table(list(rows), width), ""]
    if manual.examples:
        lines += [heading("Examples:"), *(f"  {line}" for line in manual.examples), ""]
    return "\n".join(lines).rstrip() + "\n"


def usage_of(command: Any, context: Any) -> str:
    """Return how a command is called."""
    parameters = command.get_params(context)
    words = [context.command_path]
    words += ["[OPTIONS]"] if any(isinstance(one, typer.core.TyperOption) for one in parameters) else []
    words += [argument_words(one) for one in parameters if isinstance(one, typer.core.TyperArgument)]
    words += ["COMMAND"] if hasattr(command, "commands") else []
    return " ".join(words)


def parameter_sections(command: Any, context: Any) -> dict[str, list[Row]]:
    """Return the arguments and options of a command by heading; a command's own ``--help`` is not listed."""
    sections: dict[str, list[Row]] = {}
    for one in command.get_params(context):
        if one.hidden or ("--help" in one.opts and context.parent):
            continue
        if isinstance(one, typer.core.TyperArgument):
            sections.setdefault("Arguments", []).append(Row(argument_words(one), _description(one)))
        else:
            panel = getattr(one, "rich_help_panel", None) or "Options"
            sections.setdefault(panel, []).append(Row(option_words(one), _description(one)))
    return sections


def argument_words(argument: Any) -> str:
    """Return an argument as usage shows it: ``FILE``, ``[FILE]``, or ``[FILE]...``."""
    metavar = argument.metavar or argument.name.upper()
    if metavar.startswith("--") or " " in metavar:
        return str(metavar)  # written out, as it is more than a name
    name = metavar.removesuffix("...").removeprefix("[").removesuffix("]")
    return f"{name if argument.required else f'[{name}]'}{'...' if argument.nargs == -1 else ''}"


def option_words(option: Any) -> str:
    """Return an option as the help lists it: the short name first, with a word for its value."""
    names = ", ".join(sorted(option.opts, key=lambda name: name.startswith("--")))
    if option.secondary_opts:
        return f"{names} / {', '.join(option.secondary_opts)}"
    if getattr(option, "is_flag", False):
        return names
    return f"{names} {option.metavar or _value_word(option)}"


def _kind(parameter: Any) -> Any:
    kind = parameter.type_descriptor.annotation
    return get_args(kind)[0] if get_origin(kind) is list else kind


def choices_of(parameter: Any) -> list[str]:
    """Return the values that a parameter can have if it is an enumeration, else an empty list."""
    kind = _kind(parameter) if hasattr(parameter, "type_descriptor") else None
    return [str(member.value) for member in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []


def _value_word(option: Any) -> str:
    choices = "|".join(choices_of(option))
    if choices and len(choices) <= _LONGEST_CHOICES:
        return choices
    return option.name.upper().replace("_", "-") if choices else _KINDS.get(_kind(option), "VALUE")


def _description(parameter: Any) -> str:
    text, notes = parameter.help or "", []
    choices = choices_of(parameter)
    if choices and (parameter.metavar or len("|".join(choices)) > _LONGEST_CHOICES):
        text = f"{text} One of {', '.join(choices)}."
    if (variable := parameter.envvar) is not None:
        notes.append(f"env: {variable}")
    default = parameter.default
    if (
        parameter.show_default is True
        and default not in (None, "", ())
        and not (isinstance(default, bool | list) or callable(default))
    ):
        notes.append(f"default: {default.value if isinstance(default, Enum) else default}")
    if parameter.required and not isinstance(parameter, typer.core.TyperArgument):
        notes.append("required")
    return f"{text} [{'; '.join(notes)}]".strip() if notes else text


def _table(rows: Sequence[Row], width: int) -> Iterator[str]:
    left = min(max((len(row.words) for row in rows), default=0), _LEFT) + 4
    for words, text in rows:
        whole = re.sub(r"\[[^\]]+\]$", lambda note: note[0].replace(" ", _TIED), text)
        wrapped = textwrap.wrap(whole, width - left, break_long_words=False, break_on_hyphens=False) or [""]
        wrapped = [line.replace(_TIED, " ") for line in wrapped]
        if len(words) + 4 > left:
            yield f"  {words}"
        else:
            yield f"  {words:{left - 2}}{wrapped.pop(0)}".rstrip()
        for line in wrapped:
            yield f"{'':{left}}{line}"
