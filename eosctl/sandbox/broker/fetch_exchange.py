"""The reply of a fetch, which serves equal fetches too while their response does not change.

Clients without fetch sessions, such as librdkafka, send the same fetch again whenever one has waited in vain. Only the
correlation id differs, and the order of partitions: librdkafka begins with another one each time. While the partitions
stay as they were, such a request is not decoded: the fetch with this order waits again, and its response is sent with
the new correlation id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from eosctl.sandbox.broker.exchange import ClientConnection, Exchange
from eosctl.sandbox.broker.long_texts import frame_of
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import Codec

FETCH: Final = int(ApiKey.FETCH)
MOST_ORDERS: Final = 16
"""Kept fetches of a connection; a fetch of more partitions is not kept."""


def equal_part(frame: bytes) -> bytes:
    """Return a request without its correlation id; long ones, which are not kept, as empty bytes."""
    return frame[:4] + frame[8:] if len(frame) <= _LONGEST_BYTES else b""


_LONGEST_BYTES: Final = 4096


class FetchExchange(Exchange):
    """The reply of a fetch. A request starts with API key, version, and correlation id; a response with its size."""

    __slots__ = ("_is_kept", "_release", "_repeated", "_request", "_response", "_wait_again")

    # Set by `keep`; the frame is encoded when the response is first sent again.
    _response: Any
    _repeated: bytes | None
    _wait_again: Callable[[], bool]
    _release: Callable[[], None]

    def __init__(
        self, connection: ClientConnection, client_id: str, correlation_id: int, form: Codec, request: bytes
    ) -> None:
        super().__init__(connection, client_id, correlation_id, form)
        self._request = request
        self._is_kept = False  # Whether the response to be sent now is kept.

    def __call__(self, response: Any | None) -> None:
        """Send the response; None closes the connection. Earlier fetches are kept only until one has news."""
        if self._connection.kept:
            if self._is_kept:
                self._is_kept = False
            elif not self._answered:
                self._release_all()
        super().__call__(response)

    def _release_all(self) -> None:
        connection = self._connection
        connection.kept.clear()
        for key in [key for key in connection.close_listeners if isinstance(key, FetchExchange)]:
            connection.close_listeners.pop(key)()

    def keep(self, response: Any, count: int, wait_again: Callable[[], bool], release: Callable[[], None]) -> bool:
        """Serve equal fetches from now on, until a fetch has news or the connection ends; return whether it does.

        Args:
            response: The response of this fetch.
            count: The number of its partitions.
            wait_again: Starts to wait for an equal fetch; returns whether its response may be this one, which `repeat`
                sends.
            release: Called when no equal fetch will be served.
        """
        connection, key = self._connection, equal_part(self._request)
        if not key or count > MOST_ORDERS:
            return False
        if len(connection.kept) >= MOST_ORDERS and key not in connection.kept:
            self._release_all()  # Those of other partitions, which the client fetched before.
        self._response, self._repeated, self._is_kept = response, None, True
        self._wait_again, self._release = wait_again, release
        connection.kept[key] = self._repeats
        self.on_close(self, release)
        return True

    def _repeats(self, correlation_id: int) -> bool:
        """Return whether a request is served as an equal fetch; otherwise end this service."""
        connection = self._connection
        self._correlation_id = correlation_id
        self._answered = False
        self._request_throttle_ms = None
        if self._wait_again():
            connection.broker.requests.route(FETCH, self._form.version, from_broker=False)
            return True
        self._answered = True
        del connection.kept[equal_part(self._request)]
        connection.close_listeners.pop(self, None)
        self._release()
        return False

    def repeat(self) -> None:
        """Send the kept response again, unless this request has been answered."""
        if self._answered:
            return
        self._answered = True
        response, form, correlation_id = self._response, self._form, self._correlation_id
        if (counts := self._connection.broker.error_counts) is not None:
            counts.add(FETCH, response)
        frame = self._repeated
        if frame is None:
            frame = self._repeated = frame_of(form, correlation_id, response) or b""
        self._send(frame[:4] + correlation_id.to_bytes(4, "big", signed=True) + frame[8:])
