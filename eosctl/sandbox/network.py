"""The links between nodes. Frames are delivered within the turn unless a fault applies."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from eosctl.sandbox.ports import Envelope
from eosctl.sandbox.ticks import Loop, Ticks
from eosctl.wire.api_keys import ApiKey

_FETCH: Final = int(ApiKey.FETCH)
REORDER_LIMIT_MS: Final = 50.0
_FAR: Final = 0x9E37_79B1  # Multiples of 2^32 over the golden ratio, modulo a power of two, are far from each other.
CLIENTS: Final = -1
"""The node id of all clients on a link (`eosctl.sandbox.broker.client_stream`)."""


class Frame(msgspec.Struct, frozen=True, gc=False):
    """A request or response in transit; `data` has no size prefix, and `envelope` is the client of a forwarded one."""

    source: int
    destination: int
    api_key: int
    is_request: bool
    data: bytes
    envelope: Envelope | None = None


class Passed(msgspec.Struct, frozen=True, gc=False):
    """A message in transit between nodes of one process, without encoding.

    Messages are immutable, so both nodes may keep parts of one. `message` is None for a response that closes the
    connection.
    """

    source: int
    destination: int
    api_key: int
    is_request: bool
    version: int
    correlation_id: int
    message: Any
    envelope: Envelope | None = None


class FaultAction(StrEnum):
    """The effect of a fault on matching frames."""

    DROP = "drop"
    DELAY = "delay"
    DUPLICATE = "duplicate"
    REORDER = "reorder"
    DISCONNECT = "disconnect"  # Closes a client's connection; between nodes the frame is lost.


class LinkFault:
    """A fault on the frames of some links.

    None matches everything. Of the matching frames, a share of `probability` counts. The first `skip` of these pass;
    the next `count` (None: all) are affected. `REORDER` holds a frame back until the next frame on the same link has
    passed, or until `delay_ms` (default `REORDER_LIMIT_MS`) have elapsed.
    """

    def __init__(
        self,
        action: FaultAction,
        *,
        source: int | None = None,
        destination: int | None = None,
        api_key: int | None = None,
        requests: bool | None = None,
        skip: int = 0,
        count: int | None = None,
        delay_ms: float = 0.0,
        probability: float = 1.0,
        chance: random.Random | None = None,
    ) -> None:
        self.action = action
        self.source = source
        self.destination = destination
        self.api_key = api_key
        self.requests = requests
        self.skip = skip
        self.count = count
        self.delay_ms = delay_ms
        self._probability = probability
        self._chance = chance
        self.hit_count = 0
        self.held: list[Frame] = []

    @property
    def is_at_arrival(self) -> bool:
        """Return whether the receiver's process applies the fault to frames between processes, not the sender's."""
        return self.source is None and self.destination is not None

    def hits(self, frame: Frame) -> bool:
        """Return whether the fault affects this frame; counts matching frames."""
        if not (
            self.source in (None, frame.source)
            and self.destination in (None, frame.destination)
            and self.api_key in (None, frame.api_key)
            and self.requests in (None, frame.is_request)
        ):
            return False
        if self._chance is not None and self._probability < 1 and self._chance.random() >= self._probability:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.count is not None:
            if self.count == 0:
                return False
            self.count -= 1
        self.hit_count += 1
        return True


class Port(NamedTuple):
    """A node's interface to the network."""

    receive: Callable[[Frame | Passed], None]
    disconnected: Callable[[int], None]  # Called after a node has disconnected.


class RemoteNodes(Protocol):
    """The nodes of other processes."""

    def has(self, node_id: int) -> bool:
        """Return whether a node of another process is attached."""

    def carry(self, frame: Frame | Passed) -> None:
        """Send a frame, or a message that is encoded first, to a node of another process after this turn's flushes."""

    def announce(self, node_id: int, *, is_attached: bool) -> None:
        """Report to the other processes that a node of this one is attached, or has disconnected."""


class _NoRemoteNodes:
    """All nodes run in this process."""

    def has(self, node_id: int) -> bool:
        """Return False."""
        return False

    def carry(self, frame: Frame | Passed) -> None:
        """Lose a frame that nothing receives."""

    def announce(self, node_id: int, *, is_attached: bool) -> None:
        """Report to no process."""


