"""Transactions whose end a client of franz-go could not deliver, because it could not connect to a broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

LINE = "time=2026-05-06T07:{}.000Z level={} msg={}\n"
DIAL = "dial tcp: lookup kb5.farm.lan on 192.0.2.53:53: server misbehaving"
BEGUN = LINE.format("10:00", "INFO", '"beginning transaction" transactional_id=grain-3')
NEW_EPOCH = LINE.format("11:50", "INFO", '"producer id initialization success" id=702 epoch=9')
COMMITTED = LINE.format("12:10", "INFO", '"transaction committed" txn=91')
AGAIN = NEW_EPOCH + COMMITTED


def unreached(time: str) -> str:
    words = f'"unable to open connection to broker" addr=kb5.farm.lan:9092 broker=5 err="{DIAL}"'
    return LINE.format(time, "WARN", words)


def failed(words: str) -> str:
    return LINE.format("10:39", "ERROR", f'"{words}" txn=90 err="unable to dial: {DIAL}"')


@pytest.mark.parametrize("words", ["end transaction failed", "commit transaction failed", "unable to end transaction"])
def test_an_end_that_was_not_delivered(tmp_path: Path, words: str) -> None:
    (one,) = judge(tmp_path, {"grain.log": BEGUN + failed(words)})
    assert (one.kind, one.root_cause) == ("transaction_end_timeout", "end-of-transaction-not-delivered")
    assert one.subject["transactional.id"] == "grain-3"
    assert "lookup kb5.farm.lan" in one.explanation and "not confirmed as committed" in one.explanation


def test_a_lost_broker_is_the_cause_until_a_commit(tmp_path: Path) -> None:
    attempts = "".join(map(unreached, ["10:09", "10:15", "10:24", "10:33"]))
    (one,) = judge(tmp_path, {"grain.log": BEGUN + attempts + failed("end transaction failed") + AGAIN})
    assert (one.kind, one.severity) == ("transaction_end_timeout", Severity.WARNING)
    assert one.t_start_ms % 3_600_000 == 609_000
    assert "not confirmed as committed" in one.explanation and "transaction committed" in one.explanation


def test_a_database_that_is_not_dialed_is_another_fault(tmp_path: Path) -> None:
    line = LINE.format("10:39", "ERROR", '"failed to commit transaction" err="dial tcp 192.0.2.9:5432: refused"')
    assert all(one.kind != "transaction_end_timeout" for one in judge(tmp_path, {"grain.log": BEGUN + line}))
