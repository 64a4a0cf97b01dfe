"""``eosctl decode state-dir``: the state directories of Kafka Streams applications."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.decode.options import Form, Strict
from eosctl.errors import EosctlError, UsageError
from eosctl.render.decode.formats import DecodeFormat

if TYPE_CHECKING:
    from eosctl.commands.decode.decoding import DamageLog
    from eosctl.render.decode.entries import EntryRow
    from eosctl.storage.streams_state import Application


def decode_state_dir(
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="state.dir, or an application's or a task's directory in it."),
    ],
    strict: Strict = False,
    output: Form = DecodeFormat.TABLE,
) -> None:
    """Decode state directories of Kafka Streams: who holds them, tasks, stores, checkpointed changelog offsets."""
    from eosctl.commands.decode.decoding import DamageLog, write_all
    from eosctl.render.decode.entries import render_entries
    from eosctl.storage.streams_state import find_applications

    if output is DecodeFormat.KAFKA:
        raise UsageError("Kafka's dump tool does not read these files.", "", "Choose another format.")
    damage = DamageLog(strict=strict)
    try:
        for directory in directories:
            if not directory.is_dir():
                raise UsageError(f"{directory} is no directory.", "", "Name the state.dir of a Streams application.")
            applications = find_applications(directory)
            if not applications:
                raise UsageError(
                    f"{directory} holds no state of Kafka Streams.",
                    "There is neither a task's directory, such as 0_1, nor kafka-streams-process-metadata.",
                    "Name the state.dir of an application, or its directory in it.",
                )
            for application in applications:
                write_all(render_entries([_application_row(application, damage)], output))
                write_all(render_entries(_store_rows(application, damage), output))
    except OSError as error:
        raise EosctlError(
            f"Cannot read {error.filename}.",
            error.strerror or str(error),
            "Name files that exist and that you may read.",
        ) from error
    raise typer.Exit(1 if damage.count else 0)


def _application_row(application: Application, damage: DamageLog) -> EntryRow:
    from eosctl.render.decode.entries import EntryRow
    from eosctl.storage.errors import DamagedFile
    from eosctl.storage.streams_state import PROCESS_METADATA, read_process_id

    path = application.path
    process_id = None
    try:
        process_id = read_process_id(path)
    except DamagedFile as error:
        _tell(damage, path / PROCESS_METADATA, error.offset, error.what)
    fields = {
        "application_id": path.resolve().name,
        "process_id": process_id,
        "lock": application.lock.value,
        "lock_pid": application.lock_pid,
        "task_count": len(application.tasks),
    }
    return EntryRow(str(path), 0, fields)


def _store_rows(application: Application, damage: DamageLog) -> Iterator[EntryRow]:
    from eosctl.render.decode.entries import EntryRow
    from eosctl.storage.errors import DamagedFile
    from eosctl.storage.streams_state import CHECKPOINT, list_stores, read_checkpoint

    path, number = application.path, 0
    for task in application.tasks:
        try:
            checkpoint = read_checkpoint(task)
        except DamagedFile as error:
            _tell(damage, task / CHECKPOINT, error.offset, f"line {error.offset}: {error.what}")
            checkpoint = {}
        for store in list_stores(task, path.resolve().name, checkpoint):
            yield EntryRow(str(path), number, {"task": str(task.relative_to(path)), **store._asdict()})
            number += 1


def _tell(damage: DamageLog, path: Path, place: int, what: str) -> None:
    damage.tell(str(path), place, what)
    damage.stop_if_strict()
