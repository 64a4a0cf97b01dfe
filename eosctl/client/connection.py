"""A connection without I/O: encode requests, decode responses, and match them in order."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from msgspec import Struct

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import AnyRequest
from eosctl.wire.errors import WireError
from eosctl.wire.frames import FrameSplitter, decode_response, encode_request, response_correlation_id

#: Answers that a live view reads again and again, mostly without a change.
REPEATED: Final = frozenset(
    {
        ApiKey.METADATA,
        ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.LIST_TRANSACTIONS,
        ApiKey.DESCRIBE_TRANSACTIONS,
        ApiKey.LIST_OFFSETS,
        ApiKey.LIST_GROUPS,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.OFFSET_FETCH,
    }
)
REMEMBERED_BYTES: Final = 64 * 1024 * 1024
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
    request: bytes


class _Remembered(NamedTuple):
    """The bytes of an answer after its correlation id, and its message."""

    content: bytes
    message: Struct


class Connection:
    """Encodes requests as frames and decodes bytes to responses.

    A broker responds to the requests of a connection in order, so a response that does not belong to the oldest pending
    request is an error of the stream.

    Args:
        client_id: Sent with each request.
        max_answer_bytes: The largest accepted response.
        remembers: Whether to return the message of the last response to a request again if its bytes are the same.
            Callers must not change messages then.
    """

    def __init__(self, client_id: str, max_answer_bytes: int = MAX_ANSWER_BYTES, *, remembers: bool = False) -> None:
        self._client_id = client_id
        self._splitter = FrameSplitter(max_answer_bytes)
        self._expected: deque[_Expected] = deque()
        self._next_correlation_id = 0
        self._repeated = REPEATED if remembers else frozenset()
        self._answers: dict[bytes, _Remembered] = {}
        self._remembered_bytes = 0

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
            # API and version, then what follows the correlation id.
            request = frame[4:8] + frame[12:] if api_key in self._repeated else b""
            self._expected.append(_Expected(correlation_id, api_key, version, request))
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
        correlation_id, message = self._decode(expected, frame)
        if correlation_id != expected.correlation_id:
            raise WireError(
                f"the answer belongs to request {correlation_id}, expected {expected.correlation_id}",
                "correlation_id",
                0,
            )
        return Answer(correlation_id, message)

    def _decode(self, expected: _Expected, frame: bytes) -> tuple[int, Struct]:
        if not expected.request:
            return decode_response(expected.api_key, expected.version, frame)
        known, content = self._answers.pop(expected.request, None), frame[4:]
        self._remembered_bytes -= 0 if known is None else len(known.content)
        if known is not None and known.content == content:
            correlation_id, message = response_correlation_id(frame), known.message
        else:
            correlation_id, message = decode_response(expected.api_key, expected.version, frame)
        self._remembered_bytes += len(content)
        self._answers[expected.request] = _Remembered(content, message)
        while self._remembered_bytes > REMEMBERED_BYTES:  # The one that was not asked for the longest goes first.
            self._remembered_bytes -= len(self._answers.pop(next(iter(self._answers))).content)
        return correlation_id, message
