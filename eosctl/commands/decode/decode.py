"""``eosctl decode``: what Kafka's files hold, one line at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eosctl.analysis.decode.selection import Only, Selection
from eosctl.commands.decode.live import Live
from eosctl.commands.decode.options import (
    FILTER,
    BaseOffset,
    Dialect,
    Files,
    Form,
    Keys,
    Offsets,
    ProducerIds,
    Strict,
    Times,
    Values,
    parse_bounds,
    parse_times,
)
from eosctl.commands.options import Bootstrap, CommandConfig, Overrides, Profile, Timeout
from eosctl.errors import UsageError
from eosctl.render.decode.formats import BytesForm, DecodeFormat, KafkaDialect
from eosctl.services.connection import Connection
from eosctl.storage.names import Suffix, is_metadata_snapshot

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from eosctl.commands.decode.decoding import DamageLog, Source
    from eosctl.render.decode.entries import EntryRow

LIVE = "From a cluster"


def decode_segment(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE|DIR|PATTERN...", help="What to decode; - is standard input; none with --topic."),
    ] = None,
    topic: Annotated[
        str | None, typer.Option("--topic", help="Read this topic from a cluster.", rich_help_panel=LIVE)
    ] = None,
    partitions: Annotated[
        list[int] | None,
        typer.Option("--partition", min=0, help="Only this partition; repeatable.", rich_help_panel=LIVE),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="OFFSET|@TIME",
            help="Begin here: 1200, @-1h, @2026-11-21T09:00:00Z.",
            rich_help_panel=LIVE,
        ),
    ] = None,
    max_bytes: Annotated[
        int, typer.Option("--max-bytes", min=1, help="Fetch at most this much of a partition.", rich_help_panel=LIVE)
    ] = 256 << 20,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    records: Annotated[bool, typer.Option("--records", "-r", help="Show the records of each batch too.")] = False,
    summary: Annotated[bool, typer.Option("--summary", help="Show only what there is in all.")] = False,
    outcomes: Annotated[
        bool, typer.Option("--outcomes", help="Say of each batch whether its transaction was committed or aborted.")
    ] = False,
    producer_ids: ProducerIds = None,
    offsets: Offsets = None,
    times: Times = None,
    only: Annotated[Only | None, typer.Option("--only", help="Only these batches.", rich_help_panel=FILTER)] = None,
    keys: Keys = BytesForm.UTF8,
    values: Values = BytesForm.UTF8,
    strict: Strict = False,
    output: Form = DecodeFormat.TABLE,
    dialect: Dialect = KafkaDialect.KAFKA_4_3,
) -> None:
    """Decode .log files: batches, and with --records their records; or a topic of a cluster, with --topic.

    Damage is told on standard error with file and byte, and reading goes on at the next valid batch; exit code 1.
    """
    from eosctl.commands.decode.decoding import (
        DamageLog,
        dump_logs,
        segment_files,
        sources,
        stream_logs,
        summarize,
        write_all,
    )
    from eosctl.render.decode.batches import log_writer

    selection = Selection(frozenset(producer_ids or ()), parse_bounds(offsets, "--offset"), parse_times(times), only)
    damage = DamageLog(strict=strict)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    opened: AbstractContextManager[list[Source]]
    if topic is None:
        opened = sources(_only_files(files, connection, begin), segment_files)
    else:
        opened = _live(files, Live(topic, tuple(partitions or ()), begin, max_bytes), connection)
    with opened as found:
        if summary:
            from eosctl.render.decode.summary_text import render_summary

            write_all([render_summary(len(found), summarize(found, selection, damage), output)])
        elif output is DecodeFormat.KAFKA:
            write_all(dump_logs(found, damage, dialect, deep=records))
        else:
            writer = log_writer(output, keys, values)
            needs = outcomes or selection.needs_outcomes
            write_all(stream_logs(found, selection, writer, damage, deep=records, with_outcomes=needs))
    raise typer.Exit(1 if damage.count else 0)


def _only_files(files: list[str] | None, connection: Connection, begin: str | None) -> list[str]:
    if connection.is_given or begin is not None:
        raise UsageError("A cluster was named without a topic.", "Files need no cluster.", "Add --topic NAME.")
    if not files:
        raise UsageError("There is nothing to decode.", "", "Name files, or a topic of a cluster with --topic.")
    return files


def _live(files: list[str] | None, live: Live, connection: Connection) -> AbstractContextManager[list[Source]]:
    import time

    from eosctl.commands.decode.live import live_sources

    if files:
        raise UsageError("Files and --topic were both given.", "One of them is decoded.", "Leave one of them out.")
    return live_sources(live, connection, time.time_ns() // 1_000_000)


def decode_index(
    files: Files, base_offset: BaseOffset = None, strict: Strict = False, output: Form = DecodeFormat.TABLE
) -> None:
    """Decode offset indexes (.index): the offset and position of every entry."""
    from eosctl.render.decode.kafka_text import offset_index_text
    from eosctl.storage.offset_index import ENTRY_BYTES, decode_offset_entries

    def read(source: Source, damage: DamageLog) -> Iterable[Any]:
        return _index_entries(source, damage, base_offset, ENTRY_BYTES, decode_offset_entries)

    _decode_small(files, Suffix.OFFSET_INDEX, read, offset_index_text, output, strict=strict)


def decode_time_index(
    files: Files, base_offset: BaseOffset = None, strict: Strict = False, output: Form = DecodeFormat.TABLE
) -> None:
    """Decode time indexes (.timeindex): the timestamp and offset of every entry."""
    from eosctl.render.decode.kafka_text import time_index_text
    from eosctl.storage.time_index import ENTRY_BYTES, decode_time_entries

    def read(source: Source, damage: DamageLog) -> Iterable[Any]:
        return _index_entries(source, damage, base_offset, ENTRY_BYTES, decode_time_entries)

    _decode_small(files, Suffix.TIME_INDEX, read, time_index_text, output, strict=strict)


def decode_txn_index(files: Files, strict: Strict = False, output: Form = DecodeFormat.TABLE) -> None:
    """Decode transaction indexes (.txnindex): the aborted transactions whose marker lies in the segment."""
    from eosctl.render.decode.kafka_text import txn_index_text
    from eosctl.storage.txn_index import ENTRY_BYTES, decode_aborted_txns
    from eosctl.wire.errors import WireError

    def read(source: Source, damage: DamageLog) -> Iterator[Any]:
        data = source.path.read_bytes()
        whole = len(data) - len(data) % ENTRY_BYTES
        for start in range(0, whole, ENTRY_BYTES):
            try:
                yield from decode_aborted_txns(data[start : start + ENTRY_BYTES])
            except WireError as error:
                damage.tell(source.name, start, f"version 0 was expected: {error.what}")
                damage.stop_if_strict()
        if whole != len(data):
            damage.tell(
                source.name, whole, f"an entry of {ENTRY_BYTES} bytes was expected, {len(data) - whole} are left"
            )

    _decode_small(files, Suffix.TXN_INDEX, read, txn_index_text, output, strict=strict)


def decode_producer_snapshot(
    files: Files,
    strict: Strict = False,
    output: Form = DecodeFormat.TABLE,
    dialect: Dialect = KafkaDialect.KAFKA_4_3,
) -> None:
    """Decode producer snapshots (.snapshot): what a partition knew of its producers at an offset."""
    from eosctl.render.decode.kafka_text import snapshot_text
    from eosctl.storage.errors import DamagedFile
    from eosctl.storage.producer_snapshot import read_snapshot

    def read(source: Source, damage: DamageLog) -> Iterator[Any]:
        try:
            yield from read_snapshot(source.path)
        except DamagedFile as error:
            damage.tell(source.name, error.offset, error.what)

    def dump(entries: Iterable[Any]) -> Iterable[str]:
        return snapshot_text(entries, dialect)

    _decode_small(files, Suffix.PRODUCER_SNAPSHOT, read, dump, output, strict=strict)


def decode_checkpoint(files: Files, strict: Strict = False, output: Form = DecodeFormat.TABLE) -> None:
    """Decode checkpoints: leader epochs, high watermarks, recovery points, log starts, cleaner's."""
    from eosctl.storage.checkpoints import read_any_checkpoint
    from eosctl.storage.errors import DamagedFile

    def read(source: Source, damage: DamageLog) -> Iterator[Any]:
        if is_metadata_snapshot(source.path.name):
            damage.tell(source.name, 0, "a snapshot of the metadata log; decode it with: eosctl decode metadata-log")
            return
        try:
            yield from read_any_checkpoint(source.path)
        except DamagedFile as error:
            damage.tell(source.name, error.offset, f"line {error.offset}: {error.what}")

    def is_checkpoint(path: Path) -> bool:
        return path.name.endswith("checkpoint") and not is_metadata_snapshot(path.name)

    _decode_small(files, is_checkpoint, read, None, output, strict=strict)


