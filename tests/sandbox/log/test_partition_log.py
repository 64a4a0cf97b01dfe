"""A replica's log: the state after truncation and recovery matches the bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.partition_log import PartitionLog, replay_producer
from eosctl.sandbox.log.producer_state import ProducerStateManager
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.ticks import Ticks
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record
from tests.sandbox.harness import VirtualLoop

ORDERS = TopicPartition("orders", 0)
TOPIC_ID = bytes(range(16))
NOW = 1_790_000_000_000

Event = tuple[int, str]  # producer id, what
events = st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["data", "data", "commit", "abort"])), max_size=25)


class Disk:
    """A log directory that may be closed, or crash, and be opened again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.loop = VirtualLoop()
        self.ticks = Ticks(self.loop)
        self.settings = TopicSettings(segment_bytes=600, index_interval_bytes=100)
        self.open()

    def open(self) -> None:
        self.logs = LogDirectory(self.path, self.ticks)
        self.logs.open_directory(1, "cluster", bytes(16))
        self.log = self.logs.open(ORDERS, TOPIC_ID, self.settings)

    def settle(self) -> None:
        self.ticks.run()

    def reopen(self, *, clean: bool) -> None:
        self.settle()
        self.logs.close(clean=clean)
        self.open()


def write(log: PartitionLog, happened: list[Event], epoch: int = 0) -> None:
    sequences: dict[int, int] = {}
    for producer_id, what in happened:
        if what == "data":
            sequence = sequences.get(producer_id, 0)
            sequences[producer_id] = sequence + 2
            batch = encode_batch(
                [Record(0, NOW, None, b"a"), Record(0, NOW, None, b"b")],
                producer_id=producer_id,
                producer_epoch=0,
                base_sequence=sequence,
                transactional=True,
            )
        else:
            batch = encode_marker_batch(EndTxnMarker(what == "commit", 5), producer_id, 0, NOW)
        log.append_as_leader(batch, decode_header(batch), epoch, NOW)
    log.advance_high_watermark(log.end_offset)


def described(log: PartitionLog) -> dict[str, Any]:
    producers = log.producers
    return {
        "end": log.end_offset,
        "stable": log.last_stable_offset(),
        "ongoing": sorted(producers.ongoing.items()),
        "producers": {
            entry.producer_id: (
                entry.producer_epoch,
                entry.last_sequence,
                entry.coordinator_epoch,
                entry.txn_first_offset,
                entry.last_timestamp,
            )
            for entry in producers.producers.values()
        },
        "aborted": log.aborted_transactions(0, log.end_offset),
        "bytes": b"".join(batch for _, batch in log.batches()),
        "epochs": list(log.epochs.entries),
    }


@settings(max_examples=60)
@given(happened=events, clean=st.booleans())
def test_what_is_opened_again_is_what_was_closed(tmp_path_factory: Any, happened: list[Event], clean: bool) -> None:
    disk = Disk(tmp_path_factory.mktemp("log"))
    write(disk.log, happened)
    before = described(disk.log)
    disk.reopen(clean=clean)
    disk.log.advance_high_watermark(disk.log.end_offset)
    assert described(disk.log) == before


@settings(max_examples=60)
@given(kept=events, dropped=events)
def test_truncation_goes_back_to_the_state_of_that_point(
    tmp_path_factory: Any, kept: list[Event], dropped: list[Event]
) -> None:
    disk = Disk(tmp_path_factory.mktemp("log"))
    write(disk.log, kept)
    before = described(disk.log)
    write(disk.log, dropped, epoch=1)
    disk.settle()
    disk.log.truncate_to(before["end"])
    assert described(disk.log) == before
    write(disk.log, dropped, epoch=2)
    replayed = ProducerStateManager()
    for header, batch in disk.log.batches():
        replay_producer(replayed, header, batch)
    assert replayed.ongoing == disk.log.producers.ongoing


def test_an_epoch_without_records_goes_even_when_no_record_does(tmp_path: Path) -> None:
    """A leader that was replaced before it wrote; its epoch would part its log from the new leader's for ever."""
    log = Disk(tmp_path).log
    write(log, [(1, "data"), (1, "commit")])
    before = described(log)
    log.epochs.assign(3, log.end_offset)
    log.truncate_to(log.end_offset)
    assert described(log) == before


def test_directories_appear_with_the_first_batch(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.settle()
    assert not (tmp_path / "orders-0").exists()
    write(disk.log, [(1, "data"), (1, "abort")])
    disk.settle()
    names = {path.name for path in (tmp_path / "orders-0").iterdir()}
    assert {"00000000000000000000.log", "partition.metadata", "leader-epoch-checkpoint"} <= names
    assert "00000000000000000000.txnindex" in names


def test_files_of_another_topic_of_the_same_name_are_dropped(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    write(disk.log, [(1, "data")])
    disk.settle()
    disk.logs.close(clean=True)
    logs = LogDirectory(tmp_path, disk.ticks)
    logs.open_directory(1, "cluster", bytes(16))
    assert logs.open(ORDERS, bytes(16), disk.settings).end_offset == 0


def test_a_read_stays_within_one_segment(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    write(disk.log, [(1, "data")] * 20)
    assert len(disk.log.store.segments) > 2
    offset, reads = 0, 0
    while offset < disk.log.end_offset:
        data = disk.log.read(offset, 1 << 20, disk.log.end_offset)
        bases = [segment.base_offset for segment in disk.log.store.segments]
        first = decode_header(data)
        assert first.base_offset == offset
        reads += 1
        offset = next((base for base in bases if base > offset), disk.log.end_offset)
    assert reads == len(disk.log.store.segments)
