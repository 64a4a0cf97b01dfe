"""How long a transaction was open, by the words of its program, decides between a timeout and a second producer."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from tests.logs.judging import judge

BEGIN = "2026-05-04 08:00:00,500 INFO  depot.load: {}\n"
FENCED = (
    '2026-05-04 08:{},000 ERROR depot.load: KafkaError{{code=_FENCED,val=-144,str="Failed to end transaction: Local: '
    'This instance has been fenced by a newer instance"}}\n'
)
SETTINGS = "2026-05-04 07:59:58,000 INFO  depot.main: producer settings {}\n"
PYTHON = "{'transactional.id': 'depot-4', 'transaction.timeout.ms': 45000}"


def read(folder: Path, *lines: str) -> Incident:
    (found,) = judge(folder, {"depot.log": "".join(lines)})
    return found


@pytest.mark.parametrize(
    "words",
    ["begin transaction for load 12", "Beginning a new transaction", "beginTransaction()", "starting transaction 12"],
)
def test_a_begin_in_a_programs_own_words(words: str, tmp_path: Path) -> None:
    found = read(tmp_path, SETTINGS.format(PYTHON), BEGIN.format(words), FENCED.format("00:52"))
    assert (found.kind, found.root_cause) == ("transaction_timeout", "transaction-longer-than-its-timeout")
    assert found.subject["transactional.id"] == "depot-4"
    assert "had been open for 51 s when it was refused, longer than its timeout of 45 s" in found.explanation


@pytest.mark.parametrize(
    "setting",
    [
        "transaction_timeout=40s",
        "TransactionTimeoutMs=40000",
        "TRANSACTION_TIMEOUT_MS=40000",
        "Transaction.Timeout: 40s",
    ],
)
def test_a_timeout_in_a_programs_own_words(setting: str, tmp_path: Path) -> None:
    found = read(tmp_path, SETTINGS.format(setting), BEGIN.format("begin transaction"), FENCED.format("00:52"))
    assert "longer than its timeout of 40 s" in found.explanation


def test_a_timeout_in_a_field_of_a_json_record(tmp_path: Path) -> None:
    record = '{{"level":"{}","ts":"2026-05-04T08:00:{}Z","msg":"{}"{}}}\n'
    named = ',"transactional_id":"depot-4","transaction_timeout":"20s"'
    text = record.format("info", "00.000", "starting producer", named)
    text += record.format("info", "01.000", "begin transaction", "")
    text += record.format("error", "33.000", "commit failed", ',"error":"INVALID_PRODUCER_EPOCH: old epoch."')
    (found,) = judge(tmp_path, {"depot.json": text})
    assert (found.kind, found.subject["transactional.id"]) == ("transaction_timeout", "depot-4")
    assert "longer than its timeout of 20 s" in found.explanation


def test_the_default_timeout_decides_less_surely(tmp_path: Path) -> None:
    stated = read(tmp_path / "a", SETTINGS.format(PYTHON), BEGIN.format("begin transaction"), FENCED.format("02:00"))
    assumed = read(tmp_path / "b", BEGIN.format("begin transaction"), FENCED.format("02:00"))
    assert (stated.kind, assumed.kind) == ("transaction_timeout", "transaction_timeout")
    assert "the default timeout of 1 min" in assumed.explanation
    assert assumed.confidence < stated.confidence


@pytest.mark.parametrize(
    ("between", "at"),
    [
        ("2026-05-04 08:00:03,000 INFO  depot.load: committed batch 12\n", "02:00"),
        ("", "00:30"),
        ("2026-05-04 08:00:40,000 INFO  depot.load: begin transaction for load 13\n", "01:00"),
    ],
    ids=["committed", "too soon", "begun again"],
)
def test_a_transaction_that_did_not_time_out(between: str, at: str, tmp_path: Path) -> None:
    found = read(tmp_path, SETTINGS.format(PYTHON), BEGIN.format("begin transaction"), between, FENCED.format(at))
    assert (found.kind, found.root_cause) == ("producer_fenced", "duplicate-transactional-id")


@pytest.mark.parametrize(
    "words", ["failed to begin transaction", "starting transaction coordinator", "begin transaction failed: KafkaError"]
)
def test_words_that_report_no_begin(words: str, tmp_path: Path) -> None:
    found = read(tmp_path, SETTINGS.format(PYTHON), BEGIN.format(words), FENCED.format("02:00"))
    assert found.kind == "producer_fenced"


PAUSE = "[2026-05-04T08:01:31.400+0000][info][gc] GC(7) Pause Full (G1 Compaction Pause) 1020M->990M(1024M) {}.118ms\n"
JAVA = "2026-05-04 08:01:31.900 INFO  [net] o.a.k.c.p.internals.TransactionManager - [Producer clientId=p, "
REFUSED = (
    "transactionalId=cash-2] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId "
    "which fences the current one.\n"
)


@pytest.mark.parametrize(("pause_ms", "kind"), [(70_000, "transaction_timeout"), (6_000, "producer_fenced")])
def test_a_pause_of_half_a_timeout_explains_a_refusal(pause_ms: int, kind: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"gc.log": PAUSE.format(pause_ms), "cash.log": JAVA + REFUSED})
    assert found.kind == kind
    if kind == "transaction_timeout":
        assert "cash-2 was refused after the garbage collector had stopped it for 1 min 10 s" in found.explanation


def test_a_pause_in_a_transaction_that_took_too_long_is_named(tmp_path: Path) -> None:
    begun = "2026-05-04 08:00:00.000 DEBUG [net] a.b.Cash - beginTransaction\n"
    leap = (
        "2026-05-04 08:01:31.100 WARN  [hk] com.zaxxer.hikari.pool.HikariPool - HikariPool-1 - Thread starvation or "
        "clock leap detected (housekeeper delta=1m19s411ms).\n"
    )
    (found,) = judge(tmp_path, {"cash.log": begun + leap + JAVA + REFUSED})
    assert found.root_cause == "transaction-longer-than-its-timeout"
    assert "its process had stood still for 1 min 19 s" in found.explanation


UNANSWERED = (
    "%4|1778918400.100|REQTMOUT|hub#producer-1| [thrd:b3:9092/3]: b3:9092/3: Timed out EndTxnRequest in flight (after "
    "60004ms, timeout #0)\n"
    "%3|1778918404.410|TXNERR|hub#producer-1| [thrd:main]: Fatal transaction error: Producer fenced by newer instance: "
    "EndTxn commit failed: Broker: Producer attempted an operation with an old epoch (_FENCED)\n"
)


def test_a_request_without_an_answer_before_a_refusal(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"hub.log": UNANSWERED})
    assert (found.kind, found.root_cause) == ("producer_fenced", "takeover-or-timeout")
    assert found.explanation.startswith("hub was fenced after requests of its client had timed out")
    assert "second instance" not in found.next_step


def test_without_a_begin_both_causes_are_named(tmp_path: Path) -> None:
    unknown = read(tmp_path / "a", SETTINGS.format(PYTHON), FENCED.format("02:00"))
    assert "another instance took its id, or its transaction had timed out" in unknown.explanation
    assert "transaction.timeout.ms" in unknown.next_step
    short = read(tmp_path / "b", SETTINGS.format(PYTHON), BEGIN.format("begin transaction"), FENCED.format("00:03"))
    assert "most likely another instance took its id. Its transaction had begun only 2 s before" in short.explanation
    assert short.confidence > unknown.confidence