def _index_entries(
    source: Source,
    damage: DamageLog,
    base_offset: int | None,
    entry_bytes: int,
    decode: Callable[[bytes, int], Iterator[Any]],
) -> Iterator[Any]:
    """Yield an index's entries; the zeros that a broker allocates ahead are none."""
    from eosctl.storage.index_file import read_index_file
    from eosctl.storage.inputs import base_offset_of

    content = read_index_file(source.path, entry_bytes)
    yield from decode(content.entries, base_offset_of(source.path) if base_offset is None else base_offset)
    if content.stray_bytes:
        position = len(content.entries) + content.zero_bytes
        what = f"an entry of {entry_bytes} bytes was expected, {content.stray_bytes} are left"
        damage.tell(source.name, position, what)


def _decode_small(
    files: list[str],
    kind: Suffix | Callable[[Path], bool],
    read: Callable[[Source, DamageLog], Iterable[Any]],
    dump: Callable[[Iterable[Any]], Iterable[str]] | None,
    output: DecodeFormat,
    *,
    strict: bool,
) -> None:
    """Decode files of entries and end with exit code 1 if one was damaged."""
    from eosctl.commands.decode.decoding import DamageLog, sources, write_all
    from eosctl.errors import UsageError
    from eosctl.render.decode.entries import EntryRow, render_entries
    from eosctl.storage.inputs import is_segment_file

    if output is DecodeFormat.KAFKA and dump is None:
        raise UsageError("Kafka's dump tool does not read these files.", "", "Choose another format.")
    damage = DamageLog(strict=strict)

    def rows(found: Iterable[Source]) -> Iterator[EntryRow]:
        for source in found:
            for number, entry in enumerate(read(source, damage)):
                yield EntryRow(source.name, number, entry._asdict())
            damage.stop_if_strict()

    def dumped(found: Iterable[Source]) -> Iterator[str]:
        for source in found:
            yield f"Dumping {source.name}\n"
            yield from dump(read(source, damage)) if dump else ()
            damage.stop_if_strict()

    with sources(files, is_segment_file(kind) if isinstance(kind, Suffix) else kind) as found:
        write_all(dumped(found) if output is DecodeFormat.KAFKA else render_entries(rows(found), output))
    raise typer.Exit(1 if damage.count else 0)
