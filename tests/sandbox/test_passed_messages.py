"""Messages passed between nodes of a process without frames have the same effect as frames."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from threading import get_ident
from typing import Any

import msgspec
import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.network import FaultAction, Frame, LinkFault, Network, Passed
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.frames import decode_request, decode_response, encode_request, encode_response
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

ORDERS = [TopicPartition("orders", index) for index in range(3)]


def encoded(passed: Passed) -> bytes:
    """Return the frame that would be sent, without its size."""
    encode: Any = encode_request if passed.is_request else encode_response
    names = ("broker-0",) if passed.is_request else ()
    return bytes(encode(passed.api_key, passed.version, passed.correlation_id, *names, passed.message)[4:])


def decoded(passed: Passed, frame: bytes) -> Any:
    if passed.is_request:
        return decode_request(frame)[1]
    return decode_response(passed.api_key, passed.version, frame)[1]


def plain(message: Any) -> Any:
    """Return a message in which all sequences are lists."""
    return msgspec.json.decode(msgspec.json.encode(message))


class Watched:
    """Every message that is passed, with the bytes that would have been sent."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.passed: list[tuple[Passed, bytes]] = []
        self.frames: list[Frame] = []
        hand_over, send = Network.hand_over, Network.send
        own_thread = get_ident()  # clusters that other tests share live in threads of this process

        def watched_hand_over(network: Network, passed: Passed) -> bool:
            if get_ident() != own_thread:
                return hand_over(network, passed)
            assert not network.has_faults
            self.passed.append((passed, encoded(passed) if passed.message is not None else b""))
            return hand_over(network, passed)

        def watched_send(network: Network, frame: Frame) -> bool:
            if get_ident() == own_thread:
                self.frames.append(frame)
            return send(network, frame)

        patch.setattr(Network, "hand_over", watched_hand_over)
        patch.setattr(Network, "send", watched_send)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


def transact(client: EosClient) -> None:
    """Write to every partition, end transactions both ways, and restart a broker."""
    client.create_topic("orders", partitions=3, replicas=3)
    for number in range(4):
        producer = client.init(f"app-{number % 2}")
        for partition in ORDERS:
            assert client.produce(producer, partition, ["x"]) is ErrorCode.NONE
        assert client.end(producer, commit=number % 2 == 0) is ErrorCode.NONE
        if number == 1:
            client.harness.kill(client.leader(ORDERS[0]))
            client.harness.advance(3000)
    for broker in set(client.harness.core.broker_ids) - set(client.harness.core.nodes):
        client.harness.restart(broker)
    client.harness.advance(3000)


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_a_passed_message_equals_its_encoding(release: str, tmp_path: Path, watched: Watched) -> None:
    harness = Harness(tmp_path, ClusterShape(3, Emulation(release), None, {}, fast=True))
    transact(EosClient(harness, implicit=release == "4.3"))
    harness.close()
    assert not watched.frames
    seen = Counter((passed.api_key, passed.is_request) for passed, _ in watched.passed)
    for key in (ApiKey.FETCH, ApiKey.WRITE_TXN_MARKERS, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.BROKER_HEARTBEAT):
        assert seen[key, True] >= 2
        assert seen[key, False] >= 2
    for passed, frame in watched.passed:
        if passed.message is not None:
            assert encoded(passed) == frame  # it has not been changed since
            if passed.api_key != ApiKey.CREATE_TOPICS:  # sent on for a client, whose own answer has what it knows
                assert plain(decoded(passed, frame)) == plain(passed.message)


def test_a_fault_switches_later_messages_to_frames(tmp_path: Path, watched: Watched) -> None:
    harness = Harness(tmp_path, ClusterShape(3, Emulation("4.3"), None, {}, fast=True))
    client = EosClient(harness)
    client.create_topic("orders", partitions=3, replicas=3)
    waiting = {  # followers' fetches that leaders hold
        (passed.source, passed.destination, passed.correlation_id)
        for passed, _ in watched.passed
        if passed.is_request and passed.api_key == ApiKey.FETCH and passed.source in harness.core.broker_ids
    } - {
        (passed.destination, passed.source, passed.correlation_id)
        for passed, _ in watched.passed
        if not passed.is_request
    }
    assert waiting
    fault = LinkFault(FaultAction.DROP, api_key=ApiKey.END_TXN)  # which no node sends
    harness.core.network.add_fault(fault)
    passed_count = len(watched.passed)
    harness.advance(1000)
    answered = {
        (frame.destination, frame.source, int.from_bytes(frame.data[:4]))
        for frame in watched.frames
        if not frame.is_request
    }
    assert len(watched.passed) == passed_count
    assert waiting <= answered
    assert {broker.node_id for broker in harness.core.brokers()} == {1, 2, 3}
    for partition in ORDERS:
        assert len(harness.core.broker(client.leader(partition)).replicas.partitions[partition].isr) == 3
    harness.core.network.remove_fault(fault)
    harness.advance(1000)
    assert len(watched.passed) > passed_count
    harness.close()


def test_unanswered_requests_time_out_at_their_deadlines(tmp_path: Path) -> None:
    """A request with a nearer deadline than those before it does not wait for theirs."""
    harness = Harness(tmp_path, ClusterShape(2))
    harness.core.network.pause(2)
    request = FindCoordinatorRequest("app", 1)
    sent_at = harness.loop.time()
    ended: list[tuple[int, float, object]] = []
    for timeout_ms in (5_000, 730, 730, 2_000):

        def done(response: object, timeout_ms: int = timeout_ms) -> None:
            ended.append((timeout_ms, round(harness.loop.time() - sent_at, 3), response))

        harness.core.broker(1).channel.send(2, ApiKey.FIND_COORDINATOR, 3, request, done, timeout_ms=timeout_ms)
    harness.advance(6_000)
    assert ended == [(730, 0.73, None), (730, 0.73, None), (2_000, 2.0, None), (5_000, 5.0, None)]
    harness.close()
