"""A quarter of an hour in which 10,000 transactions run into their timeout, on virtual time.

Their producers are gone: a coordinator that starts on the log of transactions, as compaction leaves it, meets all of
them open, and each has to be aborted when its own time is over.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.sandbox.core import ClusterShape
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.internal import transaction_log
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.internal.transaction_log import TransactionKey, TransactionPartitions, TransactionValue
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from eosctl.wire.messages.list_transactions import ListTransactionsRequest
from eosctl.wire.records.batch import encode_batch, with_offset
from eosctl.wire.records.record import Record
from tests.sandbox.harness import Harness

COUNT = 10_000
PARTITIONS = 10
STATE_PARTITIONS = 5
TIMEOUT_MS = 900_000
SCAN_MS = 10_000  # Kafka's own interval between two readings for timed-out transactions
SETTINGS = {
    "transaction.state.log.num.partitions": str(STATE_PARTITIONS),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": str(SCAN_MS),
    # Kafka's own too: a sandbox is quicker, which is of no use here and costs thousands of heartbeats.
    "broker.heartbeat.interval.ms": "2000",
    "broker.session.timeout.ms": "9000",
}
ONGOING = 1  # the state's id in the log (TransactionStatus)
LATEST = -1


def write_state_log(broker: Path, began_ms: int) -> None:
    """Write the record of each open transaction, a batch each, to the empty logs of a broker that is down."""
    batches: list[list[bytes]] = [[] for _ in range(STATE_PARTITIONS)]
    for number in range(COUNT):
        transactional_id = f"app-{number}"
        value = TransactionValue(
            producer_id=number,
            producer_epoch=0,
            transaction_timeout_ms=TIMEOUT_MS,
            transaction_status=ONGOING,
            transaction_partitions=(TransactionPartitions("orders", (number % PARTITIONS,)),),
            transaction_last_update_timestamp_ms=began_ms,
            transaction_start_timestamp_ms=began_ms,
        )
        key = transaction_log.encode_key(TransactionKey(transactional_id))
        batch = encode_batch([Record(0, began_ms, key, transaction_log.encode_value(value, 1))])
        of_partition = batches[partition_for(transactional_id, STATE_PARTITIONS)]
        of_partition.append(with_offset(batch, len(of_partition), 0))
    for index, of_partition in enumerate(batches):
        directory = broker / f"__transaction_state-{index}"
        directory.mkdir(exist_ok=True)  # a log's directory comes with its first batch
        (directory / f"{0:020}.log").write_bytes(b"".join(of_partition))


@pytest.fixture(autouse=True)
def objects_of_others_at_rest() -> None:
    """Spare the collector what other tests left alive, as the process of a sandbox does with what its start left."""
    gc.freeze()


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    harness = Harness(tmp_path, ClusterShape(settings=SETTINGS))
    topics = [CreatableTopic("orders", PARTITIONS, 1, [], [])]
    harness.request(1, ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest(topics, 5_000))
    while harness.request(1, ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest("app-0", 1)).error_code:
        harness.advance(100)
    yield harness
    harness.close()


def states(harness: Harness) -> Counter[str]:
    answer = harness.request(1, ApiKey.LIST_TRANSACTIONS, 0, ListTransactionsRequest([], []))
    return Counter(state.transaction_state for state in answer.transaction_states)


def ends(harness: Harness) -> list[int]:
    """Return the end of each partition of the data: markers take an offset each."""
    asked = [ListOffsetsPartition(index, timestamp=LATEST) for index in range(PARTITIONS)]
    answer = harness.request(1, ApiKey.LIST_OFFSETS, 5, ListOffsetsRequest(-1, 0, [ListOffsetsTopic("orders", asked)]))
    return [partition.offset for topic in answer.topics for partition in topic.partitions]


def test_a_quarter_of_an_hour_with_ten_thousand_timeouts(harness: Harness) -> None:
    began_ms = harness.now_ms()
    harness.kill(1)
    write_state_log(harness.core.directory_of(1), began_ms)
    harness.restart(1)
    harness.advance(1_000)
    assert states(harness) == {"Ongoing": COUNT}
    harness.advance(began_ms + TIMEOUT_MS - 1 - harness.now_ms())
    assert states(harness) == {"Ongoing": COUNT}, "a millisecond before their time"
    assert ends(harness) == [0] * PARTITIONS
    harness.advance(SCAN_MS + 1_000)
    assert states(harness) == {"CompleteAbort": COUNT}
    assert ends(harness) == [COUNT // PARTITIONS] * PARTITIONS
