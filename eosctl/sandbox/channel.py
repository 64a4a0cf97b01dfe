"""Requests from one node to another or to itself, encoded only where a fault may act on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

import msgspec

from eosctl.sandbox.network import Frame, Network, Passed
from eosctl.sandbox.ports import CLUSTER_PRINCIPAL, Envelope, RequestContext
from eosctl.sandbox.replies import Reply
from eosctl.sandbox.runtime import ROUNDING_MS, NodeRuntime
from eosctl.sandbox.timing_wheel import Pace, WheelTimer
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.frames import (
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
    response_correlation_id,
)

Done = Callable[[Any | None], None]
INTER_BROKER_LISTENER: Final = "REPLICATION"
LOOPBACK: Final = "127.0.0.1"


class PeerService(Protocol):
    """A service that handles requests of other nodes."""

    def serve(self, api_key: int, version: int, context: RequestContext, request: Any) -> None:
        """Handle a decoded request and respond through `context.reply`."""

    def decode(self, api_key: int, version: int, frame: bytes, position: int) -> Any:
        """Decode a request's body."""


class _Pending(msgspec.Struct, frozen=True):
    destination: int
    api_key: int
    version: int
    done: Done
    deadline: float


class NodeChannel:
    """Sends requests to other nodes, matches responses, and serves the requests of other nodes.

    While a fault is active on the network, requests and responses travel as encoded frames. Otherwise the other node
    receives the message object itself. `locate_controller` returns the active controller's node.
    """

    def __init__(
        self,
        node_id: int,
        network: Network,
        runtime: NodeRuntime,
        service: PeerService,
        locate_controller: Callable[[], int | None],
    ) -> None:
        self._node_id = node_id
        self._network = network
        self._runtime = runtime
        self._service = service
        self._locate_controller = locate_controller
        self._pending: dict[int, _Pending] = {}
        self._correlation_id = network.begin_run()
        self._sweep_timer: WheelTimer | None = None
        self._next_sweep = 0.0
        self._client_id = f"broker-{node_id}"

    def send(
        self,
        node_id: int,
        api_key: int,
        version: int,
        message: Any,
        done: Done,
        *,
        timeout_ms: int = 30_000,
        envelope: Envelope | None = None,
    ) -> None:
        """Send a request; `done` receives the response, or None after a disconnect or timeout.

        `envelope` is the client of a forwarded request.
        """
        if self._runtime.stopped:
            return
        if node_id == self._node_id and not self._network.has_faults:
            self._runtime.ticks.post_settled(partial(self._serve_self, api_key, version, message, done, envelope))
            return
        self._correlation_id = correlation_id = (self._correlation_id + 1) & 0x7FFF_FFFF
        deadline = self._runtime.loop.time() + timeout_ms / 1000
        self._pending[correlation_id] = _Pending(node_id, api_key, version, done, deadline)
        if self._network.has_faults:
            data = encode_request(api_key, version, correlation_id, self._client_id, message)[4:]
            is_sent = self._network.send(Frame(self._node_id, node_id, api_key, True, data, envelope))
        else:
            is_sent = self._network.hand_over(
                Passed(self._node_id, node_id, api_key, True, version, correlation_id, message, envelope)
            )
        if not is_sent:
            self._runtime.ticks.post(partial(self._receive_response, correlation_id, None))
        elif self._sweep_timer is None or deadline < self._next_sweep:
            self._sweep_at(deadline)

    def send_to_controller(
        self,
        api_key: int,
        version: int,
        message: Any,
        done: Done,
        *,
        timeout_ms: int = 30_000,
        envelope: Envelope | None = None,
    ) -> None:
        """Send a request to the active controller; `done` receives None without one or without a response.

        `envelope` is the client of a forwarded request.
        """
        controller = self._locate_controller()
        if controller is None:
            self._runtime.ticks.post(partial(done, None))
        else:
            answered = partial(_unless_refused, done)
            self.send(controller, api_key, version, message, answered, timeout_ms=timeout_ms, envelope=envelope)

    def receive(self, frame: Frame | Passed) -> None:
        """Receive a frame, or the message passed in its place."""
        if self._runtime.stopped:
            return
        if isinstance(frame, Passed):
            if frame.is_request:
                self._serve(
                    frame.source, frame.api_key, frame.version, frame.correlation_id, frame.message, frame.envelope
                )
            else:
                self._receive_response(frame.correlation_id, frame.message)
        elif frame.is_request:
            self._serve_frame(frame)
        else:
            self._receive_response_frame(frame)

    def disconnected(self, node_id: int) -> None:
        """Fail all requests that are waiting for a response of a disconnected node."""
        for correlation_id, pending in tuple(self._pending.items()):
            if pending.destination == node_id:
                self._receive_response(correlation_id, None)

    def _serve_self(self, api_key: int, version: int, message: Any, done: Done, envelope: Envelope | None) -> None:
        if self._runtime.stopped:
            return  # The node halted in the turn in which it sent a request to itself.
        context = _context(api_key, version, self._node_id, partial(self._answer_self, done), envelope)
        self._service.serve(api_key, version, context, message)

    def _answer_self(self, done: Done, response: Any | None) -> None:
        self._runtime.ticks.post_settled(partial(self._receive_own_response, done, response))

    def _receive_own_response(self, done: Done, response: Any | None) -> None:
        if not self._runtime.stopped:
            done(response)

    def _serve_frame(self, frame: Frame) -> None:
        try:
            header = decode_request_header(frame.data)
            request = self._service.decode(header.api_key, header.api_version, frame.data, header.body_position)
        except WireError:
            return
        self._serve(frame.source, header.api_key, header.api_version, header.correlation_id, request, frame.envelope)

    def _serve(
        self,
        node_id: int,
        api_key: int,
        version: int,
        correlation_id: int,
        request: Any,
        envelope: Envelope | None,
    ) -> None:
        reply = partial(self._answer, node_id, api_key, version, correlation_id)
        context = _context(api_key, version, node_id, reply, envelope)
        self._service.serve(api_key, version, context, request)

    def _answer(self, node_id: int, api_key: int, version: int, correlation_id: int, response: Any | None) -> None:
        if self._runtime.stopped:
            return
        if not self._network.has_faults:
            self._network.hand_over(Passed(self._node_id, node_id, api_key, False, version, correlation_id, response))
            return
        if response is None:  # Kafka would close the connection, which the sender would notice immediately.
            data = correlation_id.to_bytes(4, "big")
        else:
            data = encode_response(api_key, version, correlation_id, response)[4:]
        self._network.send(Frame(self._node_id, node_id, api_key, False, data))

    def _receive_response_frame(self, frame: Frame) -> None:
        correlation_id = response_correlation_id(frame.data)
        pending = self._pending.get(correlation_id)
        if pending is None:
            return
        try:
            _, response = decode_response(pending.api_key, pending.version, frame.data)
        except WireError:
            response = None
        self._receive_response(correlation_id, response)

    def _receive_response(self, correlation_id: int, response: Any | None) -> None:
        pending = self._pending.pop(correlation_id, None)
        if pending is not None:
            pending.done(response)

    def _sweep(self) -> None:
        self._sweep_timer = None
        now = self._runtime.loop.time() + ROUNDING_MS / 1000
        for correlation_id in [key for key, pending in self._pending.items() if pending.deadline <= now]:
            self._receive_response(correlation_id, None)
        # A response may have sent another request, which has started a timer.
        if self._pending and self._sweep_timer is None:
            self._sweep_at(min(pending.deadline for pending in self._pending.values()))

    def _sweep_at(self, deadline: float) -> None:
        """Check for timeouts at the first deadline; the timer outlives answered requests, which are most of them."""
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        self._next_sweep = deadline
        self._sweep_timer = self._runtime.call_later(
            (deadline - self._runtime.loop.time()) * 1000, self._sweep, Pace.KEEP_ALIVE
        )


def _context(api_key: int, version: int, node_id: int, reply: Reply, envelope: Envelope | None) -> RequestContext:
    """Return the context of another node's request, or of the client's that it forwards."""
    if envelope is None:
        return RequestContext(
            api_key, version, f"broker-{node_id}", LOOPBACK, CLUSTER_PRINCIPAL, INTER_BROKER_LISTENER, True, reply
        )
    principal, client_id, host = envelope
    return RequestContext(api_key, version, client_id, host, principal, INTER_BROKER_LISTENER, True, reply)


def _unless_refused(done: Done, response: Any | None) -> None:
    """Treat a response of an inactive controller as no controller."""
    done(None if getattr(response, "error_code", 0) == ErrorCode.NOT_CONTROLLER else response)