class Network:
    """Carries frames between attached nodes. Frames are delivered by the tick scheduler, never by recursion.

    Without a fault, nodes may pass messages without encoding; see `has_faults`.

    Attributes:
        remote: The nodes of other processes.
        run_count: The number of runs of nodes so far.
    """

    def __init__(self, loop: Loop, ticks: Ticks) -> None:
        self._loop = loop
        self._ticks = ticks
        self._ports: dict[int, Port] = {}
        self._faults: list[LinkFault] = []
        self._paused: dict[int, list[Callable[[], None]]] = {}
        self.remote: RemoteNodes = _NoRemoteNodes()
        self.run_count = 0

    def begin_run(self) -> int:
        """Return the number at which the correlation ids of a node's next run start, far from those of other runs.

        A response to a request of an earlier run then finds no request.
        """
        self.run_count += 1
        return (self.run_count * _FAR) & 0x7FFF_FFFF

    @property
    def has_faults(self) -> bool:
        """Return whether any fault is active."""
        return bool(self._faults)

    def attach(self, node_id: int, port: Port) -> None:
        """Attach a node, which may then send and receive."""
        self._ports[node_id] = port
        self.remote.announce(node_id, is_attached=True)

    def detach(self, node_id: int) -> None:
        """Break all connections of a node and notify the others, as TCP would."""
        self._ports.pop(node_id, None)
        self._paused.pop(node_id, None)
        self.remote.announce(node_id, is_attached=False)
        self.notify_disconnected(node_id)

    def notify_disconnected(self, node_id: int) -> None:
        """Notify the nodes of this process that a node, of this process or another, has disconnected."""
        for other in tuple(self._ports):
            self._ticks.post(partial(self._notify_disconnected, other, node_id))

    def _notify_disconnected(self, node_id: int, gone: int) -> None:
        port = self._ports.get(node_id)
        if node_id in self._paused:
            self._paused[node_id].append(partial(self._notify_disconnected, node_id, gone))
        elif port is not None:
            port.disconnected(gone)

    def add_fault(self, fault: LinkFault) -> None:
        """Add a fault to the links it matches until it is removed."""
        self._faults.append(fault)

    def remove_fault(self, fault: LinkFault) -> None:
        """Remove a fault and deliver the frames that it holds back."""
        if fault in self._faults:
            self._faults.remove(fault)
        for frame in fault.held:
            self._pass_on(frame)
        fault.held.clear()

    def heal(self) -> None:
        """Remove every fault."""
        for fault in tuple(self._faults):
            self.remove_fault(fault)

    def cut(self, first: int, second: int | None = None) -> list[LinkFault]:
        """Cut a link in both directions, or isolate a node; frames are lost silently."""
        faults = [
            LinkFault(FaultAction.DROP, source=first, destination=second),
            LinkFault(FaultAction.DROP, source=second, destination=first),
        ]
        self._faults.extend(faults)
        return faults

    def pause(self, node_id: int) -> None:
        """Hold back all frames to a node until `resume`; its connections stay open."""
        self._paused.setdefault(node_id, [])

    def resume(self, node_id: int) -> None:
        """Deliver the frames held back for a paused node, in order."""
        for call in self._paused.pop(node_id, ()):
            self._ticks.post(call)

    def send(self, frame: Frame) -> bool:
        """Send a frame; return False if nothing listens at the destination (connection refused)."""
        if frame.destination in self._ports:
            self._disturb(frame, self._faults)
        elif self.remote.has(frame.destination):
            self._disturb(frame, [fault for fault in self._faults if not fault.is_at_arrival])
        else:
            return False
        return True

    def arrive(self, frame: Frame) -> None:
        """Receive a frame of a node of another process."""
        self._disturb(frame, [fault for fault in self._faults if fault.is_at_arrival])

    def _disturb(self, frame: Frame, faults: Sequence[LinkFault]) -> None:
        for fault in faults:
            if fault.action is FaultAction.REORDER and fault.held and _same_link(fault.held[0], frame):
                self._pass_on(frame)
                for held in fault.held:
                    self._pass_on(held)
                fault.held.clear()
                return
            if fault.hits(frame):
                self._act(fault, frame)
                return
        self._pass_on(frame)

    def _pass_on(self, frame: Frame) -> None:
        if self.remote.has(frame.destination):
            self.remote.carry(frame)
        else:
            self._deliver(frame)

    def hand_over(self, passed: Passed) -> bool:
        """Deliver a message without encoding, in order with frames.

        Returns:
            False if nothing listens at the destination.
        """
        if passed.destination in self._ports:
            self._deliver(passed)
        elif self.remote.has(passed.destination):
            self.remote.carry(passed)
        else:
            return False
        return True

    def _act(self, fault: LinkFault, frame: Frame) -> None:
        match fault.action:
            case FaultAction.DELAY:
                self._loop.call_later(fault.delay_ms / 1000, self._pass_on, frame)
            case FaultAction.DUPLICATE:
                self._pass_on(frame)
                self._pass_on(frame)
            case FaultAction.REORDER:
                fault.held.append(frame)
                limit_ms = fault.delay_ms or REORDER_LIMIT_MS
                self._loop.call_later(limit_ms / 1000, self._release, fault, frame)
            case FaultAction.DROP | FaultAction.DISCONNECT:
                pass

    def _release(self, fault: LinkFault, frame: Frame) -> None:
        if any(held is frame for held in fault.held):
            fault.held = [held for held in fault.held if held is not frame]
            self._pass_on(frame)

    def _deliver(self, frame: Frame | Passed) -> None:
        if frame.api_key == _FETCH:
            # Cut off a copy without its original again; no other handler acts on it before its response.
            self._ticks.post(partial(self._arrive, frame))
        else:
            self._ticks.post_settled(partial(self._arrive, frame))

    def _arrive(self, frame: Frame | Passed) -> None:
        port = self._ports.get(frame.destination)
        if frame.destination in self._paused:
            self._paused[frame.destination].append(partial(self._arrive, frame))
        elif port is not None:
            port.receive(frame)


def _same_link(first: Frame, second: Frame) -> bool:
    return first.source == second.source and first.destination == second.destination
