"""Clients that cost much and give little: thousands of idle ones, ones that never read, ones that send half a frame.

`EOSCTL_CONNECTIONS` says how many connections are opened, 500 when it is not set (`make prove connections`: 10,000).
The cluster is a process of its own, so that its memory is its own too.
"""

from __future__ import annotations

import os
import resource
import selectors
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_response, encode_request
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic

CONNECTIONS = int(os.environ.get("EOSCTL_CONNECTIONS", "500"))
BYTES_PER_CONNECTION = 24 << 10
SPARE_BYTES = 48 << 20
DEADLINE_S = 300.0
PATIENCE_S = 3.0  # a broker that takes nothing for so long has stopped to read
FLOOD_BYTES = 128 << 20
ASK = encode_request(ApiKey.API_VERSIONS, 3, 7, "many", ApiVersionsRequest("many", "1"))


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningSandbox]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings = (("socket.request.max.bytes", "100000"),)
    spec = SandboxSpec("many", str(tmp_path / "data"), settings=settings, ephemeral=True, metrics_port=free_port())
    running = manage.start(spec)
    yield running
    manage.stop(running)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def connect(sandbox: RunningSandbox) -> socket.socket:
    host, port = sandbox.bootstrap.split(":")
    return socket.create_connection((host, int(port)), DEADLINE_S)


def resident_bytes(sandbox: RunningSandbox) -> int:
    pages = int(Path(f"/proc/{sandbox.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def answer_of(client: socket.socket) -> int:
    """Read one answer; returns its size, 0 when the broker hung up."""
    head = receive(client, 4)
    return len(receive(client, struct.unpack(">i", head)[0])) if head else 0


def receive(client: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = client.recv(size - len(data))
        if not chunk:
            return b""
        data += chunk
    return data


def is_served(sandbox: RunningSandbox) -> bool:
    with connect(sandbox) as client:
        client.sendall(ASK)
        return answer_of(client) > 0


def flood(client: socket.socket, frames: bytes) -> int:
    """Send the same frames again and again without reading, until the broker takes no more for a while."""
    client.setblocking(False)
    sent = 0
    with selectors.DefaultSelector() as selector:
        selector.register(client, selectors.EVENT_WRITE)
        while sent < FLOOD_BYTES and selector.select(timeout=PATIENCE_S):
            sent += client.send(frames[sent % len(frames) :])
    client.settimeout(DEADLINE_S)
    return sent


def ask(client: socket.socket, api_key: ApiKey, version: int, message: Any) -> Any:
    client.sendall(encode_request(api_key, version, 1, "many", message))
    size = struct.unpack(">i", receive(client, 4))[0]
    return decode_response(api_key, version, receive(client, size))[1]


def test_many_connections_are_served_in_bounded_memory(sandbox: RunningSandbox) -> None:
    before = resident_bytes(sandbox)
    clients = [connect(sandbox) for _ in range(CONNECTIONS)]
    try:
        for _ in range(2):
            for client in clients:
                client.sendall(ASK)
            assert all(answer_of(client) > 0 for client in clients)
        assert is_served(sandbox)
        grown = resident_bytes(sandbox) - before
        assert grown < CONNECTIONS * BYTES_PER_CONNECTION + SPARE_BYTES, grown
    finally:
        for client in clients:
            client.close()
    assert is_served(sandbox)


def test_a_client_that_never_reads_is_not_served_further(sandbox: RunningSandbox) -> None:
    """Its answers, 20 times the size of its requests, do not pile up in the broker; nor do its requests."""
    before = resident_bytes(sandbox)
    with connect(sandbox) as deaf:
        assert flood(deaf, ASK * 1000) < FLOOD_BYTES
        assert is_served(sandbox)
        assert resident_bytes(sandbox) - before < SPARE_BYTES
        assert all(answer_of(deaf) > 0 for _ in range(1000))  # once it reads, it continues


def test_requests_behind_one_that_waits_do_not_pile_up(sandbox: RunningSandbox) -> None:
    with connect(sandbox) as client:
        topic = CreatableTopic("orders", 1, 1)
        assert ask(client, ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest([topic], 30_000)).topics[0].error_code == 0
    before = resident_bytes(sandbox)
    asked = [FetchTopic("orders", partitions=[FetchPartition(0, -1, 0, partition_max_bytes=1000)])]
    waits = encode_request(ApiKey.FETCH, 11, 1, "many", FetchRequest(max_wait_ms=600_000, min_bytes=1, topics=asked))
    with connect(sandbox) as eager:
        eager.sendall(waits)
        assert flood(eager, ASK * 1000) < FLOOD_BYTES
        assert is_served(sandbox)
        assert resident_bytes(sandbox) - before < SPARE_BYTES
    assert is_served(sandbox)


def test_half_a_frame_harms_no_other_client(sandbox: RunningSandbox) -> None:
    """Half-open connections: nothing, a size alone, half a request; some hang up, some break."""
    halves = [connect(sandbox) for _ in range(60)]
    for position, half in enumerate(halves):
        half.sendall((b"", ASK[:2], ASK[:4], ASK[:9], ASK[:-1])[position % 5])
    assert is_served(sandbox)
    for half in halves[:20]:
        half.shutdown(socket.SHUT_WR)
        assert answer_of(half) == 0
    for half in halves[20:40]:
        half.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closes with a reset
        half.close()
    assert is_served(sandbox)
    for half in halves[44:60:5]:
        half.sendall(ASK[-1:])  # a request may come in pieces, however late
        assert answer_of(half) > 0
    for half in halves:
        half.close()


def test_an_oversized_frame_closes_the_connection_unread(sandbox: RunningSandbox) -> None:
    before = resident_bytes(sandbox)
    for size in (100_001, 0x7FFF_FFFF, -1):
        with connect(sandbox) as client:
            client.sendall(struct.pack(">i", size))
            assert answer_of(client) == 0
    with connect(sandbox) as client:
        client.sendall(struct.pack(">i", 100_000))  # allowed; what never comes is not set aside
        assert is_served(sandbox)
    assert resident_bytes(sandbox) - before < SPARE_BYTES


def test_clients_leave_descriptors_for_the_files_of_brokers(sandbox: RunningSandbox) -> None:
    """A broker that cannot open a file stops; so clients are refused before that."""
    early = connect(sandbox)
    resource.prlimit(sandbox.pid, resource.RLIMIT_NOFILE, (300, 300))
    clients = []
    metrics_port = sandbox.spec.metrics_port
    for number in range(800):
        with suppress(OSError):  # It may be refused already.
            is_scrape = number % 2 and metrics_port
            clients.append(socket.create_connection(("127.0.0.1", metrics_port)) if is_scrape else connect(sandbox))
            clients[-1].sendall(ASK)
    early.sendall(ASK)
    assert answer_of(early)
    assert manage.send_command(sandbox, "status")["brokers"][0]["ready"]
    for client in clients:
        client.close()
    assert any(is_served_again(sandbox) for _ in range(1_000))
    early.close()


def is_served_again(sandbox: RunningSandbox) -> bool:
    try:
        return is_served(sandbox)
    except OSError:
        return False
