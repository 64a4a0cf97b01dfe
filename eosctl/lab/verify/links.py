"""Faults between the run's clients and any cluster: a connector with streams that can be cut, slowed, and held back.

As on a network, bytes are never invented or changed, only delayed or lost with their connection. Bytes held back on an
old connection while new ones are fast cause a late EndTxn (KAFKA-17754).
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Callable
from typing import Final

from eosctl.client.ports import Connector, Receiver, Transport
from eosctl.lab.faults import LINKS
from eosctl.lab.verify.plan import FaultRange, PlannedFault
from eosctl.model.client_config import Endpoint
from eosctl.sandbox.faults.kinds import FaultKind
from eosctl.wire.api_keys import ApiKey

#: How long a connection stays open after its last bytes were released, since closing it immediately may lose them.
_LINGER_S: Final = 0.5
#: Position of the API key in a request, after its size; clients write one request at a time.
_API_KEY: Final = slice(4, 6)
_END_TXN: Final = ApiKey.END_TXN.to_bytes(2, "big")

CUT: Final = f"{LINKS}:{FaultKind.CUT}"
DELAY: Final = f"{LINKS}:{FaultKind.DELAY}"
DISCONNECT: Final = f"{LINKS}:{FaultKind.DISCONNECT}"
LATE_END_TXN: Final = f"{LINKS}:{FaultKind.LATE_END_TXN}"

LINK_RANGES: Final = (
    FaultRange(CUT, (0,)),
    FaultRange(DELAY, (0,), amount=(20, 1_000)),
    FaultRange(DISCONNECT, (0,), duration_ms=(0, 100)),
    # Without an amount, requests are held back until the fault ends; responses are not.
    FaultRange(DELAY, (0,), duration_ms=(1_000, 6_000)),
    # Longer than a client waits for a response, so that it retries on another connection.
    FaultRange(LATE_END_TXN, (0,), duration_ms=(4_000, 7_000)),
)


class LinkNemesis:
    """A connector with faults on its streams.

    Args:
        inner: Opens the streams.
    """

    def __init__(self, inner: Connector) -> None:
        self._inner = inner
        self._streams: dict[_Stream, None] = {}
        self.is_cut = False
        self.delay_s = 0.0

    async def open(self, endpoint: Endpoint, receiver: Receiver, tls: ssl.SSLContext | None) -> Transport:
        """Open a stream; see `eosctl.client.ports.Connector`. While the link is cut, connecting fails."""
        if self.is_cut:
            raise ConnectionRefusedError(f"the link to {endpoint} is cut by this run")
        stream = _Stream(self, receiver)
        stream.attach(await self._inner.open(endpoint, stream, tls))
        self._streams[stream] = None
        return stream

    def forget(self, stream: _Stream) -> None:
        """Release a stream that has ended."""
        self._streams.pop(stream, None)

    async def begin(self, fault: PlannedFault) -> None:
        """Start a fault."""
        match fault.kind:
            case _ if fault.kind == CUT:
                self.is_cut = True
                for stream in tuple(self._streams):
                    stream.hold(both_ways=True)
            case _ if fault.kind == DELAY and fault.amount:
                self.delay_s = fault.amount / 1_000
            case _ if fault.kind == DISCONNECT:
                for stream in tuple(self._streams):
                    stream.break_off()
            case _ if fault.kind == LATE_END_TXN:
                for stream in tuple(self._streams):
                    stream.hold_at_end_txn()
            case _:
                for stream in tuple(self._streams):
                    stream.hold(both_ways=False)

    async def end(self, fault: PlannedFault) -> None:
        """End all faults, since faults of a run do not overlap."""
        await self.heal()

    async def heal(self) -> None:
        """Deliver everything held back."""
        self.is_cut = False
        self.delay_s = 0.0
        for stream in tuple(self._streams):
            stream.release()


class _Way:
    """A direction of a connection; its bytes always keep their order."""

    def __init__(self, link: LinkNemesis, deliver: Callable[[bytes], None]) -> None:
        self._link = link
        self._deliver = deliver
        self._held: deque[bytes] = deque()
        self._travelling: deque[bytes] = deque()
        self._arrival_at = 0.0
        self.is_held = False

    def carry(self, data: bytes) -> None:
        """Deliver bytes now or later."""
        if self.is_held:
            self._held.append(data)
            return
        loop = asyncio.get_running_loop()
        if self._link.delay_s or self._travelling:
            self._arrival_at = max(self._arrival_at, loop.time() + self._link.delay_s)
            self._travelling.append(data)
            loop.call_at(self._arrival_at, self._arrive)
        else:
            self._deliver(data)

    def release(self) -> None:
        """Deliver the bytes held back."""
        self.is_held = False
        while self._held:
            self.carry(self._held.popleft())

    def _arrive(self) -> None:
        # Simultaneous timers fire in any order, so each delivers the oldest bytes.
        self._deliver(self._travelling.popleft())


class _Stream:
    """A connection; bytes held back are delivered even if their sender has closed it."""

    def __init__(self, link: LinkNemesis, receiver: Receiver) -> None:
        self._link = link
        self._receiver = receiver
        self._transport: Transport | None = None
        self._closed = False
        self._holds_at_end_txn = False
        self._out = _Way(link, self._send)
        self._in = _Way(link, self._deliver)

    def attach(self, transport: Transport) -> None:
        """Set the transport to the broker."""
        self._transport = transport

    # --- the client's side ----------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes now or later."""
        if self._holds_at_end_txn and data[_API_KEY] == _END_TXN:
            self._out.is_held = True
        self._out.carry(data)

    def certificate(self) -> None:
        """Return None: connections through links are in plain text."""

    def close(self) -> None:
        """Close the connection; bytes held back are still in transit."""
        self._closed = True
        if not self._out.is_held:
            self._end()

    # --- the broker's side ----------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Pass bytes on now or later."""
        if not self._closed:
            self._in.carry(data)

    def connection_lost(self, error: Exception | None) -> None:
        """Pass on the end of the stream."""
        self._link.forget(self)
        if not self._closed:
            self._closed = True
            self._receiver.connection_lost(error)

    # --- faults -----------------------------------------------------------------------------------------------------

    def hold_at_end_txn(self) -> None:
        """Hold back the next EndTxn request, and everything after it on this connection."""
        self._holds_at_end_txn = True

    def hold(self, *, both_ways: bool) -> None:
        """Hold back bytes sent from now on, optionally in both directions."""
        self._out.is_held = True
        self._in.is_held = both_ways

    def release(self) -> None:
        """Deliver everything held back."""
        held = self._out.is_held
        self._holds_at_end_txn = False
        self._out.release()
        self._in.release()
        if held and self._closed:
            asyncio.get_running_loop().call_later(_LINGER_S, self._end)

    def break_off(self) -> None:
        """Abort the connection."""
        self._end()
        self.connection_lost(ConnectionResetError("broken by this run"))

    def _send(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _deliver(self, data: bytes) -> None:
        if not self._closed:
            self._receiver.data_received(data)

    def _end(self) -> None:
        self._link.forget(self)
        if self._transport is not None:
            self._transport.close()
