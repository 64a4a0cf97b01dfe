"""What follows a fault of a program on the JVM: restored tasks, replaced producers and tasks, stopped containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

LINE = "2026-10-02 {} {} [{}] {} - {}\n"


def line(clock: str, message: str, level: str = "INFO") -> str:
    return LINE.format(f"{clock},000", f"{level:5}", "main", "a.b.Feed", message)


SENT = (
    "stream-thread [wf-1-StreamThread-3] stream-task [1_10] Error encountered sending record to topic wf-core-changelog"
    " for task 1_10 due to:\norg.apache.kafka.common.errors.TimeoutException: Expiring 37 record(s) for "
    "wf-core-changelog-10:60004 ms has passed since batch creation"
)
CORRUPTED = "stream-thread [wf-1-StreamThread-3] Detected the states of tasks [{}] are corrupted. Will close the task."
BEGUN = (
    "stream-thread [wf-1-StreamThread-3] stream-task [1_10] State store core did not find checkpoint offset, hence "
    "would default to the starting offset at changelog wf-core-changelog-10"
)
DONE = "stream-thread [wf-1-StreamThread-3] task [1_10] Restored and ready to run"


def test_a_task_is_corrupted_by_a_send_that_timed_out(tmp_path: Path) -> None:
    text = line("02:19:54", SENT, "ERROR") + line("02:19:55", CORRUPTED.format("1_10"), "WARN")
    restored = line("02:19:56", BEGUN) + line("02:31:18", DONE)
    (one,) = judge(tmp_path, {"wf.log": text + restored})
    assert (one.kind, one.severity) == ("send_timeout", "warning")
    assert "Effect (task_corrupted)" in one.explanation
    assert "restored what it removed by 2026-10-02T02:31:18.000Z" in one.explanation
    (still,) = judge(tmp_path, {"wf.log": text + line("02:19:56", BEGUN)})
    assert still.severity == "error"
    assert "restored what it removed by" not in still.explanation


def test_a_later_corruption_has_another_reason(tmp_path: Path) -> None:
    text = line("02:19:54", SENT, "ERROR") + line("03:19:55", CORRUPTED.format("1_10"), "WARN")
    found = judge(tmp_path, {"wf.log": text + line("03:19:56", BEGUN) + line("03:31:18", DONE)})
    assert [one.kind for one in found] == ["send_timeout", "task_corrupted"]


LOST = (
    "PublishKafka[id=018610f2-4c6b] Failed to send FlowFile\norg.apache.kafka.common.errors.InvalidPidMappingException:"
    " The producer attempted to use a producer id which is not currently assigned to its transactional id."
)
MADE = "[Producer clientId=producer-{0}, transactionalId=nifi-{0}] ProducerId set to 6{0} with epoch 0"


@pytest.mark.parametrize(("component", "is_over"), [("018610f2-4c6b", True), ("99aa10f2-0000", False)])
def test_a_component_works_with_another_producer(component: str, is_over: bool, tmp_path: Path) -> None:
    sent = f"PublishKafka[id={component}] Sent 311 messages to topic reads"
    text = line("09:00:00", MADE.format(1)) + line("09:01:00", MADE.format(2)) + line("09:02:00", LOST, "ERROR")
    (one,) = judge(tmp_path, {"nifi.log": text + line("09:02:05", sent)})
    assert ("continued its work" in one.explanation) == is_over


FENCED = (
    "[cdc|task-0] ExactlyOnceWorkerSourceTask{id=cdc-0} Failed to commit producer transaction\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId"
)
KILLED = (
    "[cdc|task-0] ExactlyOnceWorkerSourceTask{id=cdc-0} Task threw an uncaught and unrecoverable exception. Task is "
    "being killed and will not recover until manually restarted"
)
AGAIN = (
    "[cdc|task-0] [Producer clientId=connector-producer-{0}, transactionalId=c-{0}] ProducerId set to 7 with epoch 5"
)


@pytest.mark.parametrize(("task", "is_started"), [("cdc-0", True), ("lake-1", False)])
def test_a_task_that_was_started_again_does_not_rest(task: str, is_started: bool, tmp_path: Path) -> None:
    text = line("09:00:00", FENCED, "ERROR") + line("09:00:01", KILLED, "ERROR")
    text += line("09:00:05", AGAIN.format(task).replace("[cdc|task-0] ", ""))
    (one,) = judge(tmp_path, {"worker.log": text})
    assert ("had failed, and was started again" in one.explanation) == is_started
    assert ("does nothing until" in one.explanation) != is_started


MEMBER = "[Consumer clientId=imp-1, groupId=imp] {}"
DROPPED = (
    "Error sending fetch request (sessionId=1, epoch=4) to node 2:\norg.apache.kafka.common.errors.DisconnectException"
)
GONE = "Offset commit failed on partition news-6 at offset 20113: The coordinator is not aware of this member."


def test_a_lost_connection_may_cost_the_membership(tmp_path: Path) -> None:
    gone = line("09:00:42", MEMBER.format(GONE), "ERROR")
    (one,) = judge(tmp_path, {"imp.log": line("09:00:12", MEMBER.format(DROPPED)) + gone})
    assert "had lost its connection to node 2 at 2026-10-02T09:00:12.000Z" in one.explanation
    (alone,) = judge(tmp_path, {"imp.log": line("08:00:12", MEMBER.format(DROPPED)) + gone})
    assert "had lost its connection" not in alone.explanation


@pytest.mark.parametrize(
    ("clocks", "every"),
    [
        (("09:00:00", "09:01:00", "09:02:01", "09:03:00"), "about every 1 min, last in "),
        (("09:00:00", "09:00:05", "09:20:00", "09:20:05"), "its log ended"),
    ],
)
def test_only_alike_pauses_are_an_interval(clocks: tuple[str, ...], every: str, tmp_path: Path) -> None:
    denied = (
        "[Consumer clientId=s-1, groupId=s] Not authorized to access group: s\n"
        "org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to access group: s"
    )
    (one,) = judge(tmp_path, {"s.log": "".join(line(at, denied, "ERROR") for at in clocks)})
    assert every in one.explanation
    assert ("about every" in one.explanation) == every.startswith("about")


def test_a_container_that_stops_reads_nothing(tmp_path: Path) -> None:
    denied = "[Consumer clientId=s-1, groupId=s] JoinGroup failed: Not authorized to access group: s"
    text = line("09:00:00", denied, "ERROR")
    stopped = line("09:00:01", "Fatal consumer exception; stopping container", "ERROR")
    (one,) = judge(tmp_path, {"s.log": text + stopped})
    assert "the listener container has stopped" in one.explanation


WORKER = "[Worker clientId=connect-1, groupId=lake] {}"
ASSIGNED = "Joined group at generation 7 and got assignment: Assignment{{error=0, connectorIds=[{}], taskIds=[{}], {}"
NONE_REVOKED = "revokedConnectorIds=[], revokedTaskIds=[], delay=0}"


@pytest.mark.parametrize(("task", "is_back"), [("s3-0", True), ("", False)])
def test_a_worker_is_back_once_it_has_tasks(task: str, is_back: bool, tmp_path: Path) -> None:
    text = line("09:00:00", WORKER.format("Worker poll timeout has expired. This means the time was longer"), "WARN")
    joined = line("09:05:06", WORKER.format(ASSIGNED.format("", task, NONE_REVOKED)))
    (one,) = judge(tmp_path, {"worker.log": text + joined})
    assert "did not poll within rebalance.timeout.ms" in one.explanation
    assert ("A member rejoined at 2026-10-02T09:05:06.000Z" in one.explanation) == is_back


QUERIED = "lookup failed\norg.apache.kafka.streams.errors.InvalidStateStoreException: Cannot get state store sums"
RUNNING = "stream-client [sums-2c] State transition from REBALANCING to RUNNING"


@pytest.mark.parametrize(
    ("minutes", "kinds"), [((0, 1), []), ((0, 3, 6), ["store_not_queryable"])], ids=["a rebalance", "for long"]
)
def test_queries_fail_only_while_streams_rebalances(minutes: tuple[int, ...], kinds: list[str], tmp_path: Path) -> None:
    text = "".join(line(f"09:0{minute}:00", QUERIED, "ERROR") for minute in minutes)
    assert [one.kind for one in judge(tmp_path, {"sums.log": text + line("09:07:00", RUNNING)})] == kinds


GIVEN_UP = "Writer failed\norg.apache.kafka.common.errors.TimeoutException: Expiring 7 record(s) for reads-0:120000 ms"
STARTED = "Map -> Sink: reads: Writer (2/2)#4 (c1f0) switched from INITIALIZING to {}."


@pytest.mark.parametrize(("state", "is_over"), [("RUNNING", True), ("FAILED", False)])
def test_a_task_of_flink_that_was_started_again_works(state: str, is_over: bool, tmp_path: Path) -> None:
    text = line("09:00:00", GIVEN_UP, "ERROR") + line("09:00:20", STARTED.format(state))
    (one,) = judge(tmp_path, {"tm.log": text})
    assert ("that it works again" in one.explanation) == is_over
