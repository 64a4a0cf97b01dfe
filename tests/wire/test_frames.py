"""Headers, sizes, and the stream of frames."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec, versions
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.frames import (
    FrameSplitter,
    RequestHeader,
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
    response_correlation_id,
)
from eosctl.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from eosctl.wire.messages.end_txn import EndTxnRequest, EndTxnResponse

REQUEST = EndTxnRequest("app", 7, 1, committed=True)


@pytest.mark.parametrize("client_id", [None, "", "client", "é" * 100])
@pytest.mark.parametrize("version", [0, 3, 5])
def test_requests_round_trip(version: int, client_id: str | None) -> None:
    frame = encode_request(ApiKey.END_TXN, version, -5, client_id, REQUEST)
    assert struct.unpack_from(">i", frame)[0] == len(frame) - 4
    header, request = decode_request(frame[4:])
    assert (header.api_key, header.api_version) == (ApiKey.END_TXN, version)
    assert (header.correlation_id, header.client_id) == (-5, client_id)
    assert request == REQUEST


@pytest.mark.parametrize("version", [0, 3, 5])
def test_responses_round_trip(version: int) -> None:
    response = EndTxnResponse(error_code=ErrorCode.PRODUCER_FENCED, throttle_time_ms=3)
    frame = encode_response(ApiKey.END_TXN, version, 9, response)
    assert struct.unpack_from(">i", frame)[0] == len(frame) - 4
    assert response_correlation_id(frame[4:]) == 9
    assert decode_response(ApiKey.END_TXN, version, frame[4:]) == (9, response)


def test_tags_of_headers_are_skipped() -> None:
    tags = b"\x01\x05\x02zz"
    frame = encode_request(ApiKey.END_TXN, 5, 1, "c", REQUEST)[4:]
    header, request = decode_request(frame[:11] + tags + frame[12:])
    assert (header.body_position, request) == (16, REQUEST)
    frame = encode_response(ApiKey.END_TXN, 5, 1, EndTxnResponse())[4:]
    assert decode_response(ApiKey.END_TXN, 5, frame[:4] + tags + frame[5:]) == (1, EndTxnResponse())


@pytest.mark.parametrize("version", [0, 5])
def test_cut_headers_are_refused(version: int) -> None:
    frame = encode_request(ApiKey.END_TXN, version, 1, "client", REQUEST)[4:]
    start = decode_request_header(frame).body_position
    for length in range(start):
        with pytest.raises(WireError, match="request_header"):
            decode_request_header(frame[:length])
    assert decode_request_header(frame[:start]).body_position == start


@pytest.mark.parametrize("length", range(5))
def test_cut_response_headers_are_refused(length: int) -> None:
    with pytest.raises(WireError):
        decode_response(ApiKey.END_TXN, 5, bytes(5)[:length])


def test_the_header_of_an_unknown_api_can_be_read() -> None:
    header = decode_request_header(struct.pack(">hhih", 9999, 3, 4, 1) + b"x")
    assert header == RequestHeader(9999, 3, 4, "x", 11)
    with pytest.raises(KeyError):
        codec(header.api_key, header.api_version)


def test_an_unknown_version_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        codec(ApiKey.END_TXN, versions(ApiKey.END_TXN).stop)
    with pytest.raises(KeyError):
        codec(ApiKey.END_TXN, -1)


def test_api_versions_responses_have_the_short_header() -> None:
    response = ApiVersionsResponse(api_keys=[ApiVersion(18, 0, 4)])
    for version in range(5):
        frame = encode_response(ApiKey.API_VERSIONS, version, 6, response)[4:]
        assert frame[:6] == bytes((0, 0, 0, 6, 0, 0))
        assert decode_response(ApiKey.API_VERSIONS, version, frame)[1].api_keys == [ApiVersion(18, 0, 4)]


def test_api_versions_of_a_broker_that_does_not_know_the_version() -> None:
    answer = ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION, [ApiVersion(18, 0, 2)])
    frame = encode_response(ApiKey.API_VERSIONS, 0, 6, answer)[4:]
    assert decode_response(ApiKey.API_VERSIONS, 4, frame) == (6, answer)
    request = encode_request(ApiKey.API_VERSIONS, 4, 6, None, ApiVersionsRequest("eosctl", "1"))
    assert decode_request_header(request[4:]).client_id is None


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 30), min_size=1, max_size=20))
def test_any_cut_of_a_stream_gives_the_same_frames(frames: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)
    splitter = FrameSplitter()
    found = []
    position = 0
    for size in cuts * (len(stream) + 1):
        found += splitter.feed(stream[position : position + size])
        position += size
        if position >= len(stream):
            break
    assert found == frames
    assert splitter.buffered_bytes == 0


def test_a_frame_waits_for_its_last_byte() -> None:
    splitter = FrameSplitter()
    assert splitter.feed(b"\0\0\0\3ab") == []
    assert splitter.buffered_bytes == 6
    assert splitter.feed(b"c\0\0") == [b"abc"]
    assert splitter.buffered_bytes == 2


@pytest.mark.parametrize("size", [-1, -(2**31), 101, 2**31 - 1])
def test_oversized_frames_are_rejected_before_buffering(size: int) -> None:
    splitter = FrameSplitter(limit_bytes=100)
    with pytest.raises(WireError, match="size"):
        splitter.feed(struct.pack(">i", size) + b"abc")


def test_garbage_is_refused_as_a_size() -> None:
    with pytest.raises(WireError):
        FrameSplitter().feed(b"GET / HTTP/1.1\r\n")
