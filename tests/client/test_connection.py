from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.client.connection import Connection
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.errors import WireError
from eosctl.wire.frames import decode_request, encode_response
from eosctl.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from eosctl.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from eosctl.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse, TransactionState


def test_a_request_becomes_a_frame_with_the_next_correlation_id() -> None:
    connection = Connection("me")
    first_id, _ = connection.send(ApiKey.HEARTBEAT, 4, HeartbeatRequest("g"))
    second_id, frame = connection.send(ApiKey.END_TXN, 3, EndTxnRequest("t", 5, 1, True))
    header, message = decode_request(frame[4:])
    assert (header.correlation_id, header.client_id) == (second_id, "me")
    assert second_id == first_id + 1
    assert message == EndTxnRequest("t", 5, 1, True)
    assert connection.pending_count == 2


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60))
def test_answers_are_matched_however_the_stream_is_cut(cuts: list[int]) -> None:
    connection = Connection("me")
    stream = b""
    sent = []
    for number in range(5):
        if number % 2:
            sent.append(connection.send(ApiKey.END_TXN, 5, EndTxnRequest())[0])
            stream += encode_response(ApiKey.END_TXN, 5, sent[-1], EndTxnResponse(0, number, 9, 9))
        else:
            sent.append(connection.send(ApiKey.HEARTBEAT, 3, HeartbeatRequest())[0])
            stream += encode_response(ApiKey.HEARTBEAT, 3, sent[-1], HeartbeatResponse(0, number))
    answers = []
    for cut in cuts:
        answers += connection.receive(stream[:cut])
        stream = stream[cut:]
    answers += connection.receive(stream)
    assert [answer.correlation_id for answer in answers] == sent
    assert [answer.message.error_code for answer in answers] == [0, 1, 2, 3, 4]
    assert connection.pending_count == 0


def test_an_answer_out_of_order_is_refused() -> None:
    connection = Connection("me")
    connection.send(ApiKey.HEARTBEAT, 3, HeartbeatRequest())
    second, _ = connection.send(ApiKey.HEARTBEAT, 3, HeartbeatRequest())
    with pytest.raises(WireError, match="expected 0"):
        connection.receive(encode_response(ApiKey.HEARTBEAT, 3, second, HeartbeatResponse()))


def test_an_answer_to_nothing_is_refused() -> None:
    with pytest.raises(WireError, match="nothing asked"):
        Connection("me").receive(encode_response(ApiKey.HEARTBEAT, 3, 0, HeartbeatResponse()))


def test_a_request_without_answer_is_not_waited_for() -> None:
    connection = Connection("me")
    connection.send(ApiKey.HEARTBEAT, 3, HeartbeatRequest(), answered=False)
    correlation_id, _ = connection.send(ApiKey.HEARTBEAT, 3, HeartbeatRequest())
    answers = connection.receive(encode_response(ApiKey.HEARTBEAT, 3, correlation_id, HeartbeatResponse()))
    assert [answer.correlation_id for answer in answers] == [correlation_id]


def test_an_answer_above_the_limit_is_refused_before_it_is_kept() -> None:
    connection = Connection("me", max_answer_bytes=100)
    connection.send(ApiKey.HEARTBEAT, 3, HeartbeatRequest())
    with pytest.raises(WireError):
        connection.receive((101).to_bytes(4, "big"))


CHANGING = st.lists(st.tuples(st.sampled_from(["", "Ongoing"]), st.integers(0, 3)), max_size=30)


@given(CHANGING, st.sampled_from([0, 1 << 20]))
def test_a_remembered_answer_is_the_answer(answers: list[tuple[str, int]], limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eosctl.client.connection.REMEMBERED_BYTES", limit)
        connection = Connection("me", remembers=True)
        last: dict[str, tuple[int, object]] = {}
        for wanted, count in answers:
            request = ListTransactionsRequest(state_filters=[wanted] if wanted else [])
            sent, _ = connection.send(ApiKey.LIST_TRANSACTIONS, 0, request)
            listed = [TransactionState(f"id-{number}", number, wanted) for number in range(count)]
            frame = encode_response(
                ApiKey.LIST_TRANSACTIONS, 0, sent, ListTransactionsResponse(transaction_states=listed)
            )
            (answer,) = connection.receive(frame)
            assert (answer.correlation_id, list(answer.message.transaction_states)) == (sent, listed)
            is_same = wanted in last and last[wanted][0] == count
            assert (wanted in last and answer.message is last[wanted][1]) == (is_same and limit > 0)
            last[wanted] = (count, answer.message)


def test_answers_are_not_remembered_unless_asked_for() -> None:
    connection = Connection("me")
    messages = []
    for _ in range(2):
        sent, _ = connection.send(ApiKey.LIST_TRANSACTIONS, 0, ListTransactionsRequest())
        messages += connection.receive(encode_response(ApiKey.LIST_TRANSACTIONS, 0, sent, ListTransactionsResponse()))
    assert messages[0].message is not messages[1].message
