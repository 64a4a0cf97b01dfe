"""Replaying recorded logs results in the brokers' producer snapshots and transaction indexes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from eosctl.storage.names import Suffix
from eosctl.storage.producer_replay import ProducerReplay
from eosctl.storage.producer_snapshot import read_snapshot
from eosctl.storage.txn_index import AbortedTxn, decode_aborted_txns
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record
from tests.storage.cases import Partition, healthy_partitions


def is_complete(partition: Partition) -> bool:
    """Return whether nothing was compacted or deleted, so that the log is complete."""
    if partition.log_start_offset:
        return False
    headers = [batch.header for batch in partition.batches()]
    return (
        bool(headers)
        and headers[0].base_offset == 0
        and all(after.base_offset == before.next_offset for before, after in pairwise(headers))
        and not any(header.has_delete_horizon or not header.records_count for header in headers)
    )


COMPLETE = [partition for partition in healthy_partitions() if is_complete(partition)]


def test_there_are_complete_recordings() -> None:
    assert len(COMPLETE) > 70


@pytest.mark.parametrize("partition", COMPLETE, ids=lambda partition: partition.name)
def test_replay_gives_the_recorded_snapshots(partition: Partition) -> None:
    for path in partition.files(Suffix.PRODUCER_SNAPSHOT):
        replay = ProducerReplay()
        for batch in partition.batches():
            if batch.header.next_offset <= int(path.name[:20]):
                replay.apply(batch.header, batch.buffer, batch.buffer_position)
        entries = read_snapshot(path)
        assert sorted(replay.producers.values()) == sorted(entries)
        assert ProducerReplay(entries).open_transactions == replay.open_transactions
        assert ProducerReplay(entries).first_open_offset == replay.first_open_offset


@pytest.mark.parametrize("partition", COMPLETE, ids=lambda partition: partition.name)
def test_replay_gives_the_recorded_transaction_index(partition: Partition) -> None:
    replay = ProducerReplay()
    completed = [replay.apply(batch.header, batch.buffer, batch.buffer_position) for batch in partition.batches()]
    aborted = [txn.as_aborted() for txn in completed if txn is not None and not txn.committed]
    recorded: list[AbortedTxn] = []
    for path in partition.files(Suffix.TXN_INDEX):
        recorded += decode_aborted_txns(path.read_bytes())
    assert aborted == recorded


def test_replay_continues_from_any_snapshot() -> None:
    """A state carried over by its entries is followed like the state itself."""
    for partition in COMPLETE[:20]:
        batches = list(partition.batches())
        whole = ProducerReplay()
        for index, batch in enumerate(batches):
            resumed = ProducerReplay(whole.producers.values())
            for later in batches[index:]:
                resumed.apply(later.header, later.buffer, later.buffer_position)
            final = ProducerReplay()
            for every in batches:
                final.apply(every.header, every.buffer, every.buffer_position)
            assert resumed.producers == final.producers
            assert resumed.open_transactions == final.open_transactions
            whole.apply(batch.header, batch.buffer, batch.buffer_position)


def data(replay: ProducerReplay, producer_id: int, offset: int, epoch: int = 0) -> None:
    batch = encode_batch(
        [Record(0, 5, None, b"v")],
        base_offset=offset,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=0,
        transactional=True,
    )
    assert replay.apply(decode_header(batch), batch) is None


def marker(replay: ProducerReplay, producer_id: int, offset: int, epoch: int = 0) -> int | None:
    batch = encode_marker_batch(EndTxnMarker(False, 3), producer_id, epoch, 9, base_offset=offset)
    completed = replay.apply(decode_header(batch), batch)
    return None if completed is None else completed.last_stable_offset


def test_the_lso_follows_the_earliest_open_transaction() -> None:
    replay = ProducerReplay()
    for producer_id, offset in ((1, 0), (2, 1), (3, 2)):
        data(replay, producer_id, offset)
    assert replay.first_open_offset == 0
    assert marker(replay, 2, 3) == 0
    assert marker(replay, 1, 4) == 2
    assert marker(replay, 3, 5) == 6
    assert marker(replay, 3, 6) is None, "a marker without a transaction ends none"
    assert replay.first_open_offset is None


def test_a_marker_of_a_higher_epoch_clears_the_sequences() -> None:
    replay = ProducerReplay()
    data(replay, 1, 0, epoch=4)
    assert marker(replay, 1, 1, epoch=5) == 2
    entry = replay.producers[1]
    assert (entry.producer_epoch, entry.last_sequence, entry.last_offset, entry.coordinator_epoch) == (5, -1, -1, 3)
