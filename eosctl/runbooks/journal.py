"""The record of a run: one line of JSON an event, each with the hash of the line before it."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from eosctl.errors import ConfigFileError, EosctlError, UsageError
from eosctl.model.runbook_run import Entry
from eosctl.state_lines import append_line
from eosctl.user_folders import state_home

_START: Final = "0" * 64


def runbook_state() -> Path:
    """Return where journals, evidence and locks are kept: ``$XDG_STATE_HOME/eosctl/runbooks``."""
    return state_home() / "eosctl" / "runbooks"


class Journal:
    """Appends to one journal file; every line is on disk before the call returns."""

    def __init__(self, path: Path, now_ms: Callable[[], int], entries: tuple[Entry, ...] = ()) -> None:
        self.path = path
        self._now_ms = now_ms
        self._sequence = len(entries)
        self._previous = entries[-1].hash if entries else _START

    def write(self, event: str, step: str = "", **data: Any) -> None:
        """Append one event.

        Raises:
            EosctlError: It cannot be written: a step that cannot be recorded is not taken.
        """
        entry = Entry(
            sequence=self._sequence, time_ms=self._now_ms(), event=event, step=step, data=data, previous=self._previous
        )
        entry = msgspec.structs.replace(entry, hash=_hash(entry))
        try:
            append_line(self.path, msgspec.json.encode(entry), is_new=self._sequence == 0)
        except OSError as error:
            raise EosctlError(
                f"Cannot write the journal {self.path}: {error.strerror}.",
                "A step that cannot be recorded is not taken.",
                "Make the folder writable, or set XDG_STATE_HOME to one that is.",
            ) from error
        self._sequence, self._previous = self._sequence + 1, entry.hash


def read_journal(path: Path) -> tuple[Entry, ...]:
    """Read a journal and check that no line was changed, removed or put in between.

    An incomplete last line, as after a crash, is refused, too. If complete lines are missing at the end, the journal
    looks like a run that stopped there.

    Raises:
        UsageError: There is no such journal.
        ConfigFileError: It was tampered with, or is none; the message names the line.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise UsageError(
            f"There is no journal {path.stem}.", f"{path} does not exist.", "List: eosctl runbook journal"
        ) from None
    except OSError as error:
        raise ConfigFileError(
            f"Cannot read {path}.", error.strerror or str(error), "Read it as the user that ran the runbook."
        ) from error
    entries: list[Entry] = []
    if lines[-1]:
        raise _tampered(path, len(lines), "it is cut off in the middle")
    for number, line in enumerate(lines[:-1], 1):
        try:
            entry = msgspec.json.decode(line, type=Entry)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _tampered(path, number, "it is not an entry") from error
        if entry.sequence != number - 1 or entry.previous != (entries[-1].hash if entries else _START):
            raise _tampered(path, number, "it does not follow the line before it")
        if entry.hash != _hash(entry):
            raise _tampered(path, number, "its hash is not that of its content")
        entries.append(entry)
    if not entries or entries[0].event != "started":
        raise _tampered(path, 1, "a journal begins with the start of a run")
    return tuple(entries)


def _tampered(path: Path, number: int, why: str) -> ConfigFileError:
    return ConfigFileError(
        f"Line {number} of {path} cannot be trusted: {why}.",
        "The journal was changed after it was written, or the disk lost a part of it.",
        "Compare it with a copy, or start a new run; this one is not resumed.",
    )


def _hash(entry: Entry) -> str:
    return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(entry, hash=""))).hexdigest()


@contextmanager
def only_run(cluster_id: str, run_id: str) -> Iterator[None]:
    """Hold the lock of a cluster, so that this user runs one runbook on it at a time on this machine.

    The operating system lets go of it when the process ends, however it ends.

    Raises:
        UsageError: Another run holds it.
    """
    name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in cluster_id) or "unknown"
    path = runbook_state() / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 200, 0).decode(errors="replace") or "another run"
            raise UsageError(
                f"{holder} is running on cluster {cluster_id}: nothing was changed.",
                "Two runbooks on one cluster would see each other's half-done work.",
                "Wait until it has ended, or end it.",
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, run_id.encode(), 0)
        yield
    finally:
        os.close(descriptor)


def journal_path(run_id: str) -> Path:
    """Return the journal of a run.

    Raises:
        UsageError: The id is none.
    """
    if not run_id or any(not (letter.isalnum() or letter == "-") for letter in run_id):
        raise UsageError(
            f"{run_id!r} is not a run.", "Runs are named by time and runbook.", "List: eosctl runbook journal"
        )
    return runbook_state() / f"{run_id}.jsonl"


def list_runs() -> tuple[str, ...]:
    """Return the runs that have a journal, oldest first."""
    folder = runbook_state()
    return tuple(sorted(path.stem for path in folder.glob("*.jsonl"))) if folder.is_dir() else ()
