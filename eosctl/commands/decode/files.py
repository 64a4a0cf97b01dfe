"""``eosctl decode index|time-index|txn-index|producer-snapshot|checkpoint|state-dir``: files of entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from eosctl.commands.decode.ending import write_and_end
from eosctl.commands.decode.options import BaseOffset, Dialect, Files, Form, Strict
from eosctl.commands.invocation import note
from eosctl.errors import UsageError
from eosctl.render.decode.entries import render_entries
from eosctl.render.decode.formats import DecodeFormat, KafkaDialect
from eosctl.render.decode.kafka_entries import (
    dump_entries,
    offset_index_text,
    snapshot_text,
    time_index_text,
    txn_index_text,
)
from eosctl.services.decode_entries import (
    CHECKPOINTS,
    PRODUCER_SNAPSHOTS,
    TXN_INDEXES,
    EntryFiles,
    entry_rows,
    offset_indexes,
    read_entries,
    time_indexes,
)
from eosctl.services.decode_input import DamageLog, sources
from eosctl.services.decode_state_dir import state_rows


def decode_index(
    files: Files, base_offset: BaseOffset = None, strict: Strict = False, output: Form = DecodeFormat.TABLE
) -> None:
    """Decode offset indexes (.index): the offset and position of every entry."""
    _decode(files, offset_indexes(base_offset), offset_index_text, output, strict=strict)


def decode_time_index(
    files: Files, base_offset: BaseOffset = None, strict: Strict = False, output: Form = DecodeFormat.TABLE
) -> None:
    """Decode time indexes (.timeindex): the timestamp and offset of every entry."""
    _decode(files, time_indexes(base_offset), time_index_text, output, strict=strict)


def decode_txn_index(files: Files, strict: Strict = False, output: Form = DecodeFormat.TABLE) -> None:
    """Decode transaction indexes (.txnindex): the aborted transactions whose marker lies in the segment."""
    _decode(files, TXN_INDEXES, txn_index_text, output, strict=strict)


def decode_producer_snapshot(
    files: Files, strict: Strict = False, output: Form = DecodeFormat.TABLE, dialect: Dialect = KafkaDialect.KAFKA_4_3
) -> None:
    """Decode producer snapshots (.snapshot): what a partition knew of its producers at an offset."""
    _decode(files, PRODUCER_SNAPSHOTS, lambda entries: snapshot_text(entries, dialect), output, strict=strict)


def decode_checkpoint(files: Files, strict: Strict = False, output: Form = DecodeFormat.TABLE) -> None:
    """Decode checkpoints: leader epochs, high watermarks, recovery points, log starts, cleaner's."""
    _refuse_dump(output)
    _decode(files, CHECKPOINTS, None, output, strict=strict)


def decode_state_dir(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="state.dir, or an application's or a task's directory in it.")
    ],
    strict: Strict = False,
    output: Form = DecodeFormat.TABLE,
) -> None:
    """Decode state directories of Kafka Streams: who holds them, tasks, stores, checkpointed changelog offsets."""
    _refuse_dump(output)
    damage = DamageLog(note, strict=strict)
    pieces = (piece for rows in state_rows(directories, damage) for piece in render_entries(rows, output))
    write_and_end(pieces, damage)


def _decode(
    files: list[str],
    kind: EntryFiles,
    dump: Callable[[Iterable[Any]], Iterable[str]] | None,
    output: DecodeFormat,
    *,
    strict: bool,
) -> NoReturn:
    damage = DamageLog(note, strict=strict)
    with sources(files, kind.matches) as found:
        read = read_entries(kind, found, damage)
        if dump is not None and output is DecodeFormat.KAFKA:
            write_and_end(dump_entries(read, dump), damage)
        write_and_end(render_entries(entry_rows(read), output), damage)


def _refuse_dump(output: DecodeFormat) -> None:
    if output is DecodeFormat.KAFKA:
        raise UsageError("Kafka's dump tool does not read these files.", "", "Choose another format.")
