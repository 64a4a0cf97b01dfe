"""A connection without I/O: encode requests, decode responses, and match them in order."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from msgspec import Struct

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import AnyRequest
from eosctl.wire.errors import WireError
from eosctl.wire.frames import FrameSplitter, decode_response, encode_request

MAX_ANSWER_BYTES: Final = 128 * 1024 * 1024
_MAX_CORRELATION_ID: Final = 2**31 - 1


class Answer(NamedTuple):
    """A decoded response and the correlation id of its request."""

    correlation_id: int
    message: Struct


class _Expected(NamedTuple):
    correlation_id: int
    api_key: ApiKey
    version: int


class Connection:
    """Encodes requests as frames and decodes bytes to responses.

    A broker responds to the requests of a connection in order, so a response that does not belong to the oldest pending
    request is an error of the stream.
    """

    def __init__(self, client_id: str, max_answer_bytes: int = MAX_ANSWER_BYTES) -> None:
        self._client_id = client_id
        self._splitter = FrameSplitter(max_answer_bytes)
        self._expected: deque[_Expected] = deque()
        self._next_correlation_id = 0

    @property
    def pending_count(self) -> int:
        """Return the number of requests without a response."""
        return len(self._expected)

    def send(self, api_key: ApiKey, version: int, message: AnyRequest, *, answered: bool = True) -> tuple[int, bytes]:
        """Return the correlation id and the frame of a request.

        Args:
            api_key: The API.
            version: Its negotiated version.
            message: The request.
            answered: False for a request without a response (Produce with acks=0).
        """
        correlation_id = self._next_correlation_id
        self._next_correlation_id = 0 if correlation_id == _MAX_CORRELATION_ID else correlation_id + 1
        frame = encode_request(api_key, version, correlation_id, self._client_id, message)
        if answered:
            self._expected.append(_Expected(correlation_id, api_key, version))
        return correlation_id, frame

    def receive(self, data: bytes) -> list[Answer]:
        """Return the responses that these bytes complete.

        Raises:
            WireError: The bytes are not a Kafka response, or no request is pending for it.
        """
        return [self._match(frame) for frame in self._splitter.feed(data)]

    def _match(self, frame: bytes) -> Answer:
        if not self._expected:
            raise WireError("an answer arrived that nothing asked for", "correlation_id", 0)
        expected = self._expected.popleft()
        correlation_id, message = decode_response(expected.api_key, expected.version, frame)
        if correlation_id != expected.correlation_id:
            raise WireError(
                f"the answer belongs to request {correlation_id}, expected {expected.correlation_id}",
                "correlation_id",
                0,
            )
        return Answer(correlation_id, message)
