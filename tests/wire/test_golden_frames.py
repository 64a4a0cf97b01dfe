"""Whole frames recorded between clients and real brokers."""

import json
from pathlib import Path
from typing import Any

import pytest

from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.frames import decode_request, decode_response, encode_request, encode_response
from tests.wire.vectors import FIXTURES, differences

GOLDEN = sorted((FIXTURES / "golden").glob("*.json"))


def numbered(value: Any) -> Any:
    """Turn the error names of the recording into codes."""
    if isinstance(value, dict):
        return {
            name: int(ErrorCode[inner]) if name.lower().endswith("errorcode") else numbered(inner)
            for name, inner in value.items()
        }
    return [numbered(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_frames_round_trip_to_the_byte(path: Path) -> None:
    exchange = json.loads(path.read_text())
    api_key, version = exchange["apiKey"], exchange["version"]

    frame = bytes.fromhex(exchange["request"]["hex"])
    header, request = decode_request(frame)
    assert (header.api_key, header.api_version) == (api_key, version)
    assert header.correlation_id == exchange["request"]["correlationId"]
    assert header.client_id == exchange["request"]["clientId"]
    assert differences(request, numbered(exchange["request"]["fields"]), "request") == []
    again = encode_request(api_key, version, header.correlation_id, header.client_id, request)
    assert again == len(frame).to_bytes(4, "big") + frame

    frame = bytes.fromhex(exchange["response"]["hex"])
    correlation_id, response = decode_response(api_key, version, frame)
    assert correlation_id == exchange["response"]["correlationId"]
    assert differences(response, numbered(exchange["response"]["fields"]), "response") == []
    again = encode_response(api_key, version, correlation_id, response)
    assert again == len(frame).to_bytes(4, "big") + frame


def test_the_recordings_are_there() -> None:
    assert len(GOLDEN) == 77
