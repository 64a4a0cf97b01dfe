"""Error codes and API keys against recorded and independent lists."""

import json

import pytest
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.schema.index import api_key_map

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode, error_name
from tests.wire.vectors import FIXTURES

RECORDED = json.loads((FIXTURES / "errors.json").read_text())


def test_codes_names_and_retriability_are_those_of_kafka() -> None:
    last = max(row["code"] for row in RECORDED)  # tests/knowledge/test_absorbed.py holds what came after 4.3
    ours = {(int(code), code.name, code.retriable) for code in ErrorCode if code <= last}
    assert ours == {(row["code"], row["name"], row["retriable"]) for row in RECORDED}


def test_kio_has_the_same_codes() -> None:
    names = {int(code): code.name.upper() for code in KioErrorCode}
    assert {code: names[code] for code in names} == {int(code): code.name for code in ErrorCode if int(code) in names}


def test_a_code_equals_the_number_on_the_wire() -> None:
    assert ErrorCode(90) is ErrorCode.PRODUCER_FENCED
    assert ErrorCode.PRODUCER_FENCED == 90
    assert {90: "fenced"}[ErrorCode.PRODUCER_FENCED] == "fenced"
    assert all(code.message.endswith(".") for code in ErrorCode)


@pytest.mark.parametrize(("code", "name"), [(0, "NONE"), (-1, "UNKNOWN_SERVER_ERROR"), (999, "UNKNOWN_ERROR_999")])
def test_any_code_has_a_name(code: int, name: str) -> None:
    assert error_name(code) == name


def test_api_keys_are_those_of_kio() -> None:
    named = {int(key): key.name.lower() for key in ApiKey}
    assert {key: named[key] for key in api_key_map} == dict(api_key_map)
