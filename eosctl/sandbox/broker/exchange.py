"""The reply of a client's request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.broker.client_stream import ClientStream
from eosctl.sandbox.broker.long_texts import SLICE_ENTRIES, frame_in_turns, frame_of
from eosctl.sandbox.broker.sliced_requests import RESPONSE_FIELDS
from eosctl.sandbox.replies import ClientInformation
from eosctl.sandbox.turns import in_turns
from eosctl.wire.codec import Codec


class ClientConnection(ABC):
    """A connection as its exchanges see it; a base class, since compiled code calls its methods directly.

    Attributes:
        broker: The broker that handles the requests.
        by_token: Whether the client logged in with a delegation token.
        close_listeners: What runs when the connection ends, by key.
        kept: What serves fetches that equal an earlier one, by the request without its correlation id.
        software: The name and version of the client's software.
    """

    broker: Broker
    by_token: bool
    client_host: str
    client_port: int
    close_listeners: dict[object, Callable[[], None]]
    kept: dict[bytes, Callable[[int], bool]]
    software: tuple[str, str]

    @abstractmethod
    def abort(self) -> None:
        """Abort the connection."""

    @abstractmethod
    def answer(self, frame: bytes) -> None:
        """Queue a response (empty: none) and handle the next request."""

    @abstractmethod
    def count_request_time(self, client_id: str) -> int:
        """Add the time in the handler to the client's `request_percentage`; return its throttle time."""

    @abstractmethod
    def disturbed_stream(self) -> ClientStream | None:
        """Return the faults on this connection; None if there was never one."""

    @abstractmethod
    def identify(self, software_name: str, software_version: str) -> None:
        """Record the software that the client names in ApiVersions."""

    @abstractmethod
    def throttle(self, throttle_ms: int) -> None:
        """Keep the connection muted for this time after the next response."""


class Exchange:
    """The reply of a request. Repeated calls, and calls after the connection was closed, have no effect."""

    __slots__ = ("_answered", "_client_id", "_connection", "_correlation_id", "_form", "_request_throttle_ms")

    def __init__(self, connection: ClientConnection, client_id: str, correlation_id: int, form: Codec) -> None:
        self._connection = connection
        self._client_id = client_id
        self._correlation_id = correlation_id
        self._form = form
        self._answered = False
        self._request_throttle_ms: int | None = None

    def __call__(self, response: Any | None) -> None:
        """Send the response; None closes the connection."""
        if self._answered:
            return
        self._answered = True
        connection = self._connection
        if response is None:
            connection.abort()
        else:
            if connection.broker.metadata.quotas and connection.broker.request_quota.is_active:
                response = self._throttled(response)
            if (counts := connection.broker.error_counts) is not None:
                counts.add(self._form.api_key, response)
            field = RESPONSE_FIELDS.get(self._form.api_key)
            if field is not None and len(getattr(response, field) or ()) > SLICE_ENTRIES:
                steps = frame_in_turns(self._form, self._correlation_id, response, field, self._send)
                in_turns(connection.broker.runtime, steps)
            else:
                self._send(frame_of(self._form, self._correlation_id, response))

    def _send(self, frame: bytes | None) -> None:
        stream = self._connection.disturbed_stream()
        if frame is None:
            self._connection.abort()
        else:
            self._connection.answer(frame if stream is None or stream.answer(self._form.api_key, frame) else b"")

    def throttle(self, throttle_ms: int) -> None:
        """Handle the client's next request only after this time; called before the response is sent."""
        self._connection.throttle(throttle_ms)

    def request_throttle_ms(self) -> int:
        """Count the time that the request took so far, the first time; return the throttle time that it causes."""
        if self._request_throttle_ms is None:
            self._request_throttle_ms = self._connection.count_request_time(self._client_id)
        return self._request_throttle_ms

    def _throttled(self, response: Any) -> Any:
        throttle_ms = self.request_throttle_ms()
        self.throttle(throttle_ms)
        shown_ms = getattr(response, "throttle_time_ms", throttle_ms)
        return replace(response, throttle_time_ms=throttle_ms) if shown_ms < throttle_ms else response

    def on_close(self, key: object, call: Callable[[], None]) -> None:
        """Run `call` when the client's connection ends; it replaces the one of the same key."""
        self._connection.close_listeners[key] = call

    def identify(self, software_name: str, software_version: str) -> None:
        """Record the software that the client names."""
        self._connection.identify(software_name, software_version)

    def client(self) -> ClientInformation:
        """Return the client."""
        connection = self._connection
        return ClientInformation(
            connection.client_host, connection.client_port, connection.software, connection.by_token
        )

    def without_answer(self) -> None:
        """End the request without a response (acks=0)."""
        if not self._answered:
            self._answered = True
            self._connection.answer(b"")
