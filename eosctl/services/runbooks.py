"""The library of runbooks, their journals, and new runbooks."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from eosctl.errors import UsageError
from eosctl.lab.rehearsals.rehearsal import example_rehearsal, rehearsal_path
from eosctl.model.runbook import Runbook
from eosctl.model.runbook_run import Entry
from eosctl.runbooks.changes import change_costs as costs_of_changes
from eosctl.runbooks.journal import journal_path, read_journal
from eosctl.runbooks.journal import list_runs as runs_with_journal
from eosctl.runbooks.load import example, library
from eosctl.runbooks.sound import load_sound_runbook


class NewFile(NamedTuple):
    """A file to write."""

    path: Path
    text: str


def list_runbooks() -> tuple[Runbook, ...]:
    """Return the runbooks that come with eosctl."""
    return tuple(source.book for source in library())


def load_runbook(name: str) -> Runbook:
    """Return the runbook of an id or a file.

    Raises:
        UsageError: No runbook has this name, or it has a flaw.
        ConfigFileError: The file is not a runbook.
    """
    return load_sound_runbook(name)


def change_costs() -> dict[str, str]:
    """Return the risk of each change and whether it can be undone, in words, by its name."""
    return costs_of_changes()


def list_runs() -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    """Return the runs that have a journal, oldest first, each with the last entry of it.

    Raises:
        EosctlError: A journal cannot be read, or was changed.
    """
    return tuple((run, read_journal(journal_path(run))[-1:]) for run in runs_with_journal())


def read_run(run: str) -> tuple[Entry, ...]:
    """Return the entries of a run's journal.

    Raises:
        EosctlError: The journal cannot be read, or was changed.
    """
    return read_journal(journal_path(run))


def new_runbook(file: Path) -> tuple[NewFile, NewFile]:
    """Return a small, complete runbook, and scenarios that test it.

    Args:
        file: Where the runbook is to be written.

    Raises:
        UsageError: The name is not one of a runbook, or a file exists.
    """
    if file.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{file} cannot be the name of a runbook.", "Its name ends in .yaml.", "Choose another name.")
    for path in (file, rehearsal_path(file)):
        if path.exists():
            raise UsageError(f"{path} exists: nothing was written.", "", "Choose another name.")
    return NewFile(file, example(file.stem)), NewFile(rehearsal_path(file), example_rehearsal(file.stem))
