"""Decode files of entries: indexes, producer snapshots, and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from eosctl.analysis.decode.entry_row import EntryRow
from eosctl.services.decode_input import DamageLog, Source, readable
from eosctl.storage import offset_index, time_index, txn_index
from eosctl.storage.checkpoints import checkpoint_entry_fault, read_any_checkpoint
from eosctl.storage.errors import DamagedFile
from eosctl.storage.index_file import read_index_file
from eosctl.storage.inputs import base_offset_of, is_segment_file
from eosctl.storage.names import Suffix, is_metadata_snapshot
from eosctl.storage.producer_snapshot import read_snapshot
from eosctl.storage.regular_file import read_regular


class EntryFiles(NamedTuple):
    """Files of one kind: how to find them in a directory, and how to read their entries."""

    matches: Callable[[Path], bool]
    read: Callable[[Source, DamageLog], Iterable[Any]]
    is_text: bool = False


def offset_indexes(base_offset: int | None = None) -> EntryFiles:
    """Return offset indexes; the first offset of the segment is that of the file's name if it is None."""
    read = partial(
        _index,
        base_offset,
        offset_index.ENTRY_BYTES,
        offset_index.decode_offset_entries,
        offset_index.offset_entry_fault,
    )
    return EntryFiles(is_segment_file(Suffix.OFFSET_INDEX), read)


def time_indexes(base_offset: int | None = None) -> EntryFiles:
    """Return time indexes; the first offset of the segment is that of the file's name if it is None."""
    read = partial(
        _index,
        base_offset,
        time_index.ENTRY_BYTES,
        time_index.decode_time_entries,
        time_index.time_entry_fault,
    )
    return EntryFiles(is_segment_file(Suffix.TIME_INDEX), read)


def read_entries(kind: EntryFiles, files: Iterable[Source], damage: DamageLog) -> Iterator[tuple[str, Iterable[Any]]]:
    """Yield the name of each file and its entries; consume the entries before the next file."""
    for source in readable(files, damage):
        yield source.name, kind.read(source, damage)
        damage.stop_if_strict()


def entry_rows(files: Iterable[tuple[str, Iterable[Any]]]) -> Iterator[EntryRow]:
    """Yield the entries of files as rows of fields."""
    for name, entries in files:
        for number, entry in enumerate(entries):
            yield EntryRow(name, number, entry._asdict())


def _index(
    base_offset: int | None,
    entry_bytes: int,
    decode: Callable[[bytes, int], Iterator[Any]],
    fault_of: Callable[[Any, Any, int], str],
    source: Source,
    damage: DamageLog,
) -> Iterator[Any]:
    """Yield an index's entries; the zeros that a broker allocates ahead are none."""
    content = read_index_file(source.path, entry_bytes)
    first = base_offset_of(source.path) if base_offset is None else base_offset
    entries = decode(content.entries, first)
    report = partial(_report_entry, source, damage, entry_bytes)
    yield from _in_order(entries, lambda entry, before: fault_of(entry, before, first), report, damage)
    if content.stray_bytes:
        position = len(content.entries) + content.zero_bytes
        what = f"an entry of {entry_bytes} bytes was expected, {content.stray_bytes} are left"
        damage.add(source.name, position, what)


def _txn_index(source: Source, damage: DamageLog) -> Iterator[Any]:
    data, size = read_regular(source.path), txn_index.ENTRY_BYTES
    whole = len(data) - len(data) % size
    entries = txn_index.iter_aborted_txns(data[:whole])
    report = partial(_report_entry, source, damage, size)
    yield from _in_order(entries, txn_index.aborted_txn_fault, report, damage)
    if whole != len(data):
        damage.add(source.name, whole, f"an entry of {size} bytes was expected, {len(data) - whole} are left")


def _in_order(
    entries: Iterable[Any],
    fault_of: Callable[[Any, Any], str],
    report: Callable[[int, str], None],
    damage: DamageLog,
) -> Iterator[Any]:
    """Yield entries; report the first that no broker can have written after the one before it, and count the rest."""
    before, faults, last = None, 0, 0
    for number, entry in enumerate(entries):
        if fault := fault_of(entry, before):
            faults, last = faults + 1, number
            if faults == 1:
                report(number, fault)
                damage.stop_if_strict()
        yield entry
        before = entry
    if faults > 1:
        report(last, f"the last of {faults} entries that no broker writes so")


def _report_entry(source: Source, damage: DamageLog, entry_bytes: int, number: int, what: str) -> None:
    damage.add(source.name, number * entry_bytes, f"entry {number}: {what}")


def _snapshot(source: Source, damage: DamageLog) -> Iterator[Any]:
    try:
        yield from read_snapshot(source.path)
    except DamagedFile as error:
        damage.add(source.name, error.offset, error.what)


def _checkpoint(source: Source, damage: DamageLog) -> Iterator[Any]:
    if is_metadata_snapshot(source.path.name):
        damage.add(source.name, 0, "a snapshot of the metadata log; decode it with: eosctl decode metadata-log")
        return
    try:
        entries = read_any_checkpoint(source.path)
    except DamagedFile as error:
        damage.add_line(source.name, error.offset, error.what)
        return
    yield from _in_order(
        entries, checkpoint_entry_fault, lambda number, what: damage.add_line(source.name, number + 3, what), damage
    )


def _is_checkpoint(path: Path) -> bool:
    return path.name.endswith("checkpoint") and not is_metadata_snapshot(path.name)


TXN_INDEXES: Final = EntryFiles(is_segment_file(Suffix.TXN_INDEX), _txn_index)
PRODUCER_SNAPSHOTS: Final = EntryFiles(is_segment_file(Suffix.PRODUCER_SNAPSHOT), _snapshot)
CHECKPOINTS: Final = EntryFiles(_is_checkpoint, _checkpoint, is_text=True)
