"""Records that consumers in other languages than Java cannot decode, in their own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

UNDECODED = (
    "[I] kafka receiver: failed to unmarshal message: proto: cannot parse invalid wire-format data",
    "consume orders/3@812: json: cannot unmarshal string into Go value of type int, topic=orders partition=3",
    "kafka_in: avro: cannot decode binary record: unexpected EOF",
    "message of topic orders: json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    "consumer: google.protobuf.message.DecodeError: Error parsing message",
    'KafkaError{code=_VALUE_DESERIALIZATION,val=-159,str="Incompatible schema"}',
    "Confluent.Kafka.ConsumeException: Local: Value deserialization error",
    "consumer orders-1: SyntaxError: Unexpected token < in JSON at position 0",
    "kafka: failed to decode Protobuf message: invalid wire type value: 7",
    "kafka source orders: expected value at line 1 column 1",
    "[inputs.kafka_consumer] Error in plugin: metric parse error: expected field at 1:16",
    "Cannot parse input: expected '{' before: 'hello': (at row 1): While executing Kafka",
)
OTHERS = (
    "GET /rates: invalid character '<' looking for beginning of value",
    "schema registry answered with status 502: invalid character '<' looking for beginning of value",
    "cannot parse the configuration of kafka: json: cannot unmarshal string",
    "cache: UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8b",
)


@pytest.mark.parametrize("words", UNDECODED)
def test_records_that_are_not_decoded_are_reported(words: str, tmp_path: Path) -> None:
    line = "2026-03-01T10:00:0{}.000Z ERROR worker: {}\n"
    (once,) = judge(tmp_path, {"app.log": line.format(1, words)})
    assert (once.kind, once.severity) == ("record_not_deserialized", "warning")
    (found,) = judge(tmp_path, {"app.log": "".join(line.format(second, words) for second in range(1, 5))})
    assert (found.kind, found.severity) == ("record_not_deserialized", "error")


@pytest.mark.parametrize("words", OTHERS)
def test_other_texts_that_are_not_decoded_are_not(words: str, tmp_path: Path) -> None:
    found = judge(tmp_path, {"app.log": f"2026-03-01T10:00:01.000Z ERROR worker: {words}\n"})
    assert "record_not_deserialized" not in {one.kind for one in found}
