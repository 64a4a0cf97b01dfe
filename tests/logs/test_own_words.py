"""Recoveries that a program reports in its own words, with and without its transactional id."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

FATAL = (
    "2025-04-01T06:00:00Z loom transactional.id=loom-tx\n"
    "%1|1743487260.000|TXNERR|loom#producer-1| [thrd:main]: Fatal transaction error: Failed to add offsets to "
    "transaction: Broker: Producer attempted a transactional operation in an invalid state (_FENCED): fenced\n"
    "2025-04-01T06:01:00Z exiting\n"
)


def loom(*lines: str) -> dict[str, str]:
    return {"loom.log": FATAL + "".join(f"2025-04-01T06:02:0{at}Z {line}\n" for at, line in enumerate(lines))}


@pytest.mark.parametrize(
    "words",
    [
        "committed batch 41",
        "committed transaction transactional.id=loom-tx",
        "batch 41 committed",
        "commitTransaction ok",
        "transaction committed (12 records)",
    ],
)
def test_a_commit_in_own_words_is_a_recovery(words: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, loom("restarted", words))
    assert "continued its work at 2025-04-01T06:02:01.000Z (" in one.explanation
    assert one.severity is Severity.ERROR


@pytest.mark.parametrize(
    "words",
    [
        "batch 41 was not committed",
        "committed transaction transactional.id=other-tx",
        "last committed batch 40",
        "retrying until transaction committed",
        "uncommitted batch 41",
    ],
)
def test_other_words_are_not_a_recovery(words: str, tmp_path: Path) -> None:
    (one, *_) = judge(tmp_path, loom(words))
    assert "continued its work" not in one.explanation


@pytest.mark.parametrize(
    "words", ["producer ready, transactional.id=loom-tx", "init_transactions ok transactional.id=loom-tx"]
)
def test_a_ready_producer_with_its_id_is_a_new_one(words: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, loom(words))
    assert "A new producer was initialized at 2025-04-01T06:02:00.000Z" in one.explanation


def test_an_id_that_is_only_named_is_not_a_new_producer(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, loom("calling init_transactions with transactional.id=loom-tx"))
    assert "was initialized at" not in one.explanation
