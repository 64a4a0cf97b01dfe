"""Commands are data until they are called: a command's module is imported when the command runs or shows its own help.

A group is a package whose ``__init__`` holds `COMMANDS`, a tuple of `Entry`. To add a command, write its function in a
module of its own and add the entry. The function takes its options as typer wants them and carries no decorator. Its
module imports its service and its renderer at the top of the file: only this command pays for them. Options that
several commands have are groups (`option_groups`), of which `options` has the common ones. The entry of a
group names the tuple (``"txn:COMMANDS"``), at the first level in `registry`, below that in the group above it. The
entry's summary is the first paragraph of the function's docstring; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from eosctl.commands.coercion import take_plain_values
from eosctl.commands.option_groups import expanded


class Entry(NamedTuple):
    """A command or a group of commands.

    Attributes:
        name: The word on the command line.
        place: ``module:attribute`` below `eosctl.commands`: the function of a command, or the entries of a group.
        summary: Its line in the help, the first paragraph of its own help.
        panel: Under which heading the help shows it; the usual one when None.
        settings: The settings of its context, such as ``ignore_unknown_options``.
        check_word: Of a group, ``module:function``: called with a word that names no command, to refuse it with advice.
    """

    name: str
    place: str
    summary: str
    panel: str | None = None
    settings: Mapping[str, Any] | None = None
    check_word: str = ""


class LazyGroup(TyperGroup):
    """A group that shows its entries as lines of the help until one of them is called."""

    entries: Mapping[str, Entry] = {}
    check_word = ""

    def __init__(self, **attributes: Any) -> None:
        """Show every command as a line of the help."""
        super().__init__(**attributes)
        for entry in self.entries.values():
            self.add_command(TyperCommand(entry.name, help=entry.summary, rich_help_panel=entry.panel))
        take_plain_values(self)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what is wrong with its arguments is reported without the passwords in them."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            # Typer brings a click of its own, so its errors are known by what they have.
            if hasattr(error, "format_message") and hasattr(error, "message"):
                from eosctl.model.redaction import redact_text  # only refused arguments need it

                error.message = redact_text(error.message)
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name, loaded, and what is left of them."""
        if self.check_word and args and args[0] not in self.entries:
            _imported(self.check_word)(args[0], tuple(self.entries))
        name, command, rest = super().resolve_command(ctx, args)
        return name, _loaded(self.entries[name]) if name else command, rest


def group_class(entries: Iterable[Entry], check_word: str = "") -> type[LazyGroup]:
    """Return a class for typer to make a group with these entries of; for ``check_word`` see `Entry`."""
    return type("Group", (LazyGroup,), {"entries": {one.name: one for one in entries}, "check_word": check_word})


def load_command(entry: Entry) -> Any:
    """Return a command as typer runs it, with all commands below it, for those who walk through them."""
    command = _loaded(entry)
    if isinstance(command, LazyGroup):
        for name, below in command.entries.items():
            command.commands[name] = load_command(below)
    return command


def _loaded(entry: Entry) -> Any:
    found = _imported(entry.place)
    if isinstance(found, tuple):
        app = typer.Typer(
            cls=group_class(found, entry.check_word), help=entry.summary, no_args_is_help=True, add_completion=False
        )
        command: Any = get_group(app)
    else:
        app = typer.Typer(add_completion=False)
        app.command(entry.name, context_settings=dict(entry.settings or {}))(expanded(found))
        command = get_command(app)
    take_plain_values(command)
    command.name = entry.name
    return command


def _imported(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(f"eosctl.commands.{module}"), attribute)
