"""Error codes that clients print as numbers mean the same as the codes' names."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.classifier.classify import own_classifier
from eosctl.logs.classifier.code_numbers import names_of_codes
from eosctl.logs.records.record import Record
from eosctl.wire.error_codes import ErrorCode
from tests.logs.judging import judge
from tests.logs.test_client_words import OF_CODE

CERTAIN = (
    *("error code {}", "Error code = {}", "errorCode={}", '"error_code": {}', "kafka server: Unknown error code {}"),
    *("Unknown error with code {} ", "KError.{}", "KError({})", "[Error {}] UnrecognizedBrokerError", "Err-{}?"),
    *(
        'KafkaError{{code=ERR_{}?,str="?"}}',
        'KafkaError{{code=?,val={},str="?"}}',
        "[{}] : ",
        "Unexpected error code: {}.",
    ),
)
PROBABLE = ("kafka: code: {}", "EndTxn failed ({})", "EndTxn failed with {}", "kafka errno {}", "EndTxn error [{}]")
OPERATIONS = ("commit of batch failed", "produce to ledger-0 failed", "EndTxn failed", "InitProducerId failed")


@pytest.mark.parametrize("spelling", [*CERTAIN, *PROBABLE])
def test_each_spelling_of_a_code_has_the_category_of_its_name(spelling: str) -> None:
    codes = {code: name for code, name in OF_CODE.items() if code > 9 or spelling in CERTAIN}
    for code, category in codes.items():
        text = f"commit of kafka failed: {spelling.format(code)}"
        found = own_classifier().classify(Record(0, 0, "", "ERROR", "", "app", "", text, ""))
        assert (text, found and found.category) == (text, category)


@pytest.mark.parametrize(
    "text",
    [
        *("process exited with error code 47", "kafka-topics.sh exited with code 47", "kafka HTTP error code 53"),
        *("producer: 45 records failed: 45", "error: 45 records lost by the producer", "kafka took 47 ms code:47ms"),
        *("rpc error: code = 14 desc = kafka unavailable", "kafka error: 10.0.0.45:9092", "error code 50%"),
        *("job failed with code 90", "PRODUCER_FENCED: error code 90"),
        *("mysql error code: 45", "error code 3 from a printer"),
        "kafka: JsonParseException: Unexpected character ('Z' (code 90)): expected a valid value",
        "kafka import failed: LEADER_NOT_READY_TO_SERVE[code 23]: Not ready to serve",
        "kafka task failed\norg.acme.store.StoreException: shard moved [code 47]",
        "kafka task failed\nCaused by: org.acme.store.StoreException: shard moved, error code 6",
    ],
)
def test_other_numbers_are_not_codes_of_kafka(text: str) -> None:
    assert names_of_codes(text) == ""


def test_codes_of_librdkafka_have_its_names() -> None:
    assert names_of_codes("kafka: produce: code: -150") == "(_FATAL)"


@pytest.mark.parametrize(
    "error",
    [
        '"err": {"type": "LibrdKafkaError", "message": "?", "code": 90, "origin": "kafka"}',
        *('"kafka_error_code": 90', '"errorCode": "90"', '"error": {"name": "KafkaJSProtocolError", "code": 90}'),
    ],
)
def test_a_code_in_a_field_of_its_own_is_read(tmp_path: Path, error: str) -> None:
    record = f'{{"ts": "2026-04-12T13:14:39Z", "level": "error", "msg": "EndTxn failed", {error}}}\n'
    found = judge(tmp_path, {"a.json": record})
    assert [one.kind for one in found] == ["producer_fenced"]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("code", [47, 48, 49, 90, 120])
def test_incidents_do_not_depend_on_the_spelling(tmp_path: Path, code: int, operation: str) -> None:
    def incidents(error: str) -> list[tuple[str, str, str]]:
        line = f'time="2026-04-12T13:14:39Z" level=error msg="{operation}" transactional_id=toll-6 error="{error}"\n'
        found = judge(tmp_path, {"toll.log": line})
        return [(one.kind, one.root_cause, one.severity) for one in found]

    named = incidents(ErrorCode(code).name)
    assert named
    for spelling in (
        "Unknown error, how did this happen? Error code = {}",
        "Unknown error with code {} ",
        "kafka error: ({})",
    ):
        assert incidents(spelling.format(code)) == named


@pytest.mark.parametrize(
    "request_name", ["commit of batch", "AddOffsetsToTxn", "sendOffsets of batch", "rollback of batch"]
)
@pytest.mark.parametrize("error", ["TRANSACTION_ABORTABLE", "INVALID_TXN_STATE"])
def test_a_refused_request_without_data_is_not_a_late_append(tmp_path: Path, error: str, request_name: str) -> None:
    line = (
        f'time="2026-04-12T13:14:39Z" level=error msg="{request_name} failed" transactional_id=toll-6 error={error}\n'
    )
    (found,) = judge(tmp_path, {"toll.log": line})
    assert found.kind in ("transaction_must_be_aborted", "transaction_request_refused")
    assert "data is safe" not in found.next_step
