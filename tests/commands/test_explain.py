"""``explain`` and ``diagnose`` at the command line: arguments, files, standard input, formats, and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import eosctl
from tests.commands.txn.test_txn import check_schema


def test_pasted_text_comes_from_standard_input_too() -> None:
    explained = eosctl("explain", "-", stdin="Caused by: org.apache.kafka.common.errors.ProducerFencedException")
    assert explained.out.startswith("ProducerFencedException  (exception)")
    found = eosctl("diagnose", "-", "-o", "json", stdin="Topic: a\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: 1\n")
    assert (found.code, found.json["items"][0]["runbook"]) == (0, "min-isr-lost")


def test_a_file_is_diagnosed(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_bytes(
        b"[2026-01-02 03:04:05,678] ERROR x \xff\norg.apache.kafka.common.errors.InvalidPidMappingException: y\n"
    )
    done = eosctl("diagnose", log, "-o", "json")
    check_schema("diagnose", done.json)
    assert done.json["items"][0]["runbook"] == "invalid-producer-epoch"
    assert done.json["items"][0]["reason"]


@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "tsv"])
def test_explanations_have_every_format(output: str) -> None:
    done = eosctl("explain", "LSO", "-o", output)
    assert (done.code, done.err) == (0, "")
    assert "last stable offset" in done.out


def test_the_short_answer_comes_in_chinese_where_it_is_asked_for() -> None:
    assert "生产者" in eosctl("explain", "--lang", "zh", "PRODUCER_FENCED").out.splitlines()[1]
    assert "生产者" not in eosctl("explain", "PRODUCER_FENCED").out


def test_ids_of_the_question_are_shown_and_used() -> None:
    out = eosctl("explain", "INVALID_TXN_STATE for orders-2, transactional.id=pay-7").out
    assert "eosctl txn describe pay-7" in out
    assert "transactional id pay-7, partition orders-2" in out


def test_a_guess_is_called_one_with_what_decides() -> None:
    out = eosctl("diagnose", "the application behaves strangely since the offsets were touched").out
    assert out.startswith("Not sure.")


@pytest.mark.parametrize("command", ["explain", "diagnose"])
def test_nothing_and_nonsense_are_bad_input(command: str) -> None:
    for text in ("", "xylophone"):
        done = eosctl(command, text)
        assert (done.code, done.out) == (2, "")
        assert "next:" in done.err


@pytest.mark.parametrize("words", [("-144",), ("--", "-144")])
def test_negative_codes_of_librdkafka_are_words(words: tuple[str, ...]) -> None:
    done = eosctl("explain", *words)
    assert done.code == 0
    assert done.out.startswith("_FENCED")


def test_an_unknown_option_is_not_a_word() -> None:
    done = eosctl("explain", "ABORTABLE_TRANSACTION", "--outptu")
    assert done.code == 2
    assert "No such option: --outptu" in done.err


def test_an_unknown_issue_leads_to_its_tracker() -> None:
    done = eosctl("explain", "KAFKA-99999")
    assert done.code == 2
    assert "https://issues.apache.org/jira/browse/KAFKA-99999" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("check", "explain", "PRODUCER_FENCED"),
        ("config", "explain", "read_committed"),
        ("logs", "explain", "ProducerFencedException"),
        ("runbook", "show", "LSO"),
        ("metrics", "explain", "LSO"),
    ],
)
def test_a_name_of_another_kind_leads_to_its_explanation(words: tuple[str, ...]) -> None:
    done = eosctl(*words)
    assert done.code == 2
    assert f"eosctl explain {words[-1]} explains" in done.err
    assert eosctl("explain", words[-1]).code == 0
