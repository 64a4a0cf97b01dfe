"""A consumer that does not poll in time because another system fails, and one that is only slow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

DOWN = "2026-02-03 09:{:02}:{:02},114 ERROR [main] com.example.Store - insert failed: Connection to pg-3 refused\n"
LATE = (
    "2026-02-03 09:06:00,000 WARN [main] org.apache.kafka.clients.consumer.internals.ConsumerCoordinator - [Consumer "
    "clientId=tiles-1, groupId=tiles] consumer poll timeout has expired. This means the time between subsequent calls "
    "to poll() was longer than the configured max.poll.interval.ms\n"
)
AT_MS = 1_770_109_260_114


def failing(*moments: tuple[int, int]) -> str:
    return "".join(DOWN.format(minute, second) for minute, second in moments)


def test_a_sink_that_fails_is_the_cause(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"tiles.log": failing((1, 0), (1, 30), (2, 30), (4, 30)) + LATE})
    assert (one.kind, one.root_cause, one.subject["group"]) == (
        "poll_interval_exceeded",
        "blocked-by-another-system",
        "tiles",
    )
    assert one.t_start_ms == AT_MS
    assert one.explanation.startswith("Failures outside of the Kafka client")
    assert "Connection to pg-3 refused" in one.explanation
    assert "raise max.poll" not in one.next_step


@pytest.mark.parametrize("moments", [(), ((5, 50), (5, 55), (5, 59)), ((1, 0), (3, 0))], ids=["none", "late", "few"])
def test_few_or_late_errors_leave_the_cause_open(moments: tuple[tuple[int, int], ...], tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"tiles.log": failing(*moments) + LATE})
    assert one.root_cause == "slow-processing"


def test_another_program_does_not_block_it(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"tiles.log": LATE, "maps.log": failing((1, 0), (1, 30), (2, 30), (4, 30))})
    assert one.root_cause == "slow-processing"


RD = "%{}|17402000{}.500|{}|bridge#{}| [thrd:main]: {}\n"


def test_the_member_and_its_failed_transaction_are_one(tmp_path: Path) -> None:
    late = "Application maximum poll interval (300000ms) exceeded by 90ms: leaving group"
    failed = "Current transaction failed in state InTransaction: Failed to commit offsets to transaction on broker "
    failed += "GroupCoordinator/2: Broker: Unknown member (UNKNOWN_MEMBER_ID)"
    text = RD.format(4, "05", "MAXPOLL", "consumer-4", late) + RD.format(3, "85", "TXNERR", "producer-5", failed)
    (one,) = judge(tmp_path, {"bridge.log": text})
    assert (one.kind, one.subject["client"]) == ("poll_interval_exceeded", "bridge#consumer-4")
    assert one.explanation.startswith("bridge#consumer-4 did not poll")
    assert "transaction of bridge#producer-5 failed with that and must be aborted" in one.explanation
