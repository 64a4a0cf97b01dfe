"""A quarter of an hour in which 10,000 transactions run into their timeout, on virtual time."""

from __future__ import annotations

from pathlib import Path

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.harness import Harness
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.list_transactions import ListTransactionsRequest

COUNT = 10_000
TIMEOUT_MS = 900_000
SETTINGS = {
    "transaction.state.log.num.partitions": "5",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "10000",  # Kafka's own
}


def states(harness: Harness) -> dict[str, int]:
    answer = harness.request(1, ApiKey.LIST_TRANSACTIONS, 0, ListTransactionsRequest([], []))
    counts: dict[str, int] = {}
    for state in answer.transaction_states:
        counts[state.transaction_state] = counts.get(state.transaction_state, 0) + 1
    return counts


def test_a_quarter_of_an_hour_with_ten_thousand_timeouts(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(settings=SETTINGS))
    harness.request(1, ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest([CreatableTopic("orders", 10, 1, [], [])], 5_000))
    while harness.request(1, ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest("app-0", 1)).error_code:
        harness.advance(100)
    client = harness.client()
    names = [f"app-{number}" for number in range(COUNT)]
    begun = [client.send(ApiKey.INIT_PRODUCER_ID, 3, InitProducerIdRequest(name, TIMEOUT_MS)) for name in names]
    harness.run_until(lambda: begun[-1].is_over)
    added = [
        client.send(
            ApiKey.ADD_PARTITIONS_TO_TXN,
            3,
            AddPartitionsToTxnRequest(
                name, found.response.producer_id, 0, [AddPartitionsToTxnTopic("orders", [index % 10])]
            ),
        )
        for index, (name, found) in enumerate(zip(names, begun, strict=True))
        if found.response is not None and found.response.error_code == ErrorCode.NONE
    ]
    harness.run_until(lambda: added[-1].is_over)
    assert states(harness) == {"Ongoing": COUNT}
    harness.advance(TIMEOUT_MS - 10_000)
    assert states(harness) == {"Ongoing": COUNT}
    harness.advance(25_000)
    assert states(harness) == {"CompleteAbort": COUNT}
    harness.close()
