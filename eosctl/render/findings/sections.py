"""The parts of text for people that all commands with findings share: first actions and suppressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.finding import Command
from eosctl.findings.grouping import Action
from eosctl.render.page import Block, Field, Grid, Line
from eosctl.text import count_text


def first_blocks(actions: Sequence[Action]) -> Iterator[Block]:
    """Yield what to do first."""
    if not actions:
        return
    yield Line("")
    yield Line("FIRST", "bold")
    for number, action in enumerate(actions, 1):
        settles = f", {count_text(action.settles, 'finding')}" if action.settles > 1 else ""
        ids = f" ({', '.join(action.check_ids)}{settles})" if action.check_ids else ""
        yield Field(f"{number}.", f"{action.step}{ids}")
        if action.command is not None:
            yield command_block("", action.command)


def suppressed_blocks(diagnosis: Diagnosis) -> Iterator[Block]:
    """Yield the findings that do not count, with the reasons, and what is wrong with suppressions."""
    hidden, remarks = diagnosis.suppressed, diagnosis.remarks
    if not hidden and not remarks:
        return
    yield Line("")
    yield Line("SUPPRESSED", "bold")
    if hidden:
        yield Grid(tuple((one.check_id, str(one.resource), reason) for one, reason in hidden), indent=2)
    for remark in remarks:
        yield Line(f"  {remark}", "yellow")


def command_block(label: str, command: Command) -> Field:
    """Return a command with its note."""
    return Field(label, f"$ {command.line}{note_text(command)}", "bold")


def note_text(command: Command) -> str:
    """Return the note of a command as a shell comment."""
    return f"    # {command.note}" if command.note else ""
