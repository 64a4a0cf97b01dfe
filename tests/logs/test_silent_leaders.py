"""Controllers that were silent for longer than the fetch timeout, and others that ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

DAY = "[2026-05-11 20:14:"
RAFT = "(org.apache.kafka.raft.KafkaRaftClient)\n"
CUT = (
    DAY + "{}] INFO [RaftManager id=5] Cancelled in-flight FETCH request with correlation id 911 due to node 4 being "
    "disconnected (elapsed time since creation: {}ms, elapsed time since send: {}ms, request timeout: 2000ms) "
    "(org.apache.kafka.clients.NetworkClient)\n"
)
CANDIDATE = (
    DAY + "07,120] INFO [RaftManager id=5] Completed transition to CandidateState(localId=5, epoch=12, retries=1, "
    "voteStates={4=UNRECORDED, 5=GRANTED, 6=UNRECORDED}, electionTimeoutMs=1100) from FollowerState("
    "fetchTimeoutMs=2000, epoch=11, leaderId=4, voters=[4, 5, 6]) (org.apache.kafka.raft.QuorumState)\n"
)
ACTIVE = (
    DAY + "07,402] INFO [QuorumController id=5] Becoming the active controller at epoch 12, committed offset 40, "
    "committed epoch 11 (org.apache.kafka.controller.QuorumController)\n"
)
RENOUNCED = (
    DAY + "11,050] WARN [QuorumController id=4] Renouncing the leadership due to a metadata log event. We were the "
    "leader at epoch 11, but in the new epoch 12, the leader is (none). Reverting to last committed offset 40. "
    "(org.apache.kafka.controller.QuorumController)\n"
)
FENCED = (
    DAY + "15,300] INFO [QuorumController id=5] Fencing broker 31 because its session has timed out. "
    "(org.apache.kafka.controller.ReplicationControlManager)\n"
)
BACK = (
    DAY + "17,800] INFO [QuorumController id=5] The request from broker 31 to unfence has been granted because it has "
    "caught up with the offset of its register broker record 22. "
    "(org.apache.kafka.controller.BrokerHeartbeatManager)\n"
)
LATER = DAY + "40,000] INFO [SnapshotGenerator id=4] Creating new KRaft snapshot file 1-2. (x.SnapshotGenerator)\n"


def test_a_silent_leader_is_one_incident(tmp_path: Path) -> None:
    other = CUT.format("06,990", 2010, 2010) + CANDIDATE + ACTIVE + FENCED + BACK
    (found,) = judge(tmp_path, {"kc-4/server.log": RENOUNCED + LATER, "kc-5/server.log": other})
    assert (found.kind, found.root_cause) == ("controller_failover", "leader-silent-beyond-fetch-timeout")
    assert (found.severity, found.subject) == (Severity.WARNING, {"controller": "4", "brokers": ("31",)})
    assert "took over at 2026-05-11T20:14:07.402Z" in found.explanation
    assert "it was unfenced at 2026-05-11T20:14:17.800Z" in found.explanation


@pytest.mark.parametrize(
    ("leader", "other"),
    [
        # It never renounced its role: it may have ended.
        (LATER, CUT.format("06,990", 2010, 2010) + CANDIDATE + ACTIVE),
        # No request timed out: the leader handed its role over.
        (RENOUNCED + LATER, CANDIDATE + ACTIVE),
    ],
)
def test_other_changes_of_leaders_are_not_silence(leader: str, other: str, tmp_path: Path) -> None:
    found = judge(tmp_path, {"kc-4/server.log": leader, "kc-5/server.log": other})
    assert "leader-silent-beyond-fetch-timeout" not in {one.root_cause for one in found}


def test_a_broker_fenced_much_later_is_its_own_fault(tmp_path: Path) -> None:
    later = FENCED.replace("20:14", "20:19") + BACK.replace("20:14", "20:19")
    other = CUT.format("06,990", 2010, 2010) + CANDIDATE + ACTIVE + later
    found = judge(tmp_path, {"kc-4/server.log": RENOUNCED + LATER, "kc-5/server.log": other})
    assert [one.kind for one in found] == ["controller_failover", "broker_fenced"]
