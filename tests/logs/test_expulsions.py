"""Members that are removed after a rebalance which they knew of and did not join."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

LINE = '{{"level":"{}","timestamp":"2026-02-03T11:{}Z","logger":"kafkajs","message":"{}","groupId":"ocr-jobs"}}\n'


def joined(time: str) -> str:
    return LINE.format("INFO", time, "[ConsumerGroup] Consumer has joined the group")


def learned(time: str) -> str:
    text = LINE.format("ERROR", time, "[Connection] Response Heartbeat(key: 12, version: 3)")
    return text.replace("}", ',"error":"The group is rebalancing, so a rejoin is needed"}')


def removed(time: str) -> str:
    return LINE.format("ERROR", time, "[Runner] The coordinator is not aware of this member, re-joining the group")


def test_missed_rebalances_explain_expulsions(tmp_path: Path) -> None:
    first = joined("02:01.010") + learned("19:40.500") + removed("20:41.200") + joined("20:44.210")
    second = learned("21:02.800") + removed("22:03.300") + joined("22:06.310") + learned("22:30.100")
    (found,) = judge(tmp_path, {"ocr.log": first + second})
    assert (found.root_cause, found.subject["group"]) == ("member-does-not-rejoin", "ocr-jobs")
    assert "first at 2026-02-03T11:19:40.500Z" in found.explanation
    assert "rebalances again, and its log ends" in found.explanation and "ready again" not in found.explanation


def test_a_rebalance_that_was_joined_explains_nothing(tmp_path: Path) -> None:
    log = joined("02:01.010") + learned("19:40.500") + joined("19:42.000") + removed("20:41.200")
    (found,) = judge(tmp_path, {"ocr.log": log})
    assert found.root_cause == "member-not-in-its-generation"


def test_a_removed_member_is_one_fault_of_all_partitions(tmp_path: Path) -> None:
    line = "2024/05/02 08:15:21 work.go:57: ERROR kafka: error while consuming parcels/{}: kafka server: {}\n"
    refusal = "The provided member is not known in the current generation"
    (found,) = judge(tmp_path, {"parcels.log": "".join(line.format(index, refusal) for index in (2, 0, 1))})
    assert (found.kind, found.subject["topic"]) == ("member_fenced", "parcels")
    assert found.subject["partitions"] == ("0", "1", "2")
