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
        (400_000_000, "so that limit was raised or the length is not one of a request"),
    ],
)
def test_a_broker_names_what_its_client_speaks(length: int, speaks: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": SERVER.format(length=length) + RECEIVING})
    assert one.root_cause == CAUSE
    assert speaks in one.explanation
    assert "socket.request.max.bytes" in one.next_step


NETTY = (
    "2026-03-20T08:04:15.034Z ERROR [vert.x-eventloop-thread-1] bridge.Http - request failed, kafka producer paused\n"
    "io.netty.util.internal.OutOfDirectMemoryError: failed to allocate 16777216 byte(s) of direct memory "
    "(used: 1056964615, max: 1073741824)\n\tat io.netty.util.internal.PlatformDependent.x(PlatformDependent.java:3)\n"
)


@pytest.mark.parametrize("length", [96_468_992, 104_857_600])
def test_a_request_of_allowed_size_is_not_another_protocol(length: int, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": SERVER.format(length=length) + RECEIVING})
    assert one.root_cause == "direct-memory-exhausted"
    assert f"{length:,} bytes did not fit, with 18 of 2,147 bytes allocated" in one.explanation
    assert "Most likely" not in one.explanation and "MaxDirectMemorySize" in one.next_step


def test_a_heap_too_small_for_requests_stays_that(tmp_path: Path) -> None:
    text = SERVER.partition("java.lang")[0] + "java.lang.OutOfMemoryError: Java heap space\n" + RECEIVING
    (one,) = judge(tmp_path, {"kubectl.txt": text})
    assert one.root_cause == "memory-exhausted" and "another protocol, such as TLS" not in one.explanation


def test_direct_memory_of_netty_is_read_from_its_own_numbers(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"bridge.log": NETTY})
    assert one.root_cause == "direct-memory-exhausted"
    assert "16,777,216 bytes did not fit, with 1,056,964,615 of 1,073,741,824 bytes allocated" in one.explanation


def test_memory_that_was_used_up_elsewhere_is_not_the_peer(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"orders.log": CLIENT + OTHERWISE})
    assert one.root_cause == "memory-exhausted"
