"""The hot path of the load generator: connections that send prebuilt frames, and producers that step through them.

At most three fields of a response are read (size, error, the identity of EndTxn 5); nothing is decoded. The responses
of a read are handled together, and the resulting requests are sent in one write per connection.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from struct import Struct
from typing import Final

from eosctl.client.outcome import known_error
from eosctl.client.ports import Transport
from eosctl.lab.workloads.latency import LatencyHistogram
from eosctl.lab.workloads.prebuilt import AnswerLayout, PrebuiltRequest, unpack_identity
from eosctl.wire.api_keys import ApiKey

_size_at: Final = Struct(">i").unpack_from
_NO_ERROR: Final = b"\0\0"
_SEQUENCE_COUNT: Final = 2**31


class Tally:
    """Counters shared by all producers."""

    def __init__(self) -> None:
        self.commit = LatencyHistogram()
        self.whole = LatencyHistogram()
        self.completed_count = 0
        self.retry_count = 0
        self.errors: Counter[str] = Counter()

    def clear(self) -> None:
        """Reset all counters."""
        self.commit.clear()
        self.whole.clear()
        self.completed_count = 0
        self.retry_count = 0
        self.errors.clear()


class Lane:
    """A connection to a broker; responses come in the order of the requests."""

    def __init__(self, loop: asyncio.AbstractEventLoop, unsent: list[Lane], lost: Callable[[], None]) -> None:
        self._loop = loop
        self._unsent = unsent
        self._lost = lost
        self._transport: Transport | None = None
        self._out: list[bytearray] = []
        self._waiting: deque[Producer] = deque()
        self._rest = b""

    def attach(self, transport: Transport) -> None:
        """Set the transport after the connection is open."""
        self._transport = transport

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()

    def put(self, frame: bytearray, producer: Producer) -> None:
        """Queue a frame for the next flush; its response goes to the producer."""
        out = self._out
        if not out:
            self._unsent.append(self)
        out.append(frame)
        self._waiting.append(producer)

    def flush(self) -> None:
        """Send the queued frames in one write."""
        if self._transport is not None:
            self._transport.write(b"".join(self._out))
        self._out.clear()

    def data_received(self, data: bytes) -> None:
        """Pass each complete response to its producer (called by the transport)."""
        if self._rest:
            data = self._rest + data
        waiting, now = self._waiting, self._loop.time()
        position, end = 0, len(data)
        while end - position >= 4:
            stop = position + 4 + _size_at(data, position)[0]
            if stop > end:
                break
            waiting.popleft().answered(data, position, now)
            position = stop
        self._rest = data[position:]
        flush_all(self._unsent)

    def connection_lost(self, error: Exception | None) -> None:
        """Report the error to the generator (called by the transport)."""
        self._lost()


def flush_all(unsent: list[Lane]) -> None:
    """Send the queued frames of all connections."""
    for lane in unsent:
        lane.flush()
    unsent.clear()


class Step:
    """A request of a producer: its connection, its frame, and the layout of its response."""

    __slots__ = ("api_key", "errors_at", "identity_at", "lane", "request")

    def __init__(self, api_key: ApiKey, lane: Lane, request: PrebuiltRequest, layout: AnswerLayout) -> None:
        self.api_key = api_key
        self.lane = lane
        self.request = request
        self.errors_at = layout.errors_at
        self.identity_at = layout.identity_at


class Producer:
    """A transactional id, with one transaction at a time, step by step."""

    __slots__ = (
        "_commit_began_at",
        "_due_at",
        "_identity",
        "_index",
        "_last",
        "_loop",
        "_on_failed",
        "_on_idle",
        "_retry_after_s",
        "_sequence",
        "_sequenced",
        "_steps",
        "_tally",
        "_unsent",
    )

    def __init__(
        self,
        steps: tuple[Step, ...],
        identity: tuple[int, int],
        tally: Tally,
        loop: asyncio.AbstractEventLoop,
        unsent: list[Lane],
        retry_after_s: float,
        on_idle: Callable[[Producer, float], None],
        on_failed: Callable[[], None],
    ) -> None:
        self._steps = steps
        self._last = len(steps) - 1
        self._identity = (-1, -1)
        self._sequence = 0
        self._sequenced = next(step.request for step in steps if step.api_key is ApiKey.PRODUCE)
        self._tally = tally
        self._loop = loop
        self._unsent = unsent
        self._retry_after_s = retry_after_s
        self._on_idle = on_idle
        self._on_failed = on_failed
        self._index = 0
        self._due_at = 0.0
        self._commit_began_at = 0.0
        self._prepare(identity)

    def begin(self, due_at: float, now: float) -> None:
        """Start a transaction that was scheduled for `due_at` (loop time)."""
        self._due_at = due_at
        self._index = 0
        self._send(now)

    def answered(self, data: bytes, position: int, now: float) -> None:
        """Handle the response to the current step, which starts at `position`."""
        step = self._steps[self._index]
        for at in step.errors_at:
            at += position
            if data[at : at + 2] != _NO_ERROR:
                self._refused(step, int.from_bytes(data[at : at + 2], "big", signed=True))
                return
        if self._index < self._last:
            self._index += 1
            self._send(now)
            return
        tally = self._tally
        tally.completed_count += 1
        tally.commit.record(now - self._commit_began_at)
        tally.whole.record(now - self._due_at)
        self._prepare(unpack_identity(data, position + step.identity_at) if step.identity_at else self._identity)
        self._on_idle(self, now)

    def _prepare(self, identity: tuple[int, int]) -> None:
        """Update the frames for the next transaction."""
        if identity == self._identity:
            self._sequence = (self._sequence + 1) % _SEQUENCE_COUNT
            self._sequenced.update(*identity, self._sequence)
            return
        self._identity = identity
        self._sequence = 0
        for step in self._steps:
            step.request.update(*identity, 0)

    def _send(self, now: float) -> None:
        step = self._steps[self._index]
        if self._index == self._last:
            self._commit_began_at = now
        step.lane.put(step.request.frame, self)

    def _refused(self, step: Step, code: int) -> None:
        error = known_error(code)
        if error.retriable:
            self._tally.retry_count += 1
            self._loop.call_later(self._retry_after_s, self._repeat)
        else:
            self._tally.errors[f"{step.api_key.name} {error.name}"] += 1
            self._on_failed()

    def _repeat(self) -> None:
        step = self._steps[self._index]
        step.lane.put(step.request.frame, self)
        flush_all(self._unsent)
