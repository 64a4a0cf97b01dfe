from __future__ import annotations

import pytest

from eosctl.client.outcome import (
    any_error,
    error_for_code,
    error_of,
    failure_for_code,
    failure_for_error,
    known_error,
)
from eosctl.errors import (
    AuthenticationFailed,
    AuthorizationDenied,
    BrokerError,
    ClusterUnreachable,
    DecodeError,
    EosctlError,
    RequestTimedOut,
    UnsupportedByBroker,
)
from eosctl.model.evidence import GapReason
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_transactions import DescribeTransactionsResponse, TransactionState
from eosctl.wire.messages.end_txn import EndTxnResponse
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)


@pytest.mark.parametrize(
    ("code", "kind", "reason"),
    [
        (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, AuthorizationDenied, GapReason.NOT_AUTHORIZED),
        (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, AuthorizationDenied, GapReason.NOT_AUTHORIZED),
        (ErrorCode.UNSUPPORTED_VERSION, UnsupportedByBroker, GapReason.UNSUPPORTED),
        (ErrorCode.SASL_AUTHENTICATION_FAILED, AuthenticationFailed, GapReason.BROKER_ERROR),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, BrokerError, GapReason.LOADING),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, BrokerError, GapReason.NO_LEADER),
        (ErrorCode.LEADER_NOT_AVAILABLE, BrokerError, GapReason.NO_LEADER),
        (ErrorCode.REQUEST_TIMED_OUT, BrokerError, GapReason.TIMED_OUT),
        (ErrorCode.KAFKA_STORAGE_ERROR, BrokerError, GapReason.BROKER_ERROR),
    ],
)
def test_a_code_becomes_an_error_of_its_kind_and_a_reason(
    code: ErrorCode, kind: type[EosctlError], reason: GapReason
) -> None:
    error = error_for_code(code, "Asking broker 2")
    assert type(error) is kind
    assert error.what == f"Asking broker 2: {code.name}"
    failure = failure_for_code(code, "Asking broker 2")
    assert (failure.reason, failure.error_code) == (reason, code)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RequestTimedOut("x"), GapReason.TIMED_OUT),
        (ClusterUnreachable("x"), GapReason.UNREACHABLE),
        (AuthorizationDenied("x"), GapReason.NOT_AUTHORIZED),
        (AuthenticationFailed("x"), GapReason.NOT_AUTHENTICATED),
        (UnsupportedByBroker("x"), GapReason.UNSUPPORTED),
        (BrokerError("x", error_code=14), GapReason.LOADING),
        (DecodeError("x"), GapReason.BROKER_ERROR),
    ],
)
def test_an_exception_becomes_a_reason(error: EosctlError, reason: GapReason) -> None:
    assert failure_for_error(error).reason is reason


def test_the_brokers_own_words_go_before_ours() -> None:
    assert error_for_code(42, "CreateTopics", "Topic name is illegal").why == "Topic name is illegal"
    assert error_for_code(42, "CreateTopics").why == ErrorCode.INVALID_REQUEST.message


def test_codes_of_a_newer_broker_are_an_unknown_error() -> None:
    assert known_error(9_999) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert error_of(EndTxnResponse(0, 9_999)) is ErrorCode.UNKNOWN_SERVER_ERROR


def test_nested_errors_are_found_with_causes_first() -> None:
    def answer(*codes: int) -> TxnOffsetCommitResponse:
        partitions = [TxnOffsetCommitResponsePartition(index, code) for index, code in enumerate(codes)]
        return TxnOffsetCommitResponse(topics=[TxnOffsetCommitResponseTopic("t", partitions=partitions)])

    assert any_error(answer()) is ErrorCode.NONE
    assert any_error(answer(0, 0)) is ErrorCode.NONE
    assert any_error(answer(0, 55, 29)) is ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert any_error(answer(55, 0)) is ErrorCode.OPERATION_NOT_ATTEMPTED
    assert error_of(answer(29)) is ErrorCode.NONE
    described = DescribeTransactionsResponse(0, [TransactionState(0, "a"), TransactionState(105, "b")])
    assert any_error(described) is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
