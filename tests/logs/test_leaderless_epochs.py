"""Elections of the metadata quorum that fail up to the end of a log, in the logs of controllers and of brokers."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

UNATTACHED = (
    "[2024-03-07 02:11:{:02},310] INFO [RaftManager id=7] Completed transition to Unattached(epoch={}, voters=[1, 2, "
    "3], electionTimeoutMs=9223372036854775807) from {} (org.apache.kafka.raft.QuorumState)\n"
)
FOLLOWER = "FollowerState(fetchTimeoutMs=6000, epoch={}, leaderId=2, voters=[1, 2, 3], fetchingSnapshot=Optional.empty)"
LED = (
    "[2024-03-07 02:11:{:02},900] INFO [RaftManager id=7] Completed transition to " + FOLLOWER + " from "
    "Unattached(epoch={}, voters=[1, 2, 3]) (org.apache.kafka.raft.QuorumState)\n"
)
TIMED_OUT = (
    "[2024-03-07 02:11:{:02},080] INFO [RaftManager id=1] Election has timed out, backing off for 200ms before "
    "becoming a candidate again (org.apache.kafka.raft.KafkaRaftClient)\n"
)
BEGUN = (
    "[2024-03-07 02:11:28,060] INFO [RaftManager id=1] Become candidate due to fetch timeout "
    "(org.apache.kafka.raft.KafkaRaftClient)\n"
)
SERVED = (
    "[2024-03-07 02:12:44,001] INFO [BrokerLifecycleManager id=7] The broker has been unfenced. Transitioning from "
    "RECOVERY to RUNNING. (kafka.server.BrokerLifecycleManager)\n"
)


def epochs(count: int) -> str:
    """Return the records of a broker that loses its leader and goes through leaderless epochs after the first one."""
    lost = UNATTACHED.format(29, 40, FOLLOWER.format(39))
    return lost + "".join(UNATTACHED.format(29 + n, 40 + n, f"Unattached(epoch={39 + n})") for n in range(1, count + 1))


BROKER = LED.format(25, 39, 39) + epochs(3)
CONTROLLER = BEGUN + "".join(TIMED_OUT.format(second) for second in (30, 31, 33))


def test_a_broker_shows_elections_without_a_leader(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": BROKER})
    assert (one.kind, one.subject["broker"], one.severity) == ("controller_quorum_lost", "7", Severity.CRITICAL)
    assert "3 epochs without a leader, up to epoch 43" in one.explanation
    assert "knew node 2 as the leader at 2024-03-07T02:11:25.900Z" in one.explanation


def test_controllers_and_brokers_show_one_lost_quorum(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"b/server.log": BROKER, "c/controller.log": CONTROLLER})
    assert (one.kind, one.root_cause, one.subject["controller"]) == (
        "controller_quorum_lost",
        "voters-without-majority",
        "1",
    )
    assert "Node 7 went through 3 epochs" in one.explanation
    assert {Path(place.file).name for place in one.evidence} == {"server.log", "controller.log"}


@pytest.mark.parametrize("text", [epochs(2), BROKER + SERVED], ids=["two", "earlier"])
def test_elections_that_end_are_not_a_lost_quorum(text: str, tmp_path: Path) -> None:
    assert judge(tmp_path, {"server.log": text}) == []


def test_failed_elections_before_a_found_leader_are_a_warning(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": BROKER + LED.format(34, 44, 44)})
    assert (one.kind, one.severity) == ("unstable_controller", Severity.WARNING)
    assert "3 epochs ended without one" in one.explanation


def test_two_elections_that_time_out_are_not_an_incident(tmp_path: Path) -> None:
    assert judge(tmp_path, {"controller.log": BEGUN + TIMED_OUT.format(30) + TIMED_OUT.format(31)}) == []
