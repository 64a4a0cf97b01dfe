"""A log opens after an orderly stop, after a crash at any byte, and with damaged or missing indexes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest

from eosctl.storage.checkpoints import EpochStart
from eosctl.storage.config import LogConfig
from eosctl.storage.descriptors import Descriptors
from eosctl.storage.errors import DamagedFile
from eosctl.storage.names import Suffix, segment_file_name
from eosctl.storage.producer_replay import ProducerReplay
from eosctl.storage.producer_snapshot import (
    ProducerSnapshotEntry,
    load_latest_snapshot,
    snapshot_offsets,
    write_snapshot,
)
from eosctl.storage.recovery import OpenedLog, open_log
from eosctl.wire.records.batch import BatchHeader, decode_header, encode_batch
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record
from tests.storage.cases import Partition, batch_bytes, healthy_partitions
from tests.storage.test_written_files import content

CONFIG = LogConfig(segment_bytes=900, index_interval_bytes=200, tail_bytes=0)

Batches = list[tuple[BatchHeader, bytes]]


@pytest.fixture
def descriptors() -> Descriptors:
    return Descriptors()


def a_log_with_transactions() -> Batches:
    """Two producers take turns; every third transaction aborts; the leader epoch rises once."""
    batches: Batches = []
    offset = 0
    for round_number in range(9):
        epoch = 3 if round_number < 5 else 4
        for producer_id in (1, 2):
            sequence = 2 * round_number
            records = [Record(0, 1000 + offset, None, b"v" * (10 * round_number))] * 2
            data = encode_batch(
                records,
                base_offset=offset,
                partition_leader_epoch=epoch,
                producer_id=producer_id,
                producer_epoch=0,
                base_sequence=sequence,
                transactional=True,
            )
            batches.append((decode_header(data), data))
            offset += 2
        for producer_id in (2, 1) if round_number < 8 else (2,):
            marker = EndTxnMarker(round_number % 3 != 0, 7)
            end = encode_marker_batch(
                marker, producer_id, 0, 1000 + offset, base_offset=offset, partition_leader_epoch=epoch
            )
            batches.append((decode_header(end), end))
            offset += 1
    return batches


def write(batches: Batches, directory: Path, *, clean: bool, config: LogConfig = CONFIG) -> None:
    log = open_log(directory, config, Descriptors(), clean=True).log
    replay = ProducerReplay()
    for header, batch in batches:
        rolled = log.append(batch, header)
        if rolled is not None:
            log.flush()
            write_snapshot(directory, rolled, replay.producers.values())
        completed = replay.apply(header, batch)
        if completed is not None and not completed.committed:
            log.append_aborted_txn(completed.as_aborted())
    log.flush()
    if clean:
        write_snapshot(directory, log.log_end_offset, replay.producers.values())
    log.close(clean=clean)


def state_after(batches: Batches) -> dict[int, ProducerSnapshotEntry]:
    replay = ProducerReplay()
    for header, batch in batches:
        replay.apply(header, batch)
    return replay.producers


def assert_holds(opened: OpenedLog, batches: Batches) -> None:
    assert [batch for _, batch in opened.log.batches(opened.log.log_start_offset)] == [batch for _, batch in batches]
    assert opened.log.log_end_offset == (batches[-1][0].next_offset if batches else 0)
    assert {entry.producer_id: entry for entry in opened.producers} == state_after(batches)


BATCHES = a_log_with_transactions()


def test_an_absent_directory_is_an_empty_log(tmp_path: Path, descriptors: Descriptors) -> None:
    opened = open_log(tmp_path / "t-0", CONFIG, descriptors, clean=False, log_start_offset=7)
    assert (opened.log.log_start_offset, opened.log.log_end_offset, opened.producers) == (7, 7, [])
    assert not (tmp_path / "t-0").exists()


def test_a_directory_without_segments_is_an_empty_log(tmp_path: Path, descriptors: Descriptors) -> None:
    (tmp_path / "leader-epoch-checkpoint").write_text("0\n0\n")
    assert_holds(open_log(tmp_path, CONFIG, descriptors, clean=False), [])


@pytest.mark.parametrize("stopped_clean", [True, False])
@pytest.mark.parametrize("opened_clean", [True, False])
def test_everything_is_there_again(
    stopped_clean: bool, opened_clean: bool, tmp_path: Path, descriptors: Descriptors
) -> None:
    write(BATCHES, tmp_path / "t-0", clean=stopped_clean)
    opened = open_log(tmp_path / "t-0", CONFIG, descriptors, clean=opened_clean)
    assert_holds(opened, BATCHES)
    assert opened.truncated_bytes == 0
    bases = [segment.base_offset for segment in opened.log.segments]
    assert len(bases) > 3
    if stopped_clean and opened_clean:
        assert opened.recovered_segments == ()
    if not opened_clean:
        assert list(opened.recovered_segments) == bases
        assert opened.epochs == [EpochStart(3, 0), EpochStart(4, 30)]


def test_recovery_makes_the_files_of_an_orderly_stop(tmp_path: Path, descriptors: Descriptors) -> None:
    write(BATCHES, tmp_path / "stopped", clean=True)
    write(BATCHES, tmp_path / "killed", clean=False)
    open_log(tmp_path / "killed", CONFIG, descriptors, clean=False).log.close(clean=False)
    assert content(tmp_path / "killed") == content(tmp_path / "stopped")


def test_recovery_begins_at_the_recovery_point(tmp_path: Path, descriptors: Descriptors) -> None:
    write(BATCHES, tmp_path / "t-0", clean=False)
    bases = snapshot_offsets(tmp_path / "t-0")
    opened = open_log(tmp_path / "t-0", CONFIG, descriptors, clean=False, recovery_point=bases[1] + 1)
    assert opened.recovered_segments == tuple(bases[1:])
    assert_holds(opened, BATCHES)


def test_a_crash_at_every_byte_of_the_last_batches(tmp_path: Path) -> None:
    """For any state of the last segment after a crash, the whole batches are kept and the rest is removed."""
    written = tmp_path / "written"
    config = replace(CONFIG, segment_bytes=2500)
    write(BATCHES, written, clean=False, config=config)
    last_log = max(written.glob("*.log"))
    base_offset, size = int(last_log.stem), last_log.stat().st_size
    before = [pair for pair in BATCHES if pair[0].base_offset < base_offset]
    ends = [0, *accumulate(len(batch) for _, batch in BATCHES[len(before) :])]
    assert before
    assert ends[-1] == size
    directory, descriptors = tmp_path / "crashed", Descriptors()
    for cut in [*range(0, 70, 5), *range(ends[-3], size + 1)]:
        shutil.copytree(written, directory)
        with (directory / last_log.name).open("r+b") as file:
            file.truncate(cut)
        opened = open_log(directory, config, descriptors, clean=False)
        kept = sum(end <= cut for end in ends) - 1
        assert_holds(opened, BATCHES[: len(before) + kept])
        assert opened.truncated_bytes == cut - ends[kept]
        assert (directory / last_log.name).stat().st_size == ends[kept]
        again = open_log(directory, config, descriptors, clean=True)
        assert_holds(again, BATCHES[: len(before) + kept])
        assert again.recovered_segments == ()
        again.log.close(clean=True)
        shutil.rmtree(directory)


@pytest.mark.parametrize("tail", [bytes(300), b"\xff" * 300, BATCHES[-1][1][:70], BATCHES[0][1]])
def test_an_invalid_tail_is_truncated(tail: bytes, tmp_path: Path, descriptors: Descriptors) -> None:
    write(BATCHES, tmp_path, clean=False)
    with max(tmp_path.glob("*.log")).open("ab") as file:
        file.write(tail)
    opened = open_log(tmp_path, CONFIG, descriptors, clean=False)
    assert_holds(opened, BATCHES)
    assert opened.truncated_bytes == len(tail)


def test_behind_a_damaged_batch_nothing_is_kept(tmp_path: Path, descriptors: Descriptors) -> None:
    write(BATCHES, tmp_path, clean=False)
    logs = sorted(tmp_path.glob("*.log"))
    data = bytearray(logs[1].read_bytes())
    data[100] ^= 1
    logs[1].write_bytes(data)
    opened = open_log(tmp_path, CONFIG, descriptors, clean=False)
    kept = [pair for pair in BATCHES if pair[0].next_offset <= int(logs[1].stem)]
    assert_holds(opened, [*kept, *BATCHES[len(kept) : len(kept) + (len(BATCHES[len(kept)][1]) <= 100)]])
    assert opened.deleted_segments == tuple(int(log.stem) for log in logs[2:])
    assert all(not log.exists() for log in logs[2:])
    assert max(snapshot_offsets(tmp_path)) == opened.log.log_end_offset


def unreadable_marker(base_offset: int) -> bytes:
    """A control batch with a valid checksum and an invalid control record."""
    return encode_batch(
        [Record(0, 1, b"k", b"v")],
        base_offset=base_offset,
        producer_id=1,
        producer_epoch=0,
        control=True,
        transactional=True,
    )


def test_a_marker_that_cannot_be_read_is_cut_off_after_a_crash(tmp_path: Path, descriptors: Descriptors) -> None:
    write(BATCHES, tmp_path, clean=False)
    with max(tmp_path.glob("*.log")).open("ab") as file:
        file.write(unreadable_marker(BATCHES[-1][0].next_offset))
    opened = open_log(tmp_path, CONFIG, descriptors, clean=False)
    assert_holds(opened, BATCHES)
    assert opened.truncated_bytes > 0


def test_a_marker_that_cannot_be_read_is_refused_otherwise(tmp_path: Path, descriptors: Descriptors) -> None:
    write(BATCHES, tmp_path, clean=True)
    with max(tmp_path.glob("*.log")).open("ab") as file:
        file.write(unreadable_marker(BATCHES[-1][0].next_offset))
    with pytest.raises(DamagedFile, match=f"marker at offset {BATCHES[-1][0].next_offset}"):
        open_log(tmp_path, CONFIG, descriptors, clean=True)


def test_a_torn_end_is_cut_off_even_after_an_orderly_stop(tmp_path: Path, descriptors: Descriptors) -> None:
    write(BATCHES, tmp_path, clean=True)
    with max(tmp_path.glob("*.log")).open("ab") as file:
        file.write(BATCHES[0][1][:50])
    opened = open_log(tmp_path, CONFIG, descriptors, clean=True)
    assert_holds(opened, BATCHES)
    assert (opened.truncated_bytes, len(opened.recovered_segments)) == (50, 1)


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (Suffix.OFFSET_INDEX, None),
        (Suffix.TIME_INDEX, None),
        (Suffix.OFFSET_INDEX, b"\0\0\0"),
        (Suffix.TIME_INDEX, b"\1\2\3"),
        (Suffix.OFFSET_INDEX, b"\x7f\xff\xff\xff\x7f\xff\xff\xff"),
        (Suffix.OFFSET_INDEX, b"\x80\0\0\0\0\0\0\1"),
        (Suffix.TIME_INDEX, b"\0\0\0\0\0\0\0\1\0\0\0\1"),
        (Suffix.TXN_INDEX, b"\0\1" + bytes(32)),
        (Suffix.TXN_INDEX, b"\0"),
    ],
)
def test_indexes_are_built_again(
    suffix: Suffix, damage: bytes | None, tmp_path: Path, descriptors: Descriptors
) -> None:
    write(BATCHES, tmp_path, clean=True)
    wanted = content(tmp_path)
    damaged = sorted(tmp_path.glob(f"*{suffix}"))[1]
    if damage is None:
        damaged.unlink()
    else:
        damaged.write_bytes(damaged.read_bytes() + damage)
    opened = open_log(tmp_path, CONFIG, descriptors, clean=True)
    assert_holds(opened, BATCHES)
    assert opened.recovered_segments[0] == int(damaged.stem)
    opened.log.close(clean=True)
    assert content(tmp_path) == wanted


@pytest.mark.parametrize("damage", [b"", b"\0\1", b"\0\2" + bytes(8), b"\0\1" + bytes(8)])
def test_a_damaged_snapshot_is_dropped_for_an_older_one(
    damage: bytes, tmp_path: Path, descriptors: Descriptors
) -> None:
    write(BATCHES, tmp_path, clean=True)
    newest = max(snapshot_offsets(tmp_path))
    (tmp_path / segment_file_name(newest, Suffix.PRODUCER_SNAPSHOT)).write_bytes(damage)
    opened = open_log(tmp_path, CONFIG, descriptors, clean=True)
    assert_holds(opened, BATCHES)
    assert newest not in snapshot_offsets(tmp_path)


def test_without_snapshots_the_log_has_everything(tmp_path: Path, descriptors: Descriptors) -> None:
    write(BATCHES, tmp_path, clean=True)
    for snapshot in tmp_path.glob("*.snapshot"):
        snapshot.unlink()
    assert load_latest_snapshot(tmp_path, 10**9) is None
    assert_holds(open_log(tmp_path, CONFIG, descriptors, clean=True), BATCHES)


def test_a_log_start_behind_the_end_begins_anew(tmp_path: Path, descriptors: Descriptors) -> None:
    write(BATCHES, tmp_path, clean=True)
    opened = open_log(tmp_path, CONFIG, descriptors, clean=True, log_start_offset=10_000)
    assert (opened.log.log_start_offset, opened.log.log_end_offset) == (10_000, 10_000)
    assert opened.producers == []
    assert list(tmp_path.glob("*.log")) == []


def test_interrupted_work_is_finished(tmp_path: Path, descriptors: Descriptors) -> None:
    """A `.swap` log replaces the segments that it covers, and pending deletions are completed."""
    write(BATCHES, tmp_path, clean=False)
    logs = sorted(tmp_path.glob("*.log"))
    first, second, third = (int(log.stem) for log in logs[:3])
    covered = [pair for pair in BATCHES if pair[0].base_offset < third]
    replacement = [pair for index, pair in enumerate(covered) if index % 2 == 0 or pair is covered[-1]]
    swap = tmp_path / f"{segment_file_name(first, Suffix.LOG)}.swap"
    swap.write_bytes(b"".join(batch for _, batch in replacement))
    (tmp_path / f"{segment_file_name(first, Suffix.OFFSET_INDEX)}.swap").touch()
    (tmp_path / f"{segment_file_name(second, Suffix.LOG)}.deleted").touch()
    (tmp_path / f"{segment_file_name(third, Suffix.LOG)}.cleaned").touch()
    (tmp_path / segment_file_name(99_999, Suffix.OFFSET_INDEX)).touch()
    opened = open_log(tmp_path, CONFIG, descriptors, clean=False)
    assert [batch for _, batch in opened.log.batches(0)] == [
        batch for _, batch in [*replacement, *BATCHES[len(covered) :]]
    ]
    assert not any(path.suffix in (".swap", ".deleted", ".cleaned") for path in tmp_path.iterdir())
    assert not (tmp_path / segment_file_name(99_999, Suffix.OFFSET_INDEX)).exists()
    assert second not in [segment.base_offset for segment in opened.log.segments]


@pytest.mark.parametrize("partition", healthy_partitions(), ids=lambda partition: partition.name)
def test_recorded_directories_open_without_loss(partition: Partition, tmp_path: Path) -> None:
    recorded = [batch_bytes(batch) for batch in partition.batches()]
    for clean in {partition.was_closed, False}:
        directory = tmp_path / f"{clean}"
        shutil.copytree(partition.path, directory)
        opened = open_log(directory, LogConfig(), Descriptors(), clean=clean)
        assert [batch for _, batch in opened.log.batches(opened.log.log_start_offset)] == recorded
        assert opened.truncated_bytes == 0
        if clean:
            assert opened.recovered_segments == ()
            assert content(directory) == content(partition.path)
        opened.log.close(clean=False)


@pytest.mark.parametrize("partition", healthy_partitions(), ids=lambda partition: partition.name)
def test_recorded_producer_state_is_taken_over(partition: Partition, tmp_path: Path) -> None:
    """After an orderly stop the broker's last snapshot stands at the log's end and is the state."""
    snapshots = snapshot_offsets(partition.path)
    if not partition.was_closed or not snapshots:
        return
    directory = tmp_path / "copy"
    shutil.copytree(partition.path, directory)
    opened = open_log(directory, LogConfig(), Descriptors(), clean=True)
    loaded = load_latest_snapshot(directory, opened.log.log_end_offset)
    assert loaded is not None
    assert loaded[0] == snapshots[-1]
    if loaded[0] == opened.log.log_end_offset:
        assert opened.producers == loaded[1]
    opened.log.close(clean=False)
