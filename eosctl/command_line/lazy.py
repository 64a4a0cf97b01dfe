"""Commands are data until they are called: a command's module is imported only to run it or to show its help.

A group is a package whose ``__init__`` holds `COMMANDS`, a tuple of `Entry`. To add a command, write its function in a
module of its own and add the entry. The function takes its options as typer wants them and carries no decorator. Its
module imports its service and its renderer at the top of the file, so that only this command loads them. Options of
several commands are groups (`option_groups`); `options` has the common ones. The entry of a
group names the tuple (``"txn:COMMANDS"``), at the first level in `registry`, below that in the group above it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from eosctl.command_line.coercion import take_plain_values
from eosctl.command_line.former_options import FORMER, with_todays_names
from eosctl.command_line.help_text import HelpedCommand, Row, help_of
from eosctl.command_line.option_groups import expanded

#: The options that show help, which a command that is built once has wherever it is called from.
HELP: Final = {"help_option_names": ["-h", "--help"]}
#: The settings of a command that takes the command line of another program behind its own options.
COMMAND_AT_THE_END: Final = (("ignore_unknown_options", True), ("allow_interspersed_args", False))


class Entry(NamedTuple):
    """A command or a group of commands.

    Attributes:
        name: The word on the command line.
        place: ``module:attribute`` below `eosctl.commands`: the function of a command, or the entries of a group.
        summary: Its line in the help; empty for the first paragraph of the function's docstring. Groups have one, and
            commands of the first level, so that the help of the program reads no other file.
        panel: Under which heading the help shows it; the usual one when None.
        settings: The settings of its context, such as ``ignore_unknown_options``, with their values.
        check_word: Of a group, ``package.module:function``: called with a word that names no command, to refuse it with
            advice.
    """

    name: str
    place: str
    summary: str = ""
    panel: str | None = None
    settings: tuple[tuple[str, Any], ...] = ()
    check_word: str = ""


class LazyGroup(TyperGroup):
    """A group that shows its entries as lines of the help until one of them is called."""

    entries: Mapping[str, Entry] = {}
    check_word = ""
    first_steps: tuple[Row, ...] = ()

    def __init__(self, **attributes: Any) -> None:
        """Take a place holder for every command."""
        super().__init__(**attributes)
        for entry in self.entries.values():
            self.add_command(HelpedCommand(entry.name, rich_help_panel=entry.panel))
        take_plain_values(self)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options of the group; without any word it prints its help, which is not an error."""
        if not args and not ctx.resilient_parsing:
            sys.stdout.write(ctx.get_help() + "\n")
            ctx.exit()
        with _plain_refusals():
            return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the group: its commands by panel, then its options."""
        sections: dict[str, list[Row]] = {"Start here": list(self.first_steps)} if self.first_steps else {}
        for name, entry in self.entries.items():
            sections.setdefault(entry.panel or "Commands", []).append(Row(name, summary_of(entry)))
        formatter.write(help_of(self, ctx, sections))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, and give each its line of the help, which completion shows."""
        for name, entry in self.entries.items():
            self.commands[name].help = self.commands[name].help or summary_of(entry)
        return super().list_commands(ctx)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what is wrong with its arguments is reported as plain text without the passwords in them."""
        with _plain_refusals():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name, loaded, and what is left of them; ``help`` shows its help."""
        if args and args[0] == "help" and "help" not in self.entries:
            if not args[1:]:
                sys.stdout.write(ctx.get_help() + "\n")
                ctx.exit()
            args = [*args[1:], "--help"]
        if self.check_word and args and args[0] not in self.entries:
            _attribute(self.check_word)(args[0], tuple(self.entries))
        name, command, rest = super().resolve_command(ctx, args)
        return name, _loaded(self.entries[name]) if name else command, rest


@contextmanager
def _plain_refusals() -> Iterator[None]:
    """Keep secrets and characters that a terminal acts on out of what typer reports about arguments."""
    try:
        yield
    except Exception as error:
        # Typer brings a click of its own, so its errors are known by what they have.
        if hasattr(error, "format_message") and hasattr(error, "message"):
            from eosctl.model.redaction import redact_text  # only refused arguments need it
            from eosctl.render.escaping import visible, without_commands

            error.message = without_commands("\n".join(map(visible, redact_text(error.message).split("\n"))))
        raise


def summary_of(entry: Entry) -> str:
    """Return the line of an entry in the help; that of a function is read from its source, without importing it."""
    if entry.summary:
        return entry.summary
    module, _, name = entry.place.partition(":")
    source = Path(__file__).parent.parent / "commands" / f"{module.replace('.', '/')}.py"
    if source.exists():
        text = source.read_text("utf-8").partition(f"\ndef {name}(")[2].partition('"""')[2].partition('"""')[0]
    else:
        text = _imported(entry.place).__doc__ or ""  # an installation of compiled files alone
    return " ".join(text.partition("\n\n")[0].split())


def group_class(entries: Iterable[Entry], check_word: str = "", first_steps: tuple[Row, ...] = ()) -> type[LazyGroup]:
    """Return the class from which typer makes a group.

    Args:
        entries: The commands of the group.
        check_word: See `Entry`.
        first_steps: Commands that the help shows before all others.
    """
    named = {one.name: one for one in entries}
    return type("Group", (LazyGroup,), {"entries": named, "check_word": check_word, "first_steps": first_steps})


def load_command(entry: Entry) -> Any:
    """Return a command as typer runs it, with all commands below it, for those who walk through them."""
    command = _loaded(entry)
    if isinstance(command, LazyGroup):
        for name, below in command.entries.items():
            command.commands[name] = load_command(below)
    return command


def _loaded(entry: Entry) -> Any:
    return _built(entry, _imported(entry.place))


@cache
def _built(entry: Entry, found: Any) -> Any:
    """Return the command of a function, or of the entries of a group; a process that runs many builds each once."""
    if isinstance(found, tuple):
        app = typer.Typer(
            cls=group_class(found, entry.check_word), help=entry.summary, add_completion=False, context_settings=HELP
        )
        command: Any = get_group(app)
    else:
        app = typer.Typer(add_completion=False)
        app.command(entry.name, cls=_class_of(entry), context_settings=HELP | dict(entry.settings))(expanded(found))
        command = get_command(app)
    take_plain_values(command)
    command.name = entry.name
    return command


def _class_of(entry: Entry) -> type[HelpedCommand]:
    """Return the class of a command, which takes the former names of its options, too."""
    if entry.place not in FORMER:
        return HelpedCommand

    class Renamed(HelpedCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, with_todays_names(entry.place, args))

    return Renamed


def _imported(place: str) -> Any:
    return _attribute(f"eosctl.commands.{place}")


def _attribute(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)
