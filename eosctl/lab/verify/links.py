"""Faults between the run's own clients and any cluster: a connector whose streams can be cut, slowed and held back.

Bytes are never invented or changed, only late or lost with their connection, as a network may do it. What is held back
on an old connection while new ones are quick is how a late EndTxn comes about (KAFKA-17754).
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

#: How long a connection is kept after its last bytes were released: closing at once may lose them.
_LINGER_S: Final = 0.5
#: Where a request has its API key, behind its size; clients write one request at a time.
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
    # Without an amount requests are held back until the fault ends; answers are not.
    FaultRange(DELAY, (0,), duration_ms=(1_000, 6_000)),
    # Longer than a client waits for an answer: it asks again on another connection, and goes on.
    FaultRange(LATE_END_TXN, (0,), duration_ms=(4_000, 7_000)),
)


class LinkNemesis:
    """A connector, and who disturbs what goes through it.

    Args:
        inner: Opens the streams.
    """

    def __init__(self, inner: Connector) -> None:
        self._inner = inner
        self._streams: dict[_Stream, None] = {}
        self.is_cut = False
        self.delay_s = 0.0

    async def open(self, endpoint: Endpoint, receiver: Receiver, tls: ssl.SSLContext | None) -> Transport:
        """Open a stream; see `eosctl.client.ports.Connector`. While the link is cut nobody can be reached."""
        if self.is_cut:
            raise ConnectionRefusedError(f"the link to {endpoint} is cut by this run")
        stream = _Stream(self, receiver)
        stream.attach(await self._inner.open(endpoint, stream, tls))
        self._streams[stream] = None
        return stream

    def forget(self, stream: _Stream) -> None:
        """Let a stream go that has ended."""
        self._streams.pop(stream, None)

    async def begin(self, fault: PlannedFault) -> None:
        """Let a fault begin."""
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
        """Put everything right: faults of a run do not overlap."""
        await self.heal()

    async def heal(self) -> None:
        """Let everything through that was held back."""
        self.is_cut = False
        self.delay_s = 0.0
        for stream in tuple(self._streams):
            stream.release()


class _Way:
    """One direction of a connection; whatever happens to it, bytes keep their order."""

    def __init__(self, link: LinkNemesis, deliver: Callable[[bytes], None]) -> None:
        self._link = link
        self._deliver = deliver
        self._held: deque[bytes] = deque()
        self._travelling: deque[bytes] = deque()
        self._arrival_at = 0.0
        self.is_held = False

    def carry(self, data: bytes) -> None:
        """Deliver, now or later."""
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
        """Let through what was held back."""
        self.is_held = False
        while self._held:
            self.carry(self._held.popleft())

    def _arrive(self) -> None:
        # Timers of one instant fire in any order: each delivers whatever has travelled longest.
        self._deliver(self._travelling.popleft())


class _Stream:
    """One connection; what is held back arrives even if its sender has given up meanwhile."""

    def __init__(self, link: LinkNemesis, receiver: Receiver) -> None:
        self._link = link
        self._receiver = receiver
        self._transport: Transport | None = None
        self._closed = False
        self._holds_at_end_txn = False
        self._out = _Way(link, self._send)
        self._in = _Way(link, self._deliver)

    def attach(self, transport: Transport) -> None:
        """Set the way to the broker."""
        self._transport = transport

    # --- the client's side ----------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send, now or later."""
        if self._holds_at_end_txn and data[_API_KEY] == _END_TXN:
            self._out.is_held = True
        self._out.carry(data)

    def close(self) -> None:
        """Close; what was held back is still on its way."""
        self._closed = True
        if not self._out.is_held:
            self._end()

    # --- the broker's side ----------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Hand over, now or later."""
        if not self._closed:
            self._in.carry(data)

    def connection_lost(self, error: Exception | None) -> None:
        """Tell of the end."""
        self._link.forget(self)
        if not self._closed:
            self._closed = True
            self._receiver.connection_lost(error)

    # --- faults -----------------------------------------------------------------------------------------------------

    def hold_at_end_txn(self) -> None:
        """Keep back the next request to end a transaction, and all that follows it on this connection."""
        self._holds_at_end_txn = True

    def hold(self, *, both_ways: bool) -> None:
        """Keep back what is sent from now on, and what is answered too if asked."""
        self._out.is_held = True
        self._in.is_held = both_ways

    def release(self) -> None:
        """Let everything through."""
        held = self._out.is_held
        self._holds_at_end_txn = False
        self._out.release()
        self._in.release()
        if held and self._closed:
            asyncio.get_running_loop().call_later(_LINGER_S, self._end)

    def break_off(self) -> None:
        """Break the connection without a word."""
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
