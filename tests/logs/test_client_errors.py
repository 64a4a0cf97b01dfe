"""Errors as clients name them: the same error has the same meaning for every client."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.classifier.classify import own_classifier
from eosctl.logs.classifier.client_errors import category_of_error
from eosctl.logs.records.record import Record
from eosctl.model.log_event import UNCLASSIFIED

MEANINGS = tomllib.loads(files("eosctl.logs.classifier").joinpath("errors.toml").read_text("utf-8"))
LISTED = {name for names in MEANINGS.values() for name in names}
TABLE = files("eosctl.knowledge.reference").joinpath("client_errors.tsv").read_text("utf-8")
ROWS = [(*line.split("\t"), "")[:4] for line in TABLE.splitlines()]
KAFKA = {code: name for client, code, name, _ in ROWS if client == "kafka"}
WORDS = sorted({text for _, code, name, text in ROWS if KAFKA.get(code, name) in LISTED and len(text) > 20})


def category(message: str, level: str = "ERROR") -> str | None:
    found = own_classifier().classify(Record(0, 0, "", level, "", "app.Main", "", message, ""))
    return None if found is None else found.category


def test_every_listed_error_has_a_category_of_the_catalog() -> None:
    known = {one.id for one in load_catalog().categories}
    assert MEANINGS.keys() <= known
    assert {name for name in LISTED if not name.startswith("_")} <= set(KAFKA.values())


def test_the_sentence_of_any_client_has_a_category() -> None:
    assert len(WORDS) > 300
    assert [text for text in WORDS if category(f"commit failed: {text}") in (None, UNCLASSIFIED)] == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("(_GAPLESS_GUARANTEE)", "CLIENT_FATAL"),
        ('KafkaError{FATAL,code=_INCONSISTENT,val=-149,str="Unable to reconstruct"}', "CLIENT_FATAL"),
        ('KafkaError{FATAL,code=_NOT_CONFIGURED,val=-145,str="?"}', "CLIENT_FATAL"),
        ('KafkaError{FATAL,code=INVALID_TXN_STATE,val=48,str="?"}', "INVALID_TXN_STATE"),
        (
            'KafkaError{code=_INCONSISTENT,val=-149,str="3 message(s) failed delivery (see individual ones)"}',
            "TXN_STATE_ERROR",
        ),
        ("Confluent.Kafka.KafkaException: Local_MsgTimedOut", "TIMEOUT_SEND"),
        ("ErrorCode.Local_GaplessGuarantee", "CLIENT_FATAL"),
        ("ErrorCode.Local_Fenced", "PRODUCER_FENCED"),
        ("KafkaError{code=_STATE,val=-172,str=...}", "TXN_STATE_ERROR"),
        ("ErrUnknownTopicOrPartition", "UNKNOWN_TOPIC"),
        ("Not Coordinator For Group", "COORDINATOR_UNAVAILABLE"),
        ("DuplicateSequenceNumberError", "SEQUENCE_RESET"),
        ("no UNKNOWN_SERVER_ERROR so far", None),
        ("MY_STATE is (_LOST)", None),
    ],
)
def test_names_of_errors(words: str, expected: str | None) -> None:
    assert category_of_error(f"commit: {words}") == expected


def test_error_names_count_in_error_records_only() -> None:
    assert category("commit failed: The broker is not available.") == "NETWORK_DISCONNECT"
    assert category("commit failed: The broker is not available.", "INFO") is None
