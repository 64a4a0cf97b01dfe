"""Instances that take the transactional id of a live one, as both report in words of their own."""

from __future__ import annotations

from pathlib import Path

from eosctl.model.incident import Incident
from tests.logs.judging import judge

BEGUN = "2025-07-02T12:00:01Z initTransactions done transactional.id=mill\n2025-07-02T12:00:02Z committed batch 3\n"
FENCED = (
    "%1|1751458203.500|TXNERR|mill#producer-1| [thrd:main]: Fatal transaction error: Failed to add partition to "
    "transaction: Local: This instance has been fenced by a newer instance (_FENCED)\n"
    "2025-07-02T12:10:04Z exiting\n"
)
TAKEN = "2025-07-02T12:{:02}:03Z initTransactions done transactional.id={}\n"
COMMITTED = "2025-07-02T12:10:09Z committed batch 4\n"
FENCED_MS = 1_751_458_203_500


def headed(**parts: str) -> str:
    return "\n".join(f"==> pod/{name.replace('_', '-')} <==\n{text}" for name, text in parts.items())


def replaced(one: Incident) -> bool:
    return one.root_cause == "duplicate-transactional-id" and one.confidence > 0.9


def test_both_pods_under_headings_are_named(tmp_path: Path) -> None:
    text = headed(mill_a1=BEGUN + FENCED, mill_b2=TAKEN.format(10, "mill") + COMMITTED)
    (one,) = judge(tmp_path, {"posted.log": text})
    assert replaced(one)
    assert one.subject["application"] == "mill-a1"
    assert "initialized again by mill-b2 while mill-a1 was still using it" in one.explanation
    assert "The other one has committed since 2025-07-02T12:10:09.000Z" in one.explanation
    assert one.t_start_ms == FENCED_MS - 500


def test_both_pods_in_files_of_their_own_are_named(tmp_path: Path) -> None:
    logs = {"mill-a1.log": BEGUN + FENCED, "mill-b2.log": TAKEN.format(10, "mill")}
    (one,) = judge(tmp_path, logs)
    assert replaced(one)
    assert "The other one has committed" not in one.explanation


def test_an_earlier_holder_took_nothing(tmp_path: Path) -> None:
    begun = BEGUN.replace("12:00", "12:05")
    (one,) = judge(tmp_path, {"mill-a1.log": begun + FENCED, "mill-b2.log": TAKEN.format(4, "mill")})
    assert not replaced(one)


def test_a_holder_of_another_id_took_nothing(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"mill-a1.log": BEGUN + FENCED, "mill-b2.log": TAKEN.format(10, "saw")})
    assert not replaced(one)


def test_a_second_file_of_one_program_took_nothing(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"mill.stderr.log": FENCED, "mill.log": BEGUN})
    assert not replaced(one)


def test_a_heading_in_a_text_does_not_divide_a_file(tmp_path: Path) -> None:
    text = BEGUN + FENCED + "==> one <==\n" + TAKEN.format(10, "mill")
    (one,) = judge(tmp_path, {"mill.log": text})
    assert not replaced(one)


FAUST = "{pod:<6} | 2026-07-01 09:00:{at},100 {text}\n"
FOUND = "INFO aiokafka.producer: Discovered coordinator 1 for transactional id 0-0"
LOST = (
    "ERROR aiokafka.producer: aiokafka.errors.ProducerFenced: There is a newer producer using the same "
    "transactional_id or transaction timeout occurred (check that processing time is below transaction_timeout_ms)"
)


def test_a_coordinator_found_by_another_program_is_a_takeover(tmp_path: Path) -> None:
    lines = (("audit", "00", FOUND), ("enrich", "30", FOUND), ("audit", "31", LOST))
    text = "".join(FAUST.format(pod=pod, at=at, text=words) for pod, at, words in lines)
    (found,) = judge(tmp_path / "once", {"compose.log": text})
    assert "0-0 was initialized again by enrich while audit was still using it" in found.explanation
    back = FAUST.format(pod="audit", at="41", text=FOUND) + FAUST.format(pod="enrich", at="42", text=LOST)
    (turns,) = judge(tmp_path / "twice", {"compose.log": text + back})
    assert turns.subject["applications"] == ("audit", "enrich")
    assert "fenced in turn" in turns.explanation
