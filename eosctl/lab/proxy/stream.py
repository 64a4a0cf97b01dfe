"""A client's connection through the proxy, with faults on its requests and responses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Final

from eosctl.lab.proxy.addresses import Addresses, rewrite_answer
from eosctl.model.client_config import Endpoint
from eosctl.sandbox.broker.client_stream import END, ClientFaults, ClientStream
from eosctl.wire.errors import WireError
from eosctl.wire.frames import FrameSplitter

READ_BYTES: Final = 1 << 16
MAX_FRAME_BYTES: Final = 100 << 20


class LoopTimers:
    """The timers of a `ClientStream`, on the running loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Run a call after a delay."""
        return self._loop.call_later(delay_ms / 1000, call)

    def call_soon(self, call: Callable[[], None]) -> None:
        """Run a call in the next turn."""
        self._loop.call_soon(call)


class ProxiedStream:
    """Carries a connection until either side ends it."""

    def __init__(self, node_id: int, upstream: Endpoint, addresses: Addresses, faults: ClientFaults) -> None:
        self._upstream = upstream
        self._addresses = addresses
        self._stream = ClientStream(node_id, LoopTimers(), faults, self)
        self._asked: dict[int, list[tuple[int, int]]] = {}  # API and version by correlation id.
        self._client: asyncio.StreamWriter | None = None
        self._broker: asyncio.StreamWriter | None = None

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a client until its stream ends and all held-back requests are delivered."""
        self._client = writer
        try:
            from_broker, self._broker = await asyncio.open_connection(self._upstream.host, self._upstream.port)
        except OSError:
            writer.close()
            return
        down = asyncio.ensure_future(self._down(from_broker))
        try:
            await self._up(reader)
            if self._stream.ends():
                self._broker.write_eof()
            await down
        finally:
            down.cancel()
            self.abort()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await down

    async def _up(self, reader: asyncio.StreamReader) -> None:
        splitter = FrameSplitter(MAX_FRAME_BYTES)
        with contextlib.suppress(OSError, WireError):
            while data := await reader.read(READ_BYTES):
                self.take(self._stream.arrive(splitter.feed(data)))
                if self._broker is not None:
                    await self._broker.drain()

    async def _down(self, reader: asyncio.StreamReader) -> None:
        splitter = FrameSplitter(MAX_FRAME_BYTES)
        with contextlib.suppress(OSError, WireError):
            while data := await reader.read(READ_BYTES):
                for body in splitter.feed(data):
                    self._answer(len(body).to_bytes(4, "big") + body)
                if self._client is not None and not self._client.is_closing():
                    await self._client.drain()

    def _answer(self, frame: bytes) -> None:
        waiting = self._asked.get(int.from_bytes(frame[4:8], "big"), [])
        api_key, version = waiting.pop(0) if waiting else (-1, 0)
        rewritten = rewrite_answer(frame, api_key, version, self._addresses)
        if self._stream.answer(api_key, rewritten):
            self.emit(rewritten)

    # --- as the end of a ClientStream -----------------------------------------------------------------------------

    def take(self, frames: Sequence[bytes]) -> None:
        """Send requests to the broker, or end the stream."""
        broker = self._broker
        if broker is None or broker.is_closing():
            return
        for frame in frames:
            if frame is END:
                broker.write_eof()
                return
            api_key, version = int.from_bytes(frame[:2], "big"), int.from_bytes(frame[2:4], "big")
            self._asked.setdefault(int.from_bytes(frame[4:8], "big"), []).append((api_key, version))
            broker.write(len(frame).to_bytes(4, "big") + frame)

    def emit(self, frame: bytes) -> None:
        """Send a response to the client."""
        if self._client is not None and not self._client.is_closing():
            self._client.write(frame)

    def abort(self) -> None:
        """Close both connections."""
        for writer in (self._client, self._broker):
            if writer is not None:
                writer.close()
