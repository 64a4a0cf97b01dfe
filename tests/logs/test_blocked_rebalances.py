"""A rebalance that waits for one member until the coordinator removes it is a warning, with what others report."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

SERVER = "[2025-04-15 {}] INFO [GroupCoordinator 2]: {} (kafka.coordinator.group.GroupCoordinator)\n"
MEMBER = "picker-77a3b6f0-3f0e-4c52-bb0d-1f2f6c6c1d90"
BEGAN = SERVER.format(
    "08:20:31,842",
    "Preparing to rebalance group picks in state PreparingRebalance with old generation 208 (__consumer_offsets-31) "
    "(reason: Adding new member picker-0d1f2f34-6b0d-4f5f-8a1c-9d3b7d1a8b61 with group instance id None)",
)
REMOVED = "Group picks {} dynamic members who haven't joined: Set({})"
STABLE = SERVER.format("08:22:31,846", "Stabilized group picks generation 209 (__consumer_offsets-31)")
TIMED_OUT = "2025/04/15 08:{}:01 consume returned: read tcp 10.61.4.19:43810->10.60.0.12:9092: i/o timeout\n"


@pytest.mark.parametrize("verb", ["remove", "removed"])
def test_a_rebalance_waits_for_one_member(verb: str, tmp_path: Path) -> None:
    server = BEGAN + SERVER.format("08:22:31,845", REMOVED.format(verb, MEMBER)) + STABLE
    logs = {"kfk-2-server.log": server, "worker.log": TIMED_OUT.format(21) + TIMED_OUT.format(22)}
    (one,) = judge(tmp_path, logs)
    assert (one.kind, one.root_cause, one.severity) == (
        "group_not_stable",
        "members-rejoin-too-late",
        Severity.WARNING,
    )
    assert (one.subject["group"], one.subject["member"], one.subject["broker"]) == ("picks", MEMBER, "2")
    assert "2 requests of another member" in one.explanation and "stable again at" in one.explanation


def test_the_coordinators_log_alone_shows_it_in_a_container(tmp_path: Path) -> None:
    text = BEGAN + SERVER.format("08:21:31,845", REMOVED.format("removed", f"{MEMBER}, other-1")) + STABLE
    (one,) = judge(tmp_path, {"kubectl.txt": "".join(f"kafka-2 {line}\n" for line in text.splitlines())})
    assert one.subject["members"] == (MEMBER, "other-1") and "another member" not in one.explanation


def test_a_member_that_finishes_its_records_is_not_slow(tmp_path: Path) -> None:
    text = BEGAN + SERVER.format("08:20:40,845", REMOVED.format("removed", MEMBER)) + STABLE
    assert not judge(tmp_path, {"kfk-2-server.log": text})
