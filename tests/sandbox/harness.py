"""A cluster in memory and on virtual time: requests in, answers out, no sockets and no waiting."""

from __future__ import annotations

import struct
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import Any

from eosctl.sandbox.broker.broker import CLIENT_LISTENER
from eosctl.sandbox.broker.connection import Connection
from eosctl.sandbox.core import ClusterCore, ClusterShape
from eosctl.wire.frames import FrameSplitter, decode_response, encode_request, response_correlation_id

START_MS = 1_790_000_000_000
WAIT_LIMIT_MS = 60_000


class VirtualHandle:
    """A scheduled call."""

    __slots__ = ("arguments", "callback", "cancelled")

    def __init__(self, callback: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        self.callback = callback
        self.arguments = arguments
        self.cancelled = False

    def cancel(self) -> None:
        """Drop the call."""
        self.cancelled = True


class VirtualLoop:
    """The part of an event loop that the sandbox uses; time passes only when nothing else is left to do."""

    def __init__(self) -> None:
        self._now = 0.0
        self._order = count()
        self._queue: list[tuple[float, int, VirtualHandle]] = []

    def time(self) -> float:
        """Return virtual seconds."""
        return self._now

    def call_soon(self, callback: Callable[..., object], *args: Any) -> VirtualHandle:
        """Schedule a call for now."""
        return self.call_later(0, callback, *args)

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> VirtualHandle:
        """Schedule a call."""
        handle = VirtualHandle(callback, args)
        heappush(self._queue, (self._now + delay, next(self._order), handle))
        return handle

    def stand_still(self, seconds: float) -> None:
        """Let time pass without running anything, as on a stalled machine; due timers fire late."""
        self._now += seconds

    def call(self, handle: VirtualHandle) -> None:
        """Run a scheduled call; a turn of the sandbox is one of them."""
        handle.callback(*handle.arguments)

    def run(self, until: float, stop: Callable[[], bool] | None = None) -> None:
        """Run until the time `until`, or until `stop` returns true."""
        while (stop is None or not stop()) and self._queue and self._queue[0][0] <= until:
            due, _, handle = heappop(self._queue)
            self._now = max(self._now, due)
            if not handle.cancelled:
                self.call(handle)
        if stop is None:
            self._now = max(self._now, until)


class Pending:
    """A request with a response that may not have arrived."""

    __slots__ = ("api_key", "closed", "response", "version")

    def __init__(self, api_key: int, version: int) -> None:
        self.api_key = api_key
        self.version = version
        self.response: Any | None = None
        self.closed = False

    @property
    def is_over(self) -> bool:
        """Whether the broker answered or hung up."""
        return self.closed or self.response is not None


class HarnessClient:
    """A connection to one broker that speaks frames."""

    def __init__(self, harness: Harness, broker_id: int, client_id: str) -> None:
        self._harness = harness
        self._client_id = client_id
        self._connection = Connection(
            harness.core.broker(broker_id), CLIENT_LISTENER, "127.0.0.1", self._output, self._closed
        )
        self._splitter = FrameSplitter()
        self._pending: dict[int, Pending] = {}
        self._correlation_id = 0
        self.answer_count = 0
        self.closed = False

    def send(self, api_key: int, version: int, message: Any) -> Pending:
        """Send a request without waiting."""
        self._correlation_id += 1
        pending = self._pending[self._correlation_id] = Pending(api_key, version)
        pending.closed = self.closed
        self.feed(encode_request(api_key, version, self._correlation_id, self._client_id, message))
        return pending

    def expect(self, api_key: int, version: int) -> Pending:
        """Await the answer to the next request that is sent through :meth:`feed`, numbered on."""
        self._correlation_id += 1
        pending = self._pending[self._correlation_id] = Pending(api_key, version)
        return pending

    def send_as(self, api_key: int, layout: int, version: int, header_tags: bytes, body: bytes) -> Pending:
        """Send a body in one version's layout under another version's number; the answer is read as ``layout``'s."""
        self._correlation_id += 1
        pending = self._pending[self._correlation_id] = Pending(api_key, layout)
        name = self._client_id.encode()
        header = struct.pack(">hhih", api_key, version, self._correlation_id, len(name)) + name + header_tags
        self.feed(struct.pack(">i", len(header) + len(body)) + header + body)
        return pending

    def feed(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._connection.feed(data)
        self._harness.core.ticks.schedule()

    def request(self, api_key: int, version: int, message: Any, limit_ms: float = WAIT_LIMIT_MS) -> Any:
        """Send a request and return its answer, letting virtual time pass while it is not there; None when closed.

        Raises:
            TimeoutError: It is not there within `limit_ms`.
        """
        pending = self.send(api_key, version, message)
        self._harness.run_until(lambda: pending.is_over, limit_ms)
        return pending.response

    def disconnect(self) -> None:
        """Hang up."""
        self._connection.lost()
        self._closed()

    def _output(self) -> None:
        self._harness.core.ticks.at_write(self._take)

    def _take(self) -> None:
        for frame in self._splitter.feed(self._connection.take_output()):
            self.answer_count += 1
            pending = self._pending.pop(response_correlation_id(frame), None)
            if pending is None:
                continue  # an answer to bytes that the test made up
            _, pending.response = decode_response(pending.api_key, pending.version, frame)

    def _closed(self) -> None:
        self.closed = True
        for pending in self._pending.values():
            pending.closed = True
        self._pending.clear()


class Harness:
    """A whole cluster in one object, determined by its seed; `start_ms` is the initial wall clock."""

    def __init__(
        self, data_dir: Path, shape: ClusterShape | None = None, seed: int = 0, start_ms: int = START_MS
    ) -> None:
        self.loop = VirtualLoop()
        self.core = ClusterCore(shape or ClusterShape(), data_dir, self.loop, start_ms, seed)
        self._clients: dict[tuple[int, str], HarnessClient] = {}
        self.core.on_halt = self.core.on_disconnect = self._halted
        self.core.start()
        self.run_until(lambda: self.core.is_ready)

    def now_ms(self) -> int:
        """Return the cluster's wall clock."""
        return self.core.broker(self.core.broker_ids[0]).runtime.now_ms()

    def client(self, broker_id: int = 1, client_id: str = "harness") -> HarnessClient:
        """Open a connection of its own."""
        return HarnessClient(self, broker_id, client_id)

    def request(
        self,
        broker_id: int,
        api_key: int,
        version: int,
        message: Any,
        limit_ms: float = WAIT_LIMIT_MS,
        client_id: str = "harness",
    ) -> Any:
        """Send a request on a kept connection to a broker and return the answer; each client id has its own."""
        client = self._clients.get((broker_id, client_id))
        if client is None or client.closed:
            client = self._clients[broker_id, client_id] = self.client(broker_id, client_id)
        return client.request(api_key, version, message, limit_ms)

    def hang_up(self, broker_id: int, client_id: str) -> None:
        """Close a client's kept connection to a broker."""
        client = self._clients.pop((broker_id, client_id), None)
        if client is not None:
            client.disconnect()

    def advance(self, ms: float) -> None:
        """Advance the virtual time."""
        self.loop.run(self.loop.time() + ms / 1000)

    def run_until(self, stop: Callable[[], bool], limit_ms: float = WAIT_LIMIT_MS) -> None:
        """Advance the virtual time until `stop` returns true.

        Raises:
            TimeoutError: It does not within `limit_ms`.
        """
        self.loop.run(self.loop.time() + limit_ms / 1000, stop)
        if not stop():
            raise TimeoutError(f"nothing happened within {limit_ms:.0f} virtual ms")

    def kill(self, node_id: int) -> None:
        """End a node as kill -9 does."""
        self._forget(node_id)
        self.core.stop_node(node_id, clean=False)

    def stop(self, node_id: int) -> None:
        """End a node so that its files are complete."""
        self._forget(node_id)
        self.core.stop_node(node_id, clean=True)

    def _halted(self, node_id: int) -> None:
        for client in self._forget(node_id):
            client.disconnect()

    def _forget(self, node_id: int) -> list[HarnessClient]:
        return [self._clients.pop(key) for key in list(self._clients) if key[0] == node_id]

    def restart(self, node_id: int) -> None:
        """Start a node again and wait until the cluster serves."""
        self.core.start_node(node_id)
        self.run_until(lambda: self.core.is_ready)

    def close(self) -> None:
        """Stop everything."""
        self.core.stop(clean=True)
