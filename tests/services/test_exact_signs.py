"""What a text shows exactly comes before what its words resemble, and what is read out of it is plausible."""

from __future__ import annotations

import pytest

from eosctl.analysis.pasted_text import read_pasted
from eosctl.services.find_runbooks import find_runbooks

DESCRIBED = (
    "CoordinatorId\tTransactionalId\tProducerId\tProducerEpoch\tTransactionState\tTransactionTimeoutMs\t"
    "CurrentTransactionStartTimeMs\tTransactionDurationMs\tTopicPartitions\n"
    "2\tload-7\t4000\t7\tOngoing\t900000\t1795711531878\t{duration}\torders-0\n"
)
LAGS = (
    "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
    "mail requests 0 48211 48212 1 c1 /10.0.0.1 c\nmail requests 1 500 {end} {lag} c1 /10.0.0.1 c\n"
)
SHOWN = {
    "The transaction timeout is larger than the maximum value allowed by the broker": "INVALID_TRANSACTION_TIMEOUT",
    "kafka server: The broker received an out of order sequence number": "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "org.apache.kafka.common.errors.FencedInstanceIdException: It was rejected": "FencedInstanceIdException",
    "acks=1, the leader failed and forty records are gone": "lost-records",
    "our copied Connect cluster and the old one fence each other": "group.id of Connect",
    "InvalidProducerEpochException, the batch took 97411 ms": "transaction-timeout",
    "Found no committed offset for partition bills-3; it was stopped over the weekend": "group-offsets-expired",
}


@pytest.mark.parametrize("text", SHOWN)
def test_an_exact_sign_comes_before_words(text: str) -> None:
    found = find_runbooks(text)
    assert (found.matches[0].entry.name, found.is_sure) == (SHOWN[text], True)
    assert found.matches[0].decide


@pytest.mark.parametrize(
    ("duration", "first"),
    [(1500, "kafka-transactions.sh"), (600_000, "lingering transaction"), (899_999, "lingering transaction")],
)
def test_an_open_transaction_is_judged_by_the_time_left(duration: int, first: str) -> None:
    quiet = find_runbooks(DESCRIBED.format(duration=duration))
    assert quiet.matches[0].entry.name == first
    loud = find_runbooks(DESCRIBED.format(duration=duration) + "The job crashed and readers get nothing.")
    assert loud.is_sure
    assert all("timeout" not in match.entry.name for match in loud.matches[:1])


def test_the_time_left_is_named() -> None:
    (first, *_) = find_runbooks(DESCRIBED.format(duration=600_000)).matches
    assert "5 min left" in first.symptom


@pytest.mark.parametrize(
    ("end", "lag", "first"), [(501, 1, "offset gap"), (500, 0, "offset gap"), (509, 9, "kafka-consumer-groups.sh")]
)
def test_a_lag_of_one_is_the_marker_of_a_commit(end: int, lag: int, first: str) -> None:
    assert find_runbooks(LAGS.format(end=end, lag=lag)).matches[0].entry.name == first
    known = find_runbooks(LAGS.format(end=end, lag=lag) + "the producer is transactional")
    assert (known.matches[0].entry.name, known.is_sure) == (first, True)


def test_a_process_id_is_not_an_error_code() -> None:
    line = "2025-10-02T03:14:55.802Z ERROR 1 --- [main] o.s.k.l.Container : Transaction rolled back, error code 47"
    assert read_pasted(line).numbers == (47,)


@pytest.mark.parametrize(
    "text",
    [
        "state change to [retrying-1]",
        "LeaveGroup request to coordinator kafka-2:9092 (id: 2147483645 rack: null)",
        "on broker-3, for kafka-1, in thread-7",
        "connected to orders-2:9092",
    ],
)
def test_states_and_machines_are_not_topics(text: str) -> None:
    assert "topic" not in read_pasted(text).values


def test_sarama_names_topics_with_a_slash() -> None:
    line = "producer/broker/3 state change to [retrying] on ride.events/4 because kafka server: timed out"
    assert read_pasted(line).values["topic_partition"] == "ride.events-4"
