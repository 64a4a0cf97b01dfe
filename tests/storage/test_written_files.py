"""The batches of a recorded log, appended to a log of ours, result in Kafka's files, byte for byte."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

import pytest

from eosctl.storage.config import LogConfig
from eosctl.storage.descriptors import Descriptors
from eosctl.storage.names import Suffix, parse_segment_file
from eosctl.storage.producer_replay import ProducerReplay
from eosctl.storage.producer_snapshot import decode_snapshot, write_snapshot
from eosctl.storage.recovery import open_log
from eosctl.wire.records.header import BatchHeader
from tests.storage.cases import Partition, batch_bytes
from tests.storage.test_producer_replay import COMPLETE

# The brokers ran with these values; which topic had which is not recorded, so one of them must explain all its files.
SEGMENT_BYTES = (9000, 16 << 10, 1 << 20)
INDEX_INTERVAL_BYTES = (512, 1024, 4096)

Batches = list[tuple[BatchHeader, bytes]]


def rewrite(batches: Batches, directory: Path, config: LogConfig, *, clean: bool) -> None:
    """Append batches as a broker did that was stopped (or killed) wherever the leader epoch rises, and at the end."""
    descriptors = Descriptors()
    opened = open_log(directory, config, descriptors, clean=True)
    log, replay = opened.log, ProducerReplay()
    epoch = batches[0][0].partition_leader_epoch
    for header, batch in batches:
        if header.partition_leader_epoch != epoch:
            epoch = header.partition_leader_epoch
            log.flush()
            if clean:
                write_snapshot(directory, log.log_end_offset, replay.producers.values())
            log.close(clean=clean)
            opened = open_log(directory, config, descriptors, clean=clean)
            assert opened.truncated_bytes == 0
            assert opened.producers == list(replay.producers.values())
            log = opened.log
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


def content(directory: Path) -> dict[str, object]:
    """Bytes of each segment file; preallocated zeros and absent or empty indexes are the same."""
    found: dict[str, object] = {}
    for path in directory.iterdir():
        name = parse_segment_file(path.name)
        if name is None or name.state or name.suffix is Suffix.PRODUCER_SNAPSHOT:
            continue
        data = path.read_bytes()
        if name.suffix in (Suffix.OFFSET_INDEX, Suffix.TIME_INDEX):
            data = data.rstrip(b"\0")
        if data:
            found[path.name] = data
    return found


@pytest.mark.parametrize("partition", COMPLETE, ids=lambda partition: partition.name)
def test_files_have_kafkas_bytes(partition: Partition, tmp_path: Path) -> None:
    batches = [(batch.header, batch_bytes(batch)) for batch in partition.batches()]
    wanted = content(partition.path)
    for clean, segment_bytes, interval in product((True, False), SEGMENT_BYTES, INDEX_INTERVAL_BYTES):
        directory = tmp_path / partition.path.name
        config = LogConfig(
            segment_bytes=segment_bytes, index_interval_bytes=interval, segment_index_bytes=4096, tail_bytes=2000
        )
        rewrite(batches, directory, config, clean=clean)
        if content(directory) == wanted:
            break
        shutil.rmtree(directory)
    else:
        pytest.fail("no setting gives the recorded files")
    for path in partition.files(Suffix.PRODUCER_SNAPSHOT):
        ours = directory / path.name
        if ours.exists():  # a snapshot of an earlier stop may have been deleted by the broker since
            assert sorted(decode_snapshot(ours.read_bytes())) == sorted(decode_snapshot(path.read_bytes()))
