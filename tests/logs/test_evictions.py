"""Members that their coordinator removed: the removal, the refusal of the client, and the pause between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

REMOVED = (
    "[2026-05-06 07:00:40,000] INFO [GroupCoordinator 1]: Member ledger-2-5f0c in group ledger has failed, removing it "
    "from the group (kafka.coordinator.group.GroupCoordinator)\n"
)
REMOVED_BY_SESSION = (
    "[2026-05-06 07:00:40,000] INFO [GroupCoordinator id=1] [GroupId ledger] Member ledger-2-5f0c fenced from the "
    "group because the member session expired. (org.apache.kafka.coordinator.group.GroupMetadataManager)\n"
)
REFUSED = (
    "2026-05-06 07:0{}:10,200 [main] ERROR shop.Ledger - [Consumer clientId={}, groupId=ledger] offsets refused\n"
    "org.apache.kafka.clients.consumer.CommitFailedException: Transaction offset Commit failed due to consumer group "
    "metadata mismatch: The coordinator is not aware of this member.\n"
)
PAUSE = "[2026-05-06T07:01:10.000+0000][info][gc] GC(71) Pause Full (G1 Compaction Pause) 900M->800M(900M) {}ms\n"
WORKING = "2026-05-06 07:00:50,000 [main] ERROR shop.Ledger - [Consumer clientId=ledger-2, groupId=ledger] slow disk\n"


@pytest.mark.parametrize("removed", [REMOVED, REMOVED_BY_SESSION])
def test_a_pause_of_the_collector_explains_a_removal(removed: str, tmp_path: Path) -> None:
    files = {"server.log": removed, "gc.log": PAUSE.format("58200.4"), "app.log": REFUSED.format(1, "ledger-2")}
    (found,) = judge(tmp_path, files)
    assert (found.kind, found.root_cause) == ("member_evicted", "pause-beyond-session-timeout")
    assert found.subject["group"] == "ledger" and "58 s" in found.explanation
    assert {Path(place.file).name for place in found.evidence} == set(files)


STOOD = (
    "2026-05-06 07:01:10,000 [pool] WARN com.zaxxer.hikari.pool.HikariPool - HikariPool-1 - Thread starvation or clock "
    "leap detected (housekeeper delta=58s400ms).\n"
)
EMPTY = (
    "[2026-05-06 07:00:40,002] INFO [GroupCoordinator 1]: Group {} with generation 18 is now empty "
    "(__consumer_offsets-9) (kafka.coordinator.group.GroupCoordinator)\n"
)
BEATING = (
    "2026-05-06 07:01:10,200 [hb] INFO o.a.k.c.c.i.ConsumerCoordinator - [Consumer clientId=ledger-2, groupId=ledger] "
    "Attempt to heartbeat with generation 17 failed due to UNKNOWN_MEMBER_ID, resetting generation\n"
)


@pytest.mark.parametrize(("group", "is_last"), [("ledger", True), ("ledger-2", False)])
def test_a_group_without_members_has_no_new_owner(group: str, is_last: bool, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"server.log": REMOVED + EMPTY.format(group), "app.log": STOOD + BEATING})
    assert ("as the last member of the group" in found.explanation) == is_last
    assert "another member" not in found.explanation and "commits" not in found.explanation
    assert "58 s" in found.explanation and "heap" not in found.next_step


@pytest.mark.parametrize(
    ("pause", "before"),
    [("", ""), (PAUSE.format("8000.0"), ""), (PAUSE.format("58200.4"), WORKING)],
    ids=["no pause", "a pause after the removal", "a pause of another process"],
)
def test_a_removal_without_a_pause_has_no_such_cause(pause: str, before: str, tmp_path: Path) -> None:
    found = judge(tmp_path, {"server.log": REMOVED, "gc.log": pause, "app.log": before + REFUSED.format(1, "ledger-2")})
    assert ("member_evicted", "heartbeats-missed") in {(one.kind, one.root_cause) for one in found}


@pytest.mark.parametrize(("minute", "client"), [(1, "ledger-3"), (0, "ledger-2")])
def test_other_members_and_earlier_refusals_are_not_joined(minute: int, client: str, tmp_path: Path) -> None:
    found = judge(tmp_path, {"server.log": REMOVED, "app.log": REFUSED.format(minute, client)})
    assert {one.kind for one in found} & {"member_evicted"} == set()


SILENT = (
    "2026-05-06 07:00:{:02},000 WARNING kafka.coordinator Heartbeat session expired, marking coordinator dead\n"
    "2026-05-06 07:00:{:02},100 WARNING kafka.coordinator Heartbeat: local member_id was not recognized; this consumer "
    "needs to re-join\n"
)
NOT_STORED = (
    "2026-05-06 07:00:33,000 ERROR kafka.coordinator.consumer Offset commit failed: likely to cause duplicate "
    "message delivery\nkafka.errors.CommitFailedError: CommitFailedError: Commit cannot be completed since the group "
    "has already rebalanced and assigned the partitions to another member.\n"
)
JOINED = "2026-05-06 07:{}:00,000 INFO kafka.coordinator Successfully joined group ledger with generation 8\n"
WROTE = "2026-05-06 07:{}:05,000 INFO ledger.job wrote 12 rows\n"


@pytest.mark.parametrize(("minute", "severity"), [("01", "warning"), ("09", "error")])
def test_a_member_that_soon_works_again_needs_no_action(minute: str, severity: str, tmp_path: Path) -> None:
    text = JOINED.format("00") + SILENT.format(30, 30) + NOT_STORED + JOINED.format(minute) + WROTE.format(minute)
    (one,) = judge(tmp_path, {"ledger.log": text})
    assert (one.kind, one.severity) == ("member_evicted", severity)
    assert "continued its work" in one.explanation


DROPPED = (
    "2026-05-06 07:0{}:14,871 INFO [main] o.a.k.c.c.i.AbstractCoordinator - [Consumer clientId=ledger-2, "
    "groupId={}] Attempt to heartbeat failed for since member id ledger-2-5f0c is not valid.\n"
    "2026-05-06 07:0{}:14,910 ERROR [main] shop.Ledger - Error while processing: null\n"
    "org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already "
    "rebalanced and assigned the partitions to another member. This means that the time between subsequent calls to "
    "poll() was longer than the configured max.poll.interval.ms\n"
)


@pytest.mark.parametrize(("group", "kind"), [("ledger", "member_evicted"), ("stock", "poll_interval_exceeded")])
def test_a_member_learns_late_of_its_removal(group: str, kind: str, tmp_path: Path) -> None:
    dropped = DROPPED.format(0, group, 0).replace("14,", "54,")
    assert [one.kind for one in judge(tmp_path, {"server.log": REMOVED, "app.log": dropped})] == [kind]


EXPIRED = "2026-05-06 07:01:40,{} - kafka.coordinator - WARNING - Heartbeat session expired, marking coordinator dead\n"
NOT_KNOWN = (
    "2026-05-06 07:01:40,900 - kafka.coordinator.consumer - ERROR - OffsetCommit failed for group scores due to group "
    "error ([Error 25] UnknownMemberIdError: scores), will rejoin\n"
)
LOADED = "2026-05-06 07:01:{},100 - scores - INFO - model loaded in 41.2s\n"


@pytest.mark.parametrize(("second", "is_shown"), [("39", True), ("02", False)])
def test_long_work_before_the_end_of_a_session_is_quoted(second: str, is_shown: bool, tmp_path: Path) -> None:
    text = LOADED.format(second) + EXPIRED.format("200") + NOT_KNOWN
    (found,) = judge(tmp_path, {"scores.log": text})
    assert ("model loaded in 41.2s" in found.explanation) is is_shown
    assert ("does not show whether the client stood still" in found.explanation) is not is_shown
    assert found.t_start_ms % 60_000 == 40_200
