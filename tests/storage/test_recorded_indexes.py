"""Indexes and snapshots of real brokers are read as Kafka's dump tool prints them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eosctl.storage import offset_index, time_index
from eosctl.storage.index_file import read_index_file
from eosctl.storage.names import Suffix
from eosctl.storage.offset_index import OffsetEntry, OffsetIndex, decode_offset_entries
from eosctl.storage.producer_snapshot import ProducerSnapshotEntry, encode_snapshot, read_snapshot, snapshot_offsets
from eosctl.storage.time_index import TimeEntry, TimeIndex, decode_time_entries
from eosctl.storage.txn_index import AbortedTxn, decode_aborted_txns, encode_aborted_txn
from tests.storage.cases import Partition, healthy_partitions

PARTITIONS = healthy_partitions()
NUMBER = re.compile(r"-?\d+")


def golden_lines(partition: Partition, file: Path, first_word: str) -> list[list[int]]:
    text = (partition.golden / f"{file.name}.txt").read_text()
    return [[int(n) for n in NUMBER.findall(line)] for line in text.splitlines() if line.startswith(first_word)]


def files(suffix: Suffix) -> list[tuple[Partition, Path]]:
    return [
        (partition, file)
        for partition in PARTITIONS
        for file in partition.files(suffix)
        if (partition.golden / f"{file.name}.txt").exists()
    ]


def of_each_case(suffix: Suffix) -> pytest.MarkDecorator:
    """Give a test the files of each recorded case together: a test for each of 500 files costs more than to read it."""
    by_case: dict[str, list[tuple[Partition, Path]]] = {}
    for partition, file in files(suffix):
        by_case.setdefault(partition.case, []).append((partition, file))
    return pytest.mark.parametrize("recorded", list(by_case.values()), ids=list(by_case))


def base_offset(file: Path) -> int:
    return int(file.name[:20])


def test_there_are_recorded_files_of_every_kind() -> None:
    assert all(len(files(suffix)) > 40 for suffix in Suffix if suffix is not Suffix.LOG)


@of_each_case(Suffix.OFFSET_INDEX)
def test_offset_index(recorded: list[tuple[Partition, Path]]) -> None:
    for partition, file in recorded:
        content = read_index_file(file, offset_index.ENTRY_BYTES)
        entries = list(decode_offset_entries(content.entries, base_offset(file)))
        printed = [OffsetEntry(*numbers) for numbers in golden_lines(partition, file, "offset:")]
        # The tool prints the first of the preallocated zeros when nothing stands before them.
        assert entries == [entry for entry in printed if entry.position]
        assert content.stray_bytes == 0
        assert content.zero_bytes == 0 or not partition.was_closed
        index = OffsetIndex(base_offset(file), content.entries)
        assert [index[n] for n in range(len(index))] == entries


@of_each_case(Suffix.TIME_INDEX)
def test_time_index(recorded: list[tuple[Partition, Path]]) -> None:
    for partition, file in recorded:
        content = read_index_file(file, time_index.ENTRY_BYTES)
        entries = list(decode_time_entries(content.entries, base_offset(file)))
        printed = [TimeEntry(*numbers) for numbers in golden_lines(partition, file, "timestamp:")]
        assert entries == [entry for entry in printed if entry.timestamp]
        index = TimeIndex(base_offset(file), content.entries)
        assert [index[n] for n in range(len(index))] == entries


@of_each_case(Suffix.TXN_INDEX)
def test_transaction_index(recorded: list[tuple[Partition, Path]]) -> None:
    for partition, file in recorded:
        data = file.read_bytes()
        txns = decode_aborted_txns(data)
        printed = golden_lines(partition, file, "version:")
        assert txns == [AbortedTxn(*numbers, version=version) for version, *numbers in printed]
        assert b"".join(map(encode_aborted_txn, txns)) == data


def in_words(entry: ProducerSnapshotEntry) -> str:
    """Print an entry as Kafka's dump tool does."""
    txn = "empty" if entry.current_txn_first_offset < 0 else f"[{entry.current_txn_first_offset}]"
    line = (
        f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch} "
        f"coordinatorEpoch: {entry.coordinator_epoch} currentTxnFirstOffset: OptionalLong"
        f"{'.' if txn == 'empty' else ''}{txn} lastTimestamp: {entry.timestamp}"
    )
    if entry.last_offset < 0:
        return line
    return (
        f"{line} firstSequence: {entry.first_sequence} lastSequence: {entry.last_sequence} "
        f"lastOffset: {entry.last_offset} offsetDelta: {entry.offset_delta} timestamp: {entry.timestamp}"
    )


@of_each_case(Suffix.PRODUCER_SNAPSHOT)
def test_producer_snapshot(recorded: list[tuple[Partition, Path]]) -> None:
    for partition, file in recorded:
        entries = read_snapshot(file)
        printed = (partition.golden / f"{file.name}.txt").read_text().splitlines()
        assert sorted(map(in_words, entries)) == sorted(
            line.rstrip() for line in printed if line.startswith("producerId")
        )
        assert encode_snapshot(entries) == file.read_bytes()
        assert base_offset(file) in snapshot_offsets(partition.path)
