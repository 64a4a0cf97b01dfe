"""Frames: the size, the header, and the message of a request or response.

A request header has version 1, or version 2 with tagged fields when the message is flexible. Its client id has a 16-bit
length in both. A response header has version 0, or version 1 with tagged fields. ApiVersions responses always use
version 0, because the client does not yet know the broker's versions (KIP-511).
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import Final

import msgspec

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import AnyRequest, Codec, Decode, codec
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.generated.index import APIS
from eosctl.wire.runtime import LengthError, skip_tags

FRAME_LIMIT_BYTES: Final = 104_857_600  # socket.request.max.bytes, Kafka's default

_API_VERSIONS: Final = int(ApiKey.API_VERSIONS)
_UNSUPPORTED: Final = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")
_NEVER: Final = 1 << 15
_FLEXIBLE_FROM: Final = {
    key: _NEVER if api.request.flexible_from is None else api.request.flexible_from for key, api in APIS.items()
}


class _Codecs(dict[tuple[int, int], Codec]):
    """Loaded codecs by API and version. A lookup is faster than a call of a cached function."""

    def __missing__(self, key: tuple[int, int]) -> Codec:
        form = self[key] = codec(*key)
        return form


_CODECS: Final = _Codecs()
# For requests: whether the version is flexible, and its decoder. A plain dictionary is the fastest lookup.
_REQUESTS: Final[dict[tuple[int, int], tuple[bool, Decode[AnyRequest]]]] = {}
_unpack_int32: Final = Struct(">i").unpack_from
_unpack_request: Final = Struct(">hhih").unpack_from
_pack_request: Final = Struct(">ihhih").pack
_pack_response: Final = Struct(">ii").pack
_pack_flexible_response: Final = Struct(">iix").pack


class RequestHeader(msgspec.Struct, frozen=True, gc=False):
    """The header of a request, and where its message starts in the frame."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body_position: int


def decode_request_header(frame: bytes) -> RequestHeader:
    """Read the header of a request of any API, known to eosctl or not.

    Args:
        frame: The request without its four size bytes.

    Raises:
        WireError: The frame is shorter than its header.
    """
    return RequestHeader(*request_header_fields(frame))


def request_header_fields(frame: bytes) -> tuple[int, int, int, str | None, int]:
    """Read the fields that `decode_request_header` reads, as a tuple in header order."""
    api_key: int
    version: int
    correlation_id: int
    size: int
    client_id: str | None
    try:
        api_key, version, correlation_id, size = _unpack_request(frame)
        if size >= 0:
            end = 10 + size
            client_id = frame[10:end].decode("utf-8", "replace")
        else:
            end = 10
            client_id = None
        if version >= _FLEXIBLE_FROM.get(api_key, _NEVER):
            end = skip_tags(frame, end) if frame[end] else end + 1
        elif end > len(frame):
            raise LengthError
    except (struct.error, IndexError, LengthError):
        raise WireError("request header: the frame ends too early", "request_header", len(frame)) from None
    return api_key, version, correlation_id, client_id, end


def decode_request(frame: bytes) -> tuple[RequestHeader, AnyRequest]:
    """Decode a request.

    Raises:
        WireError: The frame is malformed.
        KeyError: The API or the version is unknown.
    """
    try:
        api_key, version, correlation_id, size = _unpack_request(frame)
        flexible, decode = _REQUESTS[api_key, version]
        end = 10 + size
        if size < 0 or (frame[end] if flexible else end > len(frame)):
            raise LengthError
        client_id = frame[10:end].decode("utf-8", "replace")
    except (struct.error, IndexError, LengthError, KeyError):
        return _decode_unusual_request(frame)
    end += flexible
    return RequestHeader(api_key, version, correlation_id, client_id, end), decode(frame, end)[0]


def _decode_unusual_request(frame: bytes) -> tuple[RequestHeader, AnyRequest]:
    """Decode a request with tagged header fields, a null client id, an error, or a codec that is not loaded yet."""
    header = decode_request_header(frame)
    form = codec(header.api_key, header.api_version)
    _REQUESTS[header.api_key, header.api_version] = form.flexible, form.decode_request
    return header, form.decode_request(frame, header.body_position)[0]


