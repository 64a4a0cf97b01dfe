"""Memory that a received length exhausted: the peer speaks another protocol, and a larger heap does not help."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

CLIENT = (
    "[2026-03-20 08:04:15,034] ERROR Uncaught exception in thread 'kafka-producer-network-thread | orders-1': "
    "(org.apache.kafka.common.utils.KafkaThread)\njava.lang.OutOfMemoryError: Java heap space\n"
    "\tat java.base/java.nio.ByteBuffer.allocate(ByteBuffer.java:363)\n"
)
SERVER = (
    "[2026-03-20 08:03:00,220] INFO [BrokerServer id=1] Transition from STARTING to STARTED (kafka.server.BrokerServer)"
    "\n[2026-03-20 08:04:15,034] ERROR Processor got uncaught exception. (kafka.network.Processor)\n"
    "java.lang.OutOfMemoryError: Cannot reserve {length} bytes of direct buffer memory (allocated: 18, limit: 2147)\n"
)
RECEIVING = "\tat org.apache.kafka.common.network.NetworkReceive.readFrom(NetworkReceive.java:102)\n"
OTHERWISE = "\tat org.apache.kafka.clients.producer.internals.BufferPool.allocate(BufferPool.java:90)\n"
CAUSE = "received-length-too-large"


def test_a_client_that_reads_a_length_needs_the_right_protocol(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"orders.log": CLIENT + RECEIVING})
    assert (one.kind, one.root_cause) == ("out_of_memory", CAUSE)
    assert "security.protocol" in one.next_step


@pytest.mark.parametrize(
    ("length", "speaks"),
    [
        (int.from_bytes(b"\x16\x03\x01\x01"), "first bytes of TLS (a handshake)"),
        (int.from_bytes(b"GET "), "first bytes of HTTP ('GET ')"),
        (400_000_000, "Most likely a client speaks another protocol"),
    ],
)
def test_a_broker_names_what_its_client_speaks(length: int, speaks: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": SERVER.format(length=length) + RECEIVING})
    assert one.root_cause == CAUSE
    assert speaks in one.explanation
    assert "socket.request.max.bytes" in one.next_step


def test_memory_that_was_used_up_elsewhere_is_not_the_peer(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"orders.log": CLIENT + OTHERWISE})
    assert one.root_cause == "memory-exhausted"
