"""explain: every name is found, every next command exists, and what clients do is what their classes do."""

from __future__ import annotations

import re

import pytest

from eosctl.client.producer_errors import Severity, classify_producer_error
from eosctl.commands.registry import COMMANDS
from eosctl.knowledge.terms import find_terms, load_terms
from eosctl.model.term import TermKind
from eosctl.model.transaction import TransactionState
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from tests.commands.conftest import eosctl
from tests.commands.test_txn import check_schema

TRANSACTIONAL = [*range(45, 54), 59, 88, 90, 105, 120]


@pytest.mark.parametrize("code", TRANSACTIONAL)
def test_every_transactional_code_is_explained_in_full(code: int) -> None:
    (term,) = find_terms(str(code))
    assert term.name == ErrorCode(code).name
    assert [handling.client for handling in term.handling] == ["Java", "librdkafka", "kafka-python"]
    assert term.causes
    assert term.next_step


def test_every_code_and_state_has_a_term() -> None:
    names = {term.name for term in load_terms()}
    assert {code.name for code in ErrorCode if code} <= names
    assert {state.value for state in TransactionState} <= names


def test_what_java_does_is_what_this_clients_model_of_it_does() -> None:
    for term in load_terms():
        if term.kind is not TermKind.ERROR or not term.handling or "success" in term.handling[0].text:
            continue
        code, java = ErrorCode(term.code or 0), term.handling[0].text
        if code.retriable and "consumer" not in java:
            assert "retriable" in java, term.name
        end = classify_producer_error(ApiKey.END_TXN, code)
        if java == "fatal":
            assert end is Severity.FATAL, term.name
        produce = classify_producer_error(ApiKey.PRODUCE, code)
        if java.startswith("abortable"):
            assert Severity.ABORTABLE in (produce, classify_producer_error(ApiKey.TXN_OFFSET_COMMIT, code)), term.name


def test_next_commands_exist() -> None:
    known = {entry.name for entry in COMMANDS}
    for term in load_terms():
        for command in re.findall(r"\beosctl ([a-z]+)(?: ([a-z-]+))?", term.next_step):
            assert command[0] in known, (term.name, command)
            words = [word for word in command if word]
            if words[0] in ("txn", "group", "decode", "logs", "config", "check", "fencing"):
                assert eosctl(*words, "--help").code == 0, (term.name, words)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["producer_fenced"], "PRODUCER_FENCED"),
        (["Producer", "Fenced"], "PRODUCER_FENCED"),
        (["org.apache.kafka.common.errors.ProducerFencedException"], "ProducerFencedException"),
        (["LSO"], "last stable offset"),
        (["prepare_commit"], "PrepareCommit"),
        (["-1"], "UNKNOWN_SERVER_ERROR"),
        (["TV2"], "transaction.version"),
    ],
)
def test_names_are_found_as_people_write_them(words: list[str], name: str) -> None:
    done = eosctl("explain", "-o", "json", "--", *words)
    assert done.code == 0, done.err
    check_schema("terms", done.json)
    assert [item["name"] for item in done.json["items"]] == [name]


def test_typos_are_met_with_suggestions_and_everything_is_listed() -> None:
    done = eosctl("explain", "PRODUCR_FENCD")
    assert (done.code, "Did you mean PRODUCER_FENCED" in done.err) == (2, True)
    assert eosctl("explain", "xyzzy").code == 2
    two = eosctl("explain", "47", "90")
    assert "INVALID_PRODUCER_EPOCH" in two.out
    assert "PRODUCER_FENCED" in two.out
    assert len(eosctl("explain", "-o", "tsv").rows) == len(load_terms())
