"""A node of Redpanda that does not answer its peers, and single answers that come too late."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

SILENT = (
    "INFO  2026-02-03 09:{:02}:{:02},100 [shard 0:main] rpc - transport.cc:214 - RPC timeout (100 ms) to {{host: "
    "192.0.2.{}, port: 33145}}, method: node_status_rpc::node_status, correlation id: 90110, 1 in flight\n"
)
REFUSED = (
    "WARN  2026-02-03 09:{:02}:{:02},201 [shard 1:main] tx - tx_gateway_frontend.cc:2522 - abort_tx on consumer groups "
    "tx:{{cut-tx-7}} etag:61 pid:{{producer_identity: id=707, epoch=9}} tx_seq:2 status:4 in term:36 failed with "
    "tx::errc::{}\n"
)

APPEND = (
    "WARN  2026-03-04 11:{:02}:{:02},440 [shard 2] raft - [follower: {{id: {{{}}}, revision: {{77}}}}] [group_id:31, "
    "{{kafka/meters/{}}}] - recovery_stm.cc:433 - recovery append entries error: {}\n"
)
TRANSFER = (
    "WARN  2026-03-04 11:{:02}:{:02},650 [shard 2] raft - [group_id:33, {{kafka/alarms/4}}] consensus.cc:2665 - "
    "transfer leadership: timed out waiting on node {{id: {{{}}}, revision: {{77}}}} recovery\n"
)
TIMEOUT = "rpc::errc::client_request_timeout"


def silent(node: int, *minutes: int) -> str:
    return "".join(SILENT.format(minute, second, node) for minute in minutes for second in range(0, 60, 10))


def test_a_node_that_does_not_answer_is_the_cause(tmp_path: Path) -> None:
    for error in ("timeout", "not_coordinator"):
        refused = "".join(REFUSED.format(1, second, error) for second in (1, 12, 33, 55))
        (one,) = judge(tmp_path / error, {"redpanda.log": silent(7, 0) + refused + silent(7, 2)})
        assert (one.kind, one.subject["server"], one.subject["transactional.id"]) == (
            "node_not_reached",
            "192.0.2.7",
            "cut-tx-7",
        )


def test_single_late_answers_stay_silent(tmp_path: Path) -> None:
    assert judge(tmp_path, {"redpanda.log": "".join(SILENT.format(minute, 0, 7) for minute in range(0, 60, 10))}) == []


def test_a_short_silence_is_ignored(tmp_path: Path) -> None:
    assert judge(tmp_path, {"redpanda.log": "".join(SILENT.format(0, second, 7) for second in range(9))}) == []


def followed(node: int, *minutes: int, error: str = TIMEOUT) -> str:
    return "".join(APPEND.format(minute, second, node, second, error) for minute in minutes for second in (3, 9, 41))


def test_a_follower_that_does_not_answer(tmp_path: Path) -> None:
    text = followed(4, 10, 11, 12) + TRANSFER.format(12, 50, 4)
    (one,) = judge(tmp_path, {"redpanda.log": text})
    assert (one.kind, one.root_cause, one.subject["server"]) == ("replica_behind", "follower-does-not-answer", "4")
    assert "keep their leaders" in one.explanation and "partitions" not in one.subject
    assert len(one.evidence) == 10


@pytest.mark.parametrize("unit", ["rpk", "redpanda", "broker-unit"])
def test_a_follower_is_read_under_any_unit(tmp_path: Path, unit: str) -> None:
    lines = followed(4, 10, 11, 12).splitlines(keepends=True)
    text = "".join(f"Mar  4 {line[17:25]} host-2 {unit}[811]: {line}" for line in lines)
    (one,) = judge(tmp_path, {"journal.txt": text})
    assert (one.root_cause, one.subject["server"]) == ("follower-does-not-answer", "4")


def test_each_silent_follower_is_its_own_fault(tmp_path: Path) -> None:
    lines = sorted(
        (followed(4, 10, 11, 12) + followed(6, 10, 11, 12)).splitlines(keepends=True), key=lambda line: line[6:25]
    )
    found = judge(tmp_path, {"redpanda.log": "".join(lines)})
    assert sorted(str(one.subject["server"]) for one in found) == ["4", "6"]


def test_a_restart_of_a_follower_stays_silent(tmp_path: Path) -> None:
    later = "INFO  2026-03-04 11:13:00,000 [shard 0] storage - segment.cc:595 - Creating new segment /var/lib/a\n"
    assert judge(tmp_path, {"redpanda.log": followed(4, 10) + later}) == []


def test_a_silence_to_the_end_of_an_excerpt_is_not_ignored(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"redpanda.log": followed(4, 10)})
    assert (one.root_cause, one.subject["server"]) == ("follower-does-not-answer", "4")
    assert "the log ends before it does" in one.explanation


def test_a_removed_group_is_not_a_silent_follower(tmp_path: Path) -> None:
    text = followed(4, 10, 11, 12, error="raft group does not exists on target broker")
    assert all(one.root_cause != "follower-does-not-answer" for one in judge(tmp_path, {"redpanda.log": text}))
