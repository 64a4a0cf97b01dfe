"""What faults do to the stream between one client and a broker.

A stream keeps its order, as TCP does: what is behind a delayed request waits with it, also the end of the stream. So a
client that gives up and connects again can be overtaken by its own past, which is how a late EndTxn comes about. A
request that is dropped takes everything behind it along, as on a path that carries nothing any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from eosctl.sandbox.network import CLIENTS, REORDER_LIMIT_MS, FaultAction, Frame, LinkFault
from eosctl.sandbox.ports import Timer

END = bytes(bytearray(b"end"))
"""The end of the stream, kept back in its place; told from a request by its identity."""


class StreamTimers(Protocol):
    """When held requests go on: a node's runtime, or any loop's."""

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> Timer:
        """Call after a delay."""

    def call_soon(self, call: Callable[[], None]) -> None:
        """Call once this is done."""


class StreamEnd(Protocol):
    """The broker's end of the stream."""

    def take(self, frames: Sequence[bytes]) -> None:
        """Handle requests, or the end of the stream."""

    def emit(self, frame: bytes) -> None:
        """Send an answer."""

    def abort(self) -> None:
        """Break the connection."""


class ClientFaults:
    """The faults on the streams of one broker's clients, and the requests that wait to be overtaken."""

    def __init__(self) -> None:
        self.faults: list[LinkFault] = []
        self.overtaken: list[Callable[[], None]] = []

    def find(self, frame: Frame) -> LinkFault | None:
        """Return the fault that hits a frame; counts it."""
        return next((fault for fault in self.faults if fault.hits(frame)), None)


class ClientStream:
    """One client's stream while faults are about; made with the first of them."""

    def __init__(self, node_id: int, runtime: StreamTimers, faults: ClientFaults, end: StreamEnd) -> None:
        self._node_id = node_id
        self._runtime = runtime
        self._faults = faults
        self._end = end
        self._requests: list[bytes] | None = None  # kept back; None while the way is free
        self._answers: list[bytes] | None = None
        self._doubled: list[int] = []  # correlation ids of requests that were sent twice: one answer each is enough

    def arrive(self, frames: Sequence[bytes]) -> list[bytes]:
        """Return the requests that arrive now; the others come later through `StreamEnd.take`, or never."""
        arrived: list[bytes] = []
        for frame in frames:
            if self._requests is not None:
                self._requests.append(frame)
            elif not self._disturb(frame, arrived):
                break
        return arrived

    def _disturb(self, frame: bytes, arrived: list[bytes]) -> bool:
        fault = self._faults.find(self._frame(int.from_bytes(frame[:2], "big"), frame, is_request=True))
        match fault.action if fault else None:
            case FaultAction.DROP:
                self._requests = []
            case FaultAction.DELAY:
                self._requests = [frame]
                release = partial(self._release_requests, self._requests)
                self._runtime.call_later(fault.delay_ms if fault else 0, release)
            case FaultAction.REORDER:
                self._requests = [frame]
                release = partial(self._release_requests, self._requests)
                self._faults.overtaken.append(release)
                self._runtime.call_later((fault.delay_ms if fault else 0) or REORDER_LIMIT_MS, release)
            case FaultAction.DUPLICATE:
                self._doubled.append(int.from_bytes(frame[4:8], "big"))
                arrived += [frame, frame]
            case FaultAction.DISCONNECT:
                self._end.abort()
                return False
            case _:
                arrived.append(frame)
                self._let_overtaken_go()
        return True

    def _let_overtaken_go(self) -> None:
        waiting, self._faults.overtaken = self._faults.overtaken, []
        for release in waiting:
            self._runtime.call_soon(release)

    def _release_requests(self, held: list[bytes]) -> None:
        # A request that was overtaken has gone before its time was over: what is kept back by then is another fault's.
        if self._requests is held:
            self._requests = None
            self._end.take(held)

    def ends(self) -> bool:
        """Return whether the end of the stream may be noted now; else it is kept back behind the requests before it."""
        if self._requests is None:
            return True
        self._requests.append(END)
        return False

    def answer(self, api_key: int, frame: bytes) -> bool:
        """Take an answer, size prefix and all; returns whether it may leave now."""
        correlation_id = int.from_bytes(frame[4:8], "big")
        if correlation_id in self._doubled:
            self._doubled.remove(correlation_id)
            return False
        if self._answers is not None:
            self._answers.append(frame)
            return False
        fault = self._faults.find(self._frame(api_key, frame, is_request=False))
        match fault.action if fault else None:
            case FaultAction.DROP:
                self._answers = []
            case FaultAction.DELAY:
                self._answers = [frame]
                self._runtime.call_later(fault.delay_ms if fault else 0, partial(self._release_answers, self._answers))
            case FaultAction.DISCONNECT:
                self._runtime.call_soon(self._end.abort)
            case _:
                return True
        return False

    def _release_answers(self, held: list[bytes]) -> None:
        self._answers = None
        for frame in held:
            self._end.emit(frame)

    def _frame(self, api_key: int, data: bytes, *, is_request: bool) -> Frame:
        source, destination = (CLIENTS, self._node_id) if is_request else (self._node_id, CLIENTS)
        return Frame(source, destination, api_key, is_request, data)
