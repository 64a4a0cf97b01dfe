"""A running cluster behind a socket, used like the in-memory one: real Kafka, or a sandbox process."""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

from eosctl.wire.frames import FrameSplitter, decode_response, encode_request, response_correlation_id
from tests.sandbox.harness import Pending

WAIT_LIMIT_MS = 60_000
CHUNK_BYTES = 65_536


class SocketClient:
    """A connection that sends requests and keeps their responses."""

    def __init__(self, address: tuple[str, int], client_id: str) -> None:
        self._client_id = client_id
        self._splitter = FrameSplitter()
        self._pending: dict[int, Pending] = {}
        self._correlation_id = 0
        self.closed = False
        self.socket = socket.create_connection(address, WAIT_LIMIT_MS / 1000)

    def send(self, api_key: int, version: int, message: Any) -> Pending:
        """Send a request without waiting."""
        pending = self._begin(api_key, version)
        self._write(encode_request(api_key, version, self._correlation_id, self._client_id, message))
        return pending

    def send_as(self, api_key: int, layout: int, version: int, header_tags: bytes, body: bytes) -> Pending:
        """Send a body in one version's layout under another version's number; decode the response as `layout`."""
        pending = self._begin(api_key, layout)
        name = self._client_id.encode()
        header = struct.pack(">hhih", api_key, version, self._correlation_id, len(name)) + name + header_tags
        self._write(struct.pack(">i", len(header) + len(body)) + header + body)
        return pending

    def receive(self) -> None:
        """Receive available bytes; the broker may have disconnected."""
        try:
            data = self.socket.recv(CHUNK_BYTES)
        except OSError:
            data = b""
        if not data:
            self.disconnect()
            return
        for frame in self._splitter.feed(data):
            pending = self._pending.pop(response_correlation_id(frame))
            _, pending.response = decode_response(pending.api_key, pending.version, frame)

    def disconnect(self) -> None:
        """Disconnect; pending requests get no response."""
        self.closed = True
        self.socket.close()
        for pending in self._pending.values():
            pending.closed = True
        self._pending.clear()

    def _begin(self, api_key: int, version: int) -> Pending:
        self._correlation_id += 1
        pending = self._pending[self._correlation_id] = Pending(api_key, version)
        return pending

    def _write(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except OSError:
            self.disconnect()


class SocketCluster:
    """The clients of a broker, on the wall clock."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.partition(",")[0].rpartition(":")
        self._address = host, int(port)
        self._clients: list[SocketClient] = []

    def __enter__(self) -> SocketCluster:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.disconnect()

    def now_ms(self) -> int:
        """Return the wall clock."""
        return time.time_ns() // 1_000_000

    def client(self, broker_id: int = 1, client_id: str = "harness") -> SocketClient:
        """Open a separate connection."""
        client = SocketClient(self._address, client_id)
        self._clients.append(client)
        return client

    def request(self, broker_id: int, api_key: int, version: int, message: Any) -> Any:
        """Send a request on a separate connection and return the response."""
        pending = self.client(broker_id).send(api_key, version, message)
        self.run_until(lambda: pending.is_over)
        return pending.response

    def advance(self, ms: float) -> None:
        """Wait for a duration."""
        self._wait(time.monotonic() + ms / 1000, lambda: False)

    def run_until(self, stop: Callable[[], bool], limit_ms: float = WAIT_LIMIT_MS) -> None:
        """Wait for responses until `stop` returns true.

        Raises:
            TimeoutError: It does not within `limit_ms`.
        """
        if not self._wait(time.monotonic() + limit_ms / 1000, stop):
            raise TimeoutError(f"nothing happened within {limit_ms:.0f} ms")

    def _wait(self, deadline: float, stop: Callable[[], bool]) -> bool:
        self._clients = [client for client in self._clients if not client.closed]
        with selectors.DefaultSelector() as selector:
            for client in self._clients:
                selector.register(client.socket, selectors.EVENT_READ, client)
            while not stop():
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                for key, _ in selector.select(left):
                    key.data.receive()
                    if key.data.closed:
                        selector.unregister(key.fileobj)
        return True
