"""What a leader answers a follower in its session: all that it lacks, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.metadata.image import PartitionState
from eosctl.sandbox.replication.fetch_sessions import CachedPartition, FetchKey, FetchSession
from eosctl.sandbox.replication.partition import Partition, TopicTraffic
from eosctl.sandbox.replication.reading import NO_EPOCH, read_new_records
from eosctl.sandbox.ticks import Ticks
from eosctl.wire.messages.fetch import FetchPartition, PartitionData
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.harness import VirtualLoop

ORDERS = TopicPartition("orders", 0)
TOPIC_ID = bytes(range(16))
NOW = 1_790_000_000_000
EVERYTHING = 10_485_760
OWN, SECOND, THIRD = 1, 2, 3


@pytest.fixture
def partition(tmp_path: Path) -> Partition:
    """A partition that broker 1 leads."""
    logs = LogDirectory(tmp_path, Ticks(VirtualLoop()))
    logs.open_directory(OWN, "cluster", bytes(16))
    found = Partition(OWN, ORDERS, TOPIC_ID, logs.open(ORDERS, TOPIC_ID, TopicSettings()), TopicTraffic())
    elect(found, OWN, epoch=0)
    return found


def elect(partition: Partition, leader: int, epoch: int) -> None:
    replicas = (OWN, SECOND, THIRD)
    partition.apply(PartitionState(replicas, replicas, leader, epoch, epoch), NOW)


def append(partition: Partition, value: str, epoch: int) -> None:
    batch = encode_batch([Record(0, NOW, None, value.encode())])
    partition.log.append_as_leader(batch, decode_header(batch), epoch, NOW)


def read(partition: Partition, follower: int, offset: int, epoch: int, max_bytes: int = EVERYTHING) -> PartitionData:
    request = FetchPartition(0, partition.leader_epoch, offset, epoch, 0, EVERYTHING)
    session = FetchSession(follower, True, NOW, is_follower=True)
    cached = CachedPartition(session, FetchKey("", TOPIC_ID, 0), request, 0)
    data = read_new_records(partition, cached, follower, max_bytes, at_least_one=False)
    assert data is not None
    return data


def test_an_answer_is_of_the_moment_in_which_it_is_made(partition: Partition) -> None:
    append(partition, "a", epoch=0)
    first = read(partition, SECOND, 0, 0)
    append(partition, "b", epoch=0)
    longer = read(partition, THIRD, 0, 0)
    assert longer.records is not None
    assert first.records is not None
    assert longer.records.startswith(first.records)
    assert len(longer.records) == 2 * len(first.records)
    partition.log.advance_high_watermark(1)
    assert read(partition, SECOND, 0, 0).high_watermark == 1
    partition.log.advance_start_offset(1)
    assert read(partition, SECOND, 1, 0).log_start_offset == 1
    assert read(partition, SECOND, 2, 0).records == b""


def test_who_may_read_little_gets_no_more(partition: Partition) -> None:
    append(partition, "a", epoch=0)
    assert read(partition, SECOND, 0, 0).records
    assert read(partition, THIRD, 0, 0, max_bytes=10).records == b""


def test_a_returning_leader_sends_what_was_written_meanwhile(partition: Partition) -> None:
    append(partition, "a", epoch=0)
    append(partition, "lost", epoch=0)
    before = read(partition, SECOND, 1, 0)
    assert before.records is not None
    assert b"lost" in before.records
    elect(partition, SECOND, epoch=1)
    partition.log.truncate_to(1)
    append(partition, "kept", epoch=1)
    elect(partition, OWN, epoch=2)
    after = read(partition, THIRD, 1, NO_EPOCH)
    assert after.records is not None
    assert b"kept" in after.records
