"""Responses with an error message beyond 32,767 bytes: Kafka cannot send them, and reports an unexpected error instead.

A message that quotes a name of the request exceeds what a string of the protocol can hold. Kafka 4.3.1 then answers
UNKNOWN_SERVER_ERROR for each entry. To DescribeClientQuotas it sends nothing, and the client waits for its own timeout;
here its connection is closed.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cache
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from eosctl.sandbox.error_messages import kafka_text
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import Codec
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.frames import framed, response_frame
from eosctl.wire.messages.create_topics import CreatableTopicResult
from eosctl.wire.sliced_encoding import encode_in_slices

LONGEST_TEXT_BYTES: Final = 0x7FFF
SLICE_ENTRIES: Final = 100
"""Entries of a response that are encoded in one turn, such as topics with all their settings: some 5 ms."""
_ERROR: Final = ErrorCode.UNKNOWN_SERVER_ERROR
_UNANSWERED: Final = ApiKey.DESCRIBE_CLIENT_QUOTAS
#: APIs that describe the unexpected error in words.
_IN_WORDS: Final = (ApiKey.ALTER_CLIENT_QUOTAS, ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER)
# A character takes at most four bytes, and an escaped one more of JSON, which counts as several.
_LONG_MESSAGE: Final = re.compile(rb'"error_message":"(?:[^"\\]|\\.){%d}' % (LONGEST_TEXT_BYTES // 4))


def frame_of(form: Codec, correlation_id: int, response: msgspec.Struct) -> bytes | None:
    """Return the frame of a response as Kafka sends it, and None if it sends none.

    Raises:
        ValueError: A field does not fit, and it is not an error message.
    """
    try:
        frame = response_frame(form, correlation_id, response)
    except struct.error:
        return _sendable(form, correlation_id, response, None)
    return frame if len(frame) <= LONGEST_TEXT_BYTES else _sendable(form, correlation_id, response, frame)


def frame_in_turns(
    form: Codec, correlation_id: int, response: msgspec.Struct, field: str, send: Callable[[bytes | None], None]
) -> Iterator[None]:
    """Pass the frame of a response with many entries to `send`, as `frame_of` returns it, after steps of encoding.

    Args:
        form: The codec of the response.
        correlation_id: That of the request.
        response: The response.
        field: The name of its field with many entries.
        send: Receives the frame; None where Kafka sends no response, and after an error.

    Raises:
        ValueError: A field does not fit, and it is not an error message.
    """
    try:
        frame = yield from _frame_steps(form, correlation_id, response, field)
    except Exception:
        send(None)
        raise
    send(frame)


def _frame_steps(
    form: Codec, correlation_id: int, response: msgspec.Struct, field: str
) -> Generator[None, None, bytes | None]:
    steps = encode_in_slices(form, response, field, SLICE_ENTRIES)
    try:
        while True:
            part = next(steps)
            if _may_be_long(part) and _has_long_message(part):
                return _sendable(form, correlation_id, response, None)
            yield
    except StopIteration as end:
        return framed(form, correlation_id, end.value)
    except struct.error:
        return _sendable(form, correlation_id, response, None)


def _sendable(form: Codec, correlation_id: int, response: msgspec.Struct, frame: bytes | None) -> bytes | None:
    """Return a long response as Kafka sends it, and None if it sends none.

    Args:
        form: The codec of the response.
        correlation_id: That of the request.
        response: The response.
        frame: Its encoding, as compact strings hold more than Kafka lets them; None if it does not fit.

    Raises:
        ValueError: A field does not fit, and it is not an error message.
    """
    if frame is not None and not (_may_be_long(response) and _has_long_message(response)):
        return frame
    if not _has_long_message(response):
        raise ValueError(f"a field of the response to {form.api_key.name} does not fit")
    if form.api_key == _UNANSWERED:
        return None
    message = kafka_text(_ERROR) if form.api_key in _IN_WORDS else None
    return response_frame(form, correlation_id, _refused(response, message))


def _may_be_long(response: msgspec.Struct) -> bool:
    """Return whether a long response may have a long error message: an estimate in the time of its encoding."""
    return _has_messages(type(response)) and _LONG_MESSAGE.search(msgspec.json.encode(response)) is not None


@cache
def _has_messages(kind: type[msgspec.Struct]) -> bool:
    return b'"error_message"' in msgspec.json.encode(msgspec.json.schema(kind))


def _has_long_message(value: Any) -> bool:
    """Return whether an error message is too long; all other texts are those of a request, or of a topic."""
    message = getattr(value, "error_message", None)
    if message is not None and len(message.encode()) > LONGEST_TEXT_BYTES:
        return True
    return any(_has_long_message(one) for name in value.__struct_fields__ for one in _entries(getattr(value, name)))


def _refused(value: Any, message: str | None) -> Any:
    """Return a response, or an entry of it, with the unexpected error wherever it has one."""
    if isinstance(value, CreatableTopicResult):  # Also one that was created.
        return CreatableTopicResult(value.name, error_code=_ERROR, error_message=message)
    changed: dict[str, Any] = {
        name: [_refused(one, message) for one in entries]
        for name in value.__struct_fields__
        if (entries := _entries(getattr(value, name)))
    }
    changed |= {"error_code": _ERROR} if hasattr(value, "error_code") else {}
    return replace(value, **changed, **({"error_message": message} if hasattr(value, "error_message") else {}))


def _entries(field: object) -> Sequence[msgspec.Struct]:
    if not isinstance(field, list | tuple) or not field or not isinstance(field[0], msgspec.Struct):
        return ()
    return field