def encode_request(
    api_key: int, version: int, correlation_id: int, client_id: str | None, message: AnyRequest
) -> bytes:
    """Encode a request with its four size bytes.

    Raises:
        KeyError: The API or the version is unknown.
    """
    form = _CODECS[api_key, version]
    body = form.encode_request(message)
    name = b"" if client_id is None else client_id.encode()
    tail = name + b"\0" if form.flexible else name
    size = -1 if client_id is None else len(name)
    return _pack_request(10 + len(tail) + len(body), api_key, version, correlation_id, size) + tail + body


def encode_response(api_key: int, version: int, correlation_id: int, message: msgspec.Struct) -> bytes:
    """Encode a response with its four size bytes.

    Raises:
        KeyError: The API or the version is unknown.
    """
    return response_frame(_CODECS[api_key, version], correlation_id, message)


def response_frame(form: Codec, correlation_id: int, message: msgspec.Struct) -> bytes:
    """Encode a response with its four size bytes, given its codec."""
    return framed(form, correlation_id, form.encode_response(message))


def framed(form: Codec, correlation_id: int, body: bytes) -> bytes:
    """Return an encoded response with its header and its four size bytes."""
    if form.flexible and form.api_key != _API_VERSIONS:
        return _pack_flexible_response(5 + len(body), correlation_id) + body
    return _pack_response(4 + len(body), correlation_id) + body


def decode_response(api_key: int, version: int, frame: bytes) -> tuple[int, msgspec.Struct]:
    """Decode a response.

    A broker that does not support the version of an ApiVersions request responds in version 0 with UNSUPPORTED_VERSION.
    Such a response is decoded in version 0.

    Args:
        api_key: The API of the request.
        version: The version of the request.
        frame: The response without its four size bytes.

    Returns:
        The correlation id and the message.

    Raises:
        WireError: The frame is malformed.
        KeyError: The API or the version is unknown.
    """
    form = _CODECS[api_key, version]
    correlation_id = response_correlation_id(frame)
    position = 4
    if api_key == _API_VERSIONS:
        if frame[4:6] == _UNSUPPORTED:
            form = _CODECS[api_key, 0]
    elif form.flexible:
        try:
            position = 5 if not frame[4] else skip_tags(frame, 4)
        except (IndexError, LengthError):
            raise WireError("response header: the frame ends too early", "response_header", 4) from None
    message, _ = form.decode_response(frame, position)
    return correlation_id, message


def response_correlation_id(frame: bytes) -> int:
    """Read the correlation id that every response starts with.

    Raises:
        WireError: The frame has fewer than four bytes.
    """
    if len(frame) < 4:
        raise WireError("response header: the frame ends too early", "correlation_id", len(frame))
    return int(_unpack_int32(frame)[0])


class FrameSplitter:
    """Split a stream of bytes into frames and buffer incomplete frames.

    Args:
        limit_bytes: The largest accepted frame.
    """

    def __init__(self, limit_bytes: int = FRAME_LIMIT_BYTES) -> None:
        self._limit = limit_bytes
        self._rest = bytearray()
        self._needed = 4

    @property
    def buffered_bytes(self) -> int:
        """Return the number of buffered bytes of an incomplete frame."""
        return len(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """Add the next bytes of the stream.

        Args:
            data: Any number of bytes.

        Returns:
            The frames that are now complete, without size bytes, in order.

        Raises:
            WireError: A size is negative or above the limit; the stream cannot be read further.
        """
        if self._rest:
            self._rest += data
            if len(self._rest) < self._needed:
                return []
            data = bytes(self._rest)
        elif len(data) >= 4 and _unpack_int32(data)[0] == len(data) - 4 <= self._limit:
            return [data[4:]]  # the usual case: exactly one frame
        frames: list[bytes] = []
        position, end = 0, len(data)
        needed = 4
        while end - position >= 4:
            (size,) = _unpack_int32(data, position)
            if not 0 <= size <= self._limit:
                raise WireError(f"frame of {size} bytes, 0 to {self._limit} are allowed", "size", position)
            stop = position + 4 + size
            if stop > end:
                needed = 4 + size
                break
            frames.append(data[position + 4 : stop])
            position = stop
        self._rest = bytearray(data[position:])
        self._needed = needed
        return frames
