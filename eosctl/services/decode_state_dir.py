"""Decode the state directories of Kafka Streams applications."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from eosctl.analysis.decode.entry_row import EntryRow
from eosctl.errors import UsageError
from eosctl.services.decode_input import DamageLog
from eosctl.storage.errors import DamagedFile
from eosctl.storage.streams_state import (
    CHECKPOINT,
    PROCESS_METADATA,
    Application,
    find_applications,
    list_stores,
    read_checkpoint,
    read_process_id,
)


def state_rows(directories: Sequence[Path], damage: DamageLog) -> Iterator[list[EntryRow]]:
    """Yield, for each application, a row that describes it, then the rows of its stores.

    Args:
        directories: ``state.dir``, or directories of applications and tasks in it.
        damage: Receives the files that cannot be read.

    Raises:
        UsageError: A directory does not exist, or holds no state.
        OSError: A file cannot be read.
    """
    for directory in directories:
        if not directory.is_dir():
            raise UsageError(f"{directory} is not a directory.", "", "Name the state.dir of a Streams application.")
        applications = find_applications(directory)
        if not applications:
            raise UsageError(
                f"{directory} contains no state of Kafka Streams.",
                "It has neither a task's directory, such as 0_1, nor kafka-streams-process-metadata.",
                "Name the state.dir of an application, or its directory in it.",
            )
        for application in applications:
            yield [_application_row(application, damage)]
            yield list(_store_rows(application, damage))


def _application_row(application: Application, damage: DamageLog) -> EntryRow:
    path = application.path
    process_id = None
    try:
        process_id = read_process_id(path)
    except DamagedFile as error:
        damage.add(str(path / PROCESS_METADATA), error.offset, error.what)
        damage.stop_if_strict()
    fields = {
        "application_id": path.resolve().name,
        "process_id": process_id,
        "lock": application.lock.value,
        "lock_pid": application.lock_pid,
        "task_count": len(application.tasks),
    }
    return EntryRow(str(path), 0, fields)


def _store_rows(application: Application, damage: DamageLog) -> Iterator[EntryRow]:
    path, number = application.path, 0
    for task in application.tasks:
        try:
            checkpoint = read_checkpoint(task)
        except DamagedFile as error:
            damage.add_line(str(task / CHECKPOINT), error.offset, error.what)
            damage.stop_if_strict()
            checkpoint = {}
        for store in list_stores(task, path.resolve().name, checkpoint):
            yield EntryRow(str(path), number, {"task": str(task.relative_to(path)), **store._asdict()})
            number += 1
