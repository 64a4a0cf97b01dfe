"""``eosctl decode index|time-index|txn-index|producer-snapshot|checkpoint|state-dir``: files of entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from eosctl.command_line.invocation import note
from eosctl.commands.decode.ending import write_and_end
from eosctl.commands.decode.options import BaseOffset, Dialect, Files, Form, Strict
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
    """Decode offset indexes (.index).

    Prints the offset and file position of every entry.

    Examples:
        eosctl decode index data/orders-0/00000000000000000000.index
        eosctl decode index data/orders-0 -o tsv
    """
    _decode(files, offset_indexes(base_offset), offset_index_text, output, strict=strict)


def decode_time_index(
    files: Files, base_offset: BaseOffset = None, strict: Strict = False, output: Form = DecodeFormat.TABLE
) -> None:
    """Decode time indexes (.timeindex).

    Prints the timestamp and offset of every entry.

    Examples:
        eosctl decode time-index data/orders-0/00000000000000000000.timeindex
        eosctl decode time-index data/orders-0 -o tsv
    """
    _decode(files, time_indexes(base_offset), time_index_text, output, strict=strict)


def decode_txn_index(files: Files, strict: Strict = False, output: Form = DecodeFormat.TABLE) -> None:
    """Decode transaction indexes (.txnindex).

    Prints the aborted transactions whose abort marker is in the segment.

    Examples:
        eosctl decode txn-index data/orders-0/00000000000000000000.txnindex
        eosctl decode txn-index data/orders-0 -o json
    """
    _decode(files, TXN_INDEXES, txn_index_text, output, strict=strict)


def decode_producer_snapshot(
    files: Files, strict: Strict = False, output: Form = DecodeFormat.TABLE, dialect: Dialect = KafkaDialect.KAFKA_4_3
) -> None:
    """Decode producer snapshots (.snapshot).

    Prints the producer state of a partition at the snapshot's offset.

    Examples:
        eosctl decode producer-snapshot data/orders-0/00000000000000001200.snapshot
        eosctl decode producer-snapshot data/orders-0 -o json
    """
    _decode(files, PRODUCER_SNAPSHOTS, lambda entries: snapshot_text(entries, dialect), output, strict=strict)


def decode_checkpoint(files: Files, strict: Strict = False, output: Form = DecodeFormat.TABLE) -> None:
    """Decode checkpoint files.

    Reads leader epochs, high watermarks, recovery points, log start offsets, and the log cleaner's checkpoint.

    Examples:
        eosctl decode checkpoint data/replication-offset-checkpoint
        eosctl decode checkpoint data/orders-0/leader-epoch-checkpoint
    """
    _refuse_dump(output)
    _decode(files, CHECKPOINTS, None, output, strict=strict)


def decode_state_dir(
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="state.dir, or the directory of an application or a task in it."),
    ],
    strict: Strict = False,
    output: Form = DecodeFormat.TABLE,
) -> None:
    """Decode state directories of Kafka Streams.

    Prints the owning process, tasks, stores, and checkpointed changelog offsets.

    Examples:
        eosctl decode state-dir /tmp/kafka-streams
        eosctl decode state-dir /tmp/kafka-streams/orders-app/0_1 -o json
    """
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
    with sources(files, kind.matches, is_text=kind.is_text) as found:
        read = read_entries(kind, found, damage)
        if dump is not None and output is DecodeFormat.KAFKA:
            write_and_end(dump_entries(read, dump), damage)
        write_and_end(render_entries(entry_rows(read), output), damage)


def _refuse_dump(output: DecodeFormat) -> None:
    if output is DecodeFormat.KAFKA:
        raise UsageError("Kafka's dump tool does not read these files.", "", "Choose another format.")
