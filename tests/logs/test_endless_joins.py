"""A member that begins to join its group again and never reports that it is in it reads nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

MEMBER = "2026-03-02 07:{}:04,100 INFO  [pool-2] {} - [Consumer clientId=gauges-1, groupId=gauges] {}\n"
COORDINATOR = "o.a.k.c.consumer.internals.ConsumerCoordinator"
HEALTH = "2026-03-02 07:{}:00,000 INFO  [web-1] c.e.Health - 14 gauges known\n"
JOINED = (
    "Successfully joined group with generation Generation{generationId=8, memberId='gauges-1-aa', protocol='range'}"
)
BEGAN = "(Re-)joining group"


def log(*records: tuple[str, str]) -> str:
    return "".join(
        HEALTH.format(minute) if text == "-" else MEMBER.format(minute, COORDINATOR, text) for minute, text in records
    )


def test_a_member_that_never_is_in_its_group_again_is_named(tmp_path: Path) -> None:
    text = log(("01", JOINED), ("10", BEGAN), ("22", "-"))
    (one,) = judge(tmp_path, {"gauges.log": text})
    assert (one.kind, one.root_cause, one.severity) == ("group_not_stable", "join-without-an-end", Severity.WARNING)
    assert (one.subject["group"], one.subject["client.id"]) == ("gauges", "gauges-1")
    assert "in the 11 min 55 s after that" in one.explanation


@pytest.mark.parametrize(
    "records",
    [
        (("01", JOINED), ("10", BEGAN), ("11", JOINED), ("22", "-")),
        (("01", JOINED), ("10", BEGAN), ("15", "-")),
        (("10", BEGAN), ("22", "-")),
    ],
    ids=["joined", "log too short", "ends hidden by the level"],
)
def test_joins_that_may_have_an_end_are_silent(tmp_path: Path, records: tuple[tuple[str, str], ...]) -> None:
    assert judge(tmp_path, {"gauges.log": log(*records)}) == []


def test_the_reason_of_a_join_is_quoted_below_its_header(tmp_path: Path) -> None:
    header = (
        "2026-03-02 07:{}:04.100 [info] Group member (gauges,coor=#PID<0.71.2>,cb=#PID<0.20.2>,generation=8):\n{}\n"
    )
    lines = [
        header.format("01", "elected=true"),
        header.format("10", "re-joining group, reason::heartbeat_timeout"),
        "2026-03-02 07:10:04.101 [info] client Gauges: payload connection down kb-1:9092\nreason:{:shutdown, :tcp}\n",
        "2026-03-02 07:25:00.000 [info] GET /health 200\n",
    ]
    (one,) = judge(tmp_path, {"gauges.log": "".join(lines)})
    assert one.root_cause == "join-without-an-end"
    assert "heartbeat_timeout" in one.explanation
