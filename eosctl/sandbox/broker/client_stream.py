"""Faults on the stream between a client and a broker.

A stream keeps its order, as TCP does: everything behind a delayed request waits with it, including the end of the
stream. A client that gives up and reconnects can therefore be overtaken by its earlier requests, which causes late
EndTxn requests. A dropped request also drops everything behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from eosctl.sandbox.network import CLIENTS, REORDER_LIMIT_MS, FaultAction, Frame, LinkFault
from eosctl.sandbox.ports import Timer

END = bytes(bytearray(b"end"))
"""The end of the stream, held back in its place; distinguished from requests by identity."""


class StreamTimers(Protocol):
    """The timers of held requests: a node's runtime, or any event loop."""

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> Timer:
        """Run a call after a delay."""

    def call_soon(self, call: Callable[[], None]) -> None:
        """Run a call after the current one."""


class StreamEnd(Protocol):
    """The broker's end of the stream."""

    def take(self, frames: Sequence[bytes]) -> None:
        """Handle requests, or the end of the stream."""

    def emit(self, frame: bytes) -> None:
        """Send a response."""

    def abort(self) -> None:
        """Abort the connection."""


class ClientFaults:
    """The faults on the streams of a broker's clients, and the requests that wait to be overtaken."""

    def __init__(self) -> None:
        self.faults: list[LinkFault] = []
        self.overtaken: list[Callable[[], None]] = []

    def find(self, frame: Frame) -> LinkFault | None:
        """Return the fault that affects a frame, and count it."""
        return next((fault for fault in self.faults if fault.hits(frame)), None)


class ClientStream:
    """A client's stream, created with the first fault that affects it."""

    def __init__(self, node_id: int, runtime: StreamTimers, faults: ClientFaults, end: StreamEnd) -> None:
        self._node_id = node_id
        self._runtime = runtime
        self._faults = faults
        self._end = end
        self._requests: list[bytes] | None = None  # Requests held back; None while the stream is not delayed.
        self._answers: list[bytes] | None = None
        self._doubled: list[int] = []  # Correlation ids of requests that were duplicated: only one response is sent.

    def arrive(self, frames: Sequence[bytes]) -> list[bytes]:
        """Return the requests that arrive now. Others arrive later through `StreamEnd.take`, or never."""
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
                self._release_overtaken()
        return True

    def _release_overtaken(self) -> None:
        waiting, self._faults.overtaken = self._faults.overtaken, []
        for release in waiting:
            self._runtime.call_soon(release)

    def _release_requests(self, held: list[bytes]) -> None:
        # An overtaken request is released before its delay ends; requests held back by then belong to another fault.
        if self._requests is held:
            self._requests = None
            self._end.take(held)

    def ends(self) -> bool:
        """Return whether the stream may end now; otherwise the end is held back behind the earlier requests."""
        if self._requests is None:
            return True
        self._requests.append(END)
        return False

    def answer(self, api_key: int, frame: bytes) -> bool:
        """Accept a response with its size prefix; return whether it may be sent now."""
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
