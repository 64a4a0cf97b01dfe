"""A segmented log behaves like a list of batches, in memory, in files, rolled, or truncated."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from eosctl.storage.config import LogConfig
from eosctl.storage.descriptors import Descriptors
from eosctl.storage.errors import OffsetOutOfRange
from eosctl.storage.log import SegmentedLog
from eosctl.storage.names import Suffix
from eosctl.storage.recovery import open_log
from eosctl.storage.segment import TimestampedOffset
from eosctl.storage.txn_index import AbortedTxn
from eosctl.wire.records.batch import BatchHeader, decode_header, decode_records, encode_batch
from eosctl.wire.records.record import Record

SMALL = LogConfig(segment_bytes=1200, segment_index_bytes=64, index_interval_bytes=100, tail_bytes=400)


def make_batch(base_offset: int, timestamps: list[int], value_bytes: int = 10, **options: int) -> bytes:
    records = [Record(0, timestamp, None, b"v" * value_bytes) for timestamp in timestamps]
    return encode_batch(records, base_offset=base_offset, partition_leader_epoch=1, **options)


def append(log: SegmentedLog, batch: bytes, now_ms: int = -1) -> int | None:
    return log.append(batch, decode_header(batch), now_ms)


class LogMachine(RuleBasedStateMachine):
    """Compares a log with the list of its batches."""

    @initialize(
        start=st.sampled_from([0, 5, 2**40]), segment_bytes=st.sampled_from([300, 1200, 1 << 20]), fds=st.integers(1, 3)
    )
    def begin(self, start: int, segment_bytes: int, fds: int) -> None:
        self.directory = Path(os.environ["LOG_MACHINE_DIRECTORY"]) / "t-0"
        shutil.rmtree(self.directory, ignore_errors=True)
        self.config = LogConfig(
            segment_bytes=segment_bytes, segment_index_bytes=64, index_interval_bytes=100, tail_bytes=400
        )
        self.descriptors = Descriptors(fds)
        self.log = SegmentedLog(self.directory, self.config, self.descriptors, log_start_offset=start)
        self.batches: list[tuple[BatchHeader, bytes]] = []
        self.aborted: list[AbortedTxn] = []
        self.start = self.end = start
        self.time = 1000

    @rule(
        ages=st.lists(st.integers(-30, 50), min_size=1, max_size=5),
        size=st.integers(0, 400),
        gap=st.sampled_from([0, 0, 0, 3]),
        aborted=st.booleans(),
    )
    def append(self, ages: list[int], size: int, gap: int, aborted: bool) -> None:
        timestamps = []
        for age in ages:
            self.time += age
            timestamps.append(self.time)
        batch = make_batch(self.end + gap, timestamps, size)
        header = decode_header(batch)
        self.log.append(batch, header)
        self.batches.append((header, batch))
        self.end = header.next_offset
        if aborted:
            txn = AbortedTxn(1, max(self.start, header.base_offset - 4), header.last_offset, header.next_offset)
            self.log.append_aborted_txn(txn)
            self.aborted.append(txn)

    @rule()
    def flush(self) -> None:
        self.log.flush()
        assert not self.log.has_unwritten

    @rule(clean=st.booleans())
    def restart(self, clean: bool) -> None:
        if not clean:
            self.log.flush()
            self.aborted.clear()  # these transactions are not in the log, so nothing can build their index again
        on_disk = self.log.segments[-1].base_offset if self.log.segments else self.start
        self.log.close(clean=clean)
        opened = open_log(self.directory, self.config, self.descriptors, clean=clean, log_start_offset=self.start)
        assert opened.truncated_bytes == 0
        self.log = opened.log
        # After a truncation into the middle of a batch, or to a gap, no file has the end.
        self.end = max([on_disk, *(header.next_offset for header, _ in self.batches)])
        if self.end < self.start:
            self.batches.clear()
            self.aborted.clear()
            self.end = self.start

    @precondition(lambda self: self.batches)
    @rule(share=st.floats(0, 1))
    def truncate(self, share: float) -> None:
        offset = self.start + round((self.end - self.start) * share)
        self.log.truncate_to(offset)
        self.batches = [(header, batch) for header, batch in self.batches if header.last_offset < offset]
        self.aborted = [txn for txn in self.aborted if txn.last_offset < offset]
        self.end = offset
        self.time = max([header.max_timestamp for header, _ in self.batches], default=1000)

    @precondition(lambda self: self.batches)
    @rule(share=st.floats(0, 1))
    def delete_from_start(self, share: float) -> None:
        offset = self.start + round((self.end - self.start) * share)
        self.log.advance_log_start_offset(offset)
        self.log.retire_segments(sum(segment.base_offset <= offset for segment in self.log.segments[1:]))
        self.start = self.log.log_start_offset
        assert self.start >= offset
        first = self.log.segments[0].base_offset if self.log.segments else 0
        self.batches = [(header, batch) for header, batch in self.batches if header.base_offset >= first]
        self.aborted = [txn for txn in self.aborted if txn.last_offset >= first]

    @rule(share=st.floats(0, 1), max_bytes=st.sampled_from([0, 1, 300, 1000, 10**6]), bound=st.none() | st.floats(0, 1))
    def read(self, share: float, max_bytes: int, bound: float | None) -> None:
        offset = self.start + round((self.end - self.start) * share)
        upper_bound = None if bound is None else self.start + round((self.end - self.start) * bound)
        found = self.log.read(offset, max_bytes, upper_bound)
        readable = [
            batch
            for header, batch in self.batches
            if header.last_offset >= offset and (upper_bound is None or header.last_offset < upper_bound)
        ]
        assert b"".join(readable).startswith(found)
        if readable:
            assert found.startswith(readable[0])
            assert len(found) <= max(max_bytes, len(readable[0]))
        else:
            assert found == b""

    @rule(share=st.floats(0, 1))
    def iterate(self, share: float) -> None:
        offset = self.start + round((self.end - self.start) * share)
        assert [batch for _, batch in self.log.batches(offset)] == [
            batch for header, batch in self.batches if header.last_offset >= offset
        ]

    @rule(age=st.integers(-200, 60))
    def look_up_time(self, age: int) -> None:
        wanted = self.time + age
        records = [
            TimestampedOffset(record.timestamp, record.offset, 1)
            for header, batch in self.batches
            for record in decode_records(batch, header)
            if record.offset >= self.start
        ]
        first = next((record for record in records if record.timestamp >= wanted), None)
        assert self.log.offset_for_time(wanted) == first

    @rule(first=st.floats(0, 1), last=st.floats(0, 1))
    def look_up_aborted(self, first: float, last: float) -> None:
        fetch_offset = self.start + round((self.end - self.start) * first)
        upper_bound = self.start + round((self.end - self.start) * last)
        found = self.log.aborted_txns(fetch_offset, upper_bound)
        wanted = [txn for txn in self.aborted if txn.last_offset >= fetch_offset and txn.first_offset < upper_bound]
        # Entries past the first that covers the range are not needed: no other transaction was open.
        assert found == wanted[: len(found)]
        assert len(found) == len(wanted) or (found and found[-1].last_stable_offset >= upper_bound)

    @invariant()
    def offsets_and_sizes_are_known(self) -> None:
        assert (self.log.log_start_offset, self.log.log_end_offset) == (self.start, self.end)
        assert self.log.size_bytes == sum(len(batch) for _, batch in self.batches)
        assert len(self.descriptors) <= 3

    def teardown(self) -> None:
        if hasattr(self, "log"):
            self.log.close(clean=True)
            assert len(self.descriptors) == 0


@pytest.mark.usefixtures("_machine_directory")
class TestLogMachine(LogMachine.TestCase):
    pass


@pytest.fixture
def _machine_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_MACHINE_DIRECTORY", str(tmp_path))


@pytest.fixture
def descriptors() -> Descriptors:
    return Descriptors()


class TestFiles:
    def test_an_empty_log_is_not_on_disk(self, tmp_path: Path, descriptors: Descriptors) -> None:
        log = SegmentedLog(tmp_path / "t-0", SMALL, descriptors)
        log.flush()
        assert log.read(0, 100) == b""
        assert log.offset_for_time(0) is None
        assert log.offset_of_max_timestamp() is None
        assert log.aborted_txns(0, 10) == []
        log.close(clean=True)
        assert not (tmp_path / "t-0").exists()

    def test_appends_wait_in_memory_for_the_flush(self, tmp_path: Path, descriptors: Descriptors) -> None:
        log = SegmentedLog(tmp_path / "t-0", SMALL, descriptors)
        batch = make_batch(0, [1])
        append(log, batch)
        assert log.has_unwritten
        assert not (tmp_path / "t-0").exists()
        assert log.read(0, 1000) == batch
        log.flush(sync=True)
        assert (tmp_path / "t-0" / f"{0:020d}.log").read_bytes() == batch

    def test_many_waiting_bytes_are_written_together(self, tmp_path: Path, descriptors: Descriptors) -> None:
        log = SegmentedLog(tmp_path / "t-0", LogConfig(), descriptors)
        for offset in range(9):
            append(log, make_batch(offset, [1], 500_000))
        assert not log.has_unwritten

    def test_an_unclean_close_leaves_what_was_flushed(self, tmp_path: Path, descriptors: Descriptors) -> None:
        log = SegmentedLog(tmp_path / "t-0", SMALL, descriptors)
        append(log, make_batch(0, [1]))
        log.flush()
        append(log, make_batch(1, [1]))
        log.close(clean=False)
        assert [path.name for path in (tmp_path / "t-0").iterdir()] == [f"{0:020d}.log"]
        assert open_log(tmp_path / "t-0", SMALL, descriptors, clean=False).log.log_end_offset == 1

    def test_what_is_read_again_comes_from_the_file(self, tmp_path: Path, descriptors: Descriptors) -> None:
        log = SegmentedLog(tmp_path / "t-0", LogConfig(tail_bytes=0), descriptors)
        batches = [make_batch(offset, [1]) for offset in range(3)]
        for batch in batches:
            append(log, batch)
        log.flush()
        (tmp_path / "t-0" / f"{0:020d}.log").write_bytes(b"".join(batches[::-1]))
        assert log.read(1, 1) == batches[2], "not from memory"

    def test_a_lost_directory_is_an_error_and_not_made_again(self, tmp_path: Path, descriptors: Descriptors) -> None:
        log = SegmentedLog(tmp_path / "t-0", LogConfig(tail_bytes=0), descriptors)
        append(log, make_batch(0, [1]))
        log.flush()
        log.close(clean=False)
        shutil.rmtree(tmp_path / "t-0")
        with pytest.raises(FileNotFoundError):
            log.read(0, 100)
        assert not (tmp_path / "t-0").exists()

    def test_a_directory_that_cannot_be_made_is_an_error(self, tmp_path: Path, descriptors: Descriptors) -> None:
        (tmp_path / "file").touch()
        log = SegmentedLog(tmp_path / "file" / "t-0", SMALL, descriptors)
        append(log, make_batch(0, [1]))
        with pytest.raises(OSError, match="file"):
            log.flush()

    def test_a_deleted_log_leaves_nothing(self, tmp_path: Path, descriptors: Descriptors) -> None:
        log = SegmentedLog(tmp_path / "t-0", SMALL, descriptors)
        for offset in range(40):
            append(log, make_batch(offset, [1]))
        log.flush()
        log.delete()
        assert list(tmp_path.iterdir()) == []
        assert len(descriptors) == 0

    def test_deleting_segments_takes_all_their_files(self, tmp_path: Path, descriptors: Descriptors) -> None:
        log = SegmentedLog(tmp_path / "t-0", LogConfig(segment_bytes=200), descriptors)
        for offset in range(7):
            append(log, make_batch(offset, [1]))
        log.append_aborted_txn(AbortedTxn(1, 6, 6, 7))
        log.close(clean=True)
        for path in (retired := log.retire_segments(2)):
            path.unlink()
        assert {path.suffix for path in retired} == {".deleted"}
        left = {path.name for path in (tmp_path / "t-0").iterdir()}
        assert {name[:20] for name in left} == {f"{4:020d}", f"{6:020d}"}
        assert f"{6:020d}.txnindex" in left
        assert log.log_start_offset == 4
        log.retire_segments(2)
        assert (log.log_start_offset, log.log_end_offset) == (7, 7)
        assert (tmp_path / "t-0" / f"{7:020d}.log").exists(), "the end of a log without records is known too"

    def test_starting_over_elsewhere(self, tmp_path: Path, descriptors: Descriptors) -> None:
        log = SegmentedLog(tmp_path / "t-0", LogConfig(segment_bytes=200), descriptors)
        for offset in range(7):
            append(log, make_batch(offset, [1]))
        (tmp_path / "t-0" / f"{4:020d}.snapshot").touch()
        log.truncate_fully_and_start_at(100)
        assert list((tmp_path / "t-0").iterdir()) == []
        assert (log.log_start_offset, log.log_end_offset) == (100, 100)
        append(log, make_batch(100, [1]))
        log.flush()
        assert [path.name for path in (tmp_path / "t-0").iterdir()] == [f"{100:020d}.log"]

    def test_truncation_deletes_the_snapshots_above(self, tmp_path: Path, descriptors: Descriptors) -> None:
        log = SegmentedLog(tmp_path / "t-0", LogConfig(), descriptors)
        for offset in range(7):
            append(log, make_batch(offset, [1]))
        log.flush()
        for offset in (3, 5, 6):
            (tmp_path / "t-0" / f"{offset:020d}.snapshot").touch()
        log.truncate_to(5)
        assert sorted(path.name for path in (tmp_path / "t-0").glob(f"*{Suffix.PRODUCER_SNAPSHOT}")) == [
            f"{3:020d}.snapshot",
            f"{5:020d}.snapshot",
        ]


def test_offsets_out_of_range_are_refused(tmp_path: Path, descriptors: Descriptors) -> None:
    log = SegmentedLog(tmp_path / "t-0", SMALL, descriptors, log_start_offset=10)
    append(log, make_batch(10, [1, 2]))
    for offset in (9, 13):
        with pytest.raises(OffsetOutOfRange, match=f"offset {offset} "):
            log.read(offset, 100)
    with pytest.raises(ValueError, match="offset 11"):
        append(log, make_batch(11, [1]))


def test_the_largest_timestamp_is_found_before_a_smaller_one(tmp_path: Path, descriptors: Descriptors) -> None:
    log = SegmentedLog(tmp_path / "t-0", LogConfig(segment_bytes=200), descriptors)
    for offset, timestamp in enumerate([5, 9, 900, 30, 900, 2]):
        append(log, make_batch(offset, [timestamp]))
    assert log.offset_of_max_timestamp() == TimestampedOffset(900, 2, 1)


def test_descriptors_are_reused_and_bounded(tmp_path: Path) -> None:
    descriptors = Descriptors(capacity=2)
    paths = [str(tmp_path / "d" / str(n)) for n in range(3)]
    first = descriptors.open(paths[0], create=True)
    assert descriptors.open(paths[0]) == first
    descriptors.open(paths[1], create=True)
    descriptors.open(paths[0])
    third = descriptors.open(paths[2], create=True)
    os.write(third, b"x")
    assert len(descriptors) == 2
    assert os.pread(descriptors.open(paths[0]), 1, 0) == b"", "the one used last stays open"
    with pytest.raises(FileNotFoundError):
        descriptors.open(str(tmp_path / "absent"))
    descriptors.forget(paths[0])
    descriptors.forget(paths[0])
    descriptors.close()
    assert len(descriptors) == 0


def test_batches_larger_than_a_single_read(tmp_path: Path, descriptors: Descriptors) -> None:
    log = SegmentedLog(tmp_path / "t-0", LogConfig(tail_bytes=0), descriptors)
    batches = [make_batch(0, [5]), make_batch(1, [9, 8], 900_000), make_batch(3, [20]), make_batch(4, [7], 300_000)]
    for batch in batches:
        append(log, batch)
    log.flush()
    assert log.offset_for_time(6) == TimestampedOffset(9, 1, 1)
    assert log.offset_for_time(10) == TimestampedOffset(20, 3, 1)
    assert log.read(2, 10) == batches[1]
    assert [batch for _, batch in log.batches(0)] == batches
    assert [header.base_offset for header, _ in log.batches(1, end_offset=4)] == [1, 3]
    log.truncate_to(4)
    assert log.offset_of_max_timestamp() == TimestampedOffset(20, 3, 1)


def test_short_writes_are_completed(tmp_path: Path, descriptors: Descriptors, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    log = SegmentedLog(tmp_path / "t-0", SMALL, descriptors)
    batches = [make_batch(offset, [1]) for offset in range(3)]
    for batch in batches:
        append(log, batch)
    log.flush()
    assert (tmp_path / "t-0" / f"{0:020d}.log").read_bytes() == b"".join(batches)
