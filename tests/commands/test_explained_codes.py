"""explain: what clients do is what their classes do, and every next command exists."""

from __future__ import annotations

import re

import pytest

from eosctl.client.producer_errors import Severity, classify_producer_error
from eosctl.commands.registry import COMMANDS
from eosctl.knowledge.reference.index import find_entries, load_index
from eosctl.knowledge.terms import load_terms
from eosctl.model.reference import EntryKind
from eosctl.model.term import TermKind
from eosctl.model.transaction import TransactionState
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from tests.commands.conftest import eosctl
from tests.commands.txn.test_txn import check_schema

TRANSACTIONAL = [*range(45, 54), 59, 88, 90, 105, 120]


@pytest.mark.parametrize("code", TRANSACTIONAL)
def test_every_transactional_code_is_explained_in_full(code: int) -> None:
    (entry,) = find_entries(str(code))
    assert entry.name == ErrorCode(code).name
    assert [handling.client for handling in entry.clients] == ["Java", "librdkafka", "kafka-python"]
    assert entry.causes
    assert entry.next_steps
    assert entry.data
    assert entry.raised


def test_every_code_and_state_has_an_entry() -> None:
    names = {entry.name for entry in load_index()}
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
    groups = ("txn", "group", "decode", "logs", "config", "check", "fencing", "metrics", "runbook", "capacity")
    shown = {
        command
        for entry in load_index()
        for step in entry.next_steps
        for command in re.findall(r"\beosctl ([a-z]+)(?: ([a-z-]+))?", step)
    }
    assert {first for first, _ in shown} <= known
    for words in sorted(shown):
        if words[0] in groups and words[1]:
            assert eosctl(*words, "--help").code == 0, words


def test_what_entries_refer_to_exists() -> None:
    runbooks = {entry.name for entry in load_index() if entry.kind is EntryKind.RUNBOOK}
    for entry in load_index():
        assert set(entry.runbooks) <= runbooks, entry.name
        missing = [name for name in entry.see if not find_entries(name) and name not in ("ApiException", "Exception")]
        assert missing == [], entry.name


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
    check_schema("explanations", done.json)
    assert done.json["items"][0]["entry"]["name"] == name


def test_typos_get_the_nearest_name_and_everything_is_listed() -> None:
    done = eosctl("explain", "PRODUCR_FENCD")
    assert (done.code, "PRODUCER_FENCED" in done.err) == (2, True)
    assert eosctl("explain", "xyzzy").code == 2
    two = eosctl("explain", "47", "90")
    assert "INVALID_PRODUCER_EPOCH  (error" in two.out
    assert "PRODUCER_FENCED  (error" in two.out
    everything = eosctl("explain", "-o", "json")
    check_schema("entries", everything.json)
    assert len(everything.json["items"]) == len(load_index())


def test_a_procedure_that_destroys_data_is_refused_here_too() -> None:
    done = eosctl("explain", "please delete the topic __transaction_state now")
    assert (done.code, "REFUSED" in done.err) == (3, True)
