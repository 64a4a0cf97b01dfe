"""The tasks of Connect that could not store offsets during a fault of the cluster are named with it."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

REFUSED = (
    "[2026-07-03 04:{},000] WARN [Producer clientId=wk-offsets] Got error produce response with correlation id 12 on "
    "topic-partition wk-offsets-3, retrying (90 attempts left). Error: NOT_ENOUGH_REPLICAS "
    "(org.apache.kafka.clients.producer.internals.Sender)\n"
)
NOT_STORED = (
    "[2026-07-03 04:{at},000] ERROR [{name}|task-0|offsets] WorkerSourceTask{{id={name}-0}} Timed out waiting to flush "
    "offsets to storage; will try again on next flush interval with latest offsets "
    "(org.apache.kafka.connect.runtime.WorkerSourceTask)\n"
    "[2026-07-03 04:{at},001] ERROR [{name}|task-0|offsets] WorkerSourceTask{{id={name}-0}} Failed to commit offsets "
    "(org.apache.kafka.connect.runtime.SourceTaskOffsetCommitter)\n"
)
REFUSALS = "".join(REFUSED.format(f"00:{second}") for second in range(10, 20))
KEPT = "".join(REFUSED.format(f"00:{second}") for second in range(20, 60, 5))


def test_a_task_that_could_not_store_is_named(tmp_path: Path) -> None:
    log = REFUSALS + NOT_STORED.format(at="00:19", name="meters") + KEPT + NOT_STORED.format(at="00:58", name="meters")
    (one,) = judge(tmp_path, {"connect.log": log})
    assert (one.kind, one.subject["connector.task"]) == ("not_enough_replicas", "meters-0")
    assert "connector task meters-0 could not store offsets 2 times from 2026-07-03T04:00:19.000Z" in one.explanation


def test_several_tasks_are_listed(tmp_path: Path) -> None:
    log = REFUSALS + NOT_STORED.format(at="00:19", name="meters") + NOT_STORED.format(at="00:20", name="valves")
    (one,) = judge(tmp_path, {"connect.log": log})
    assert one.subject["connector.tasks"] == ("meters-0", "valves-0")


def test_a_failure_long_after_the_fault_is_not_its_effect(tmp_path: Path) -> None:
    log = REFUSALS + NOT_STORED.format(at="40:19", name="meters")
    for one in judge(tmp_path, {"connect.log": log}):
        assert one.kind != "not_enough_replicas" or "connector.task" not in one.subject


SINK = (
    "[2026-07-03 04:00:12,000] INFO [vault-sink|task-1] [Consumer clientId=connector-consumer-vault-sink-1, "
    "groupId=connect-vault-sink] Adding newly assigned partitions: syslog-4 "
    "(org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker)\n"
)
OWN = SINK.replace("vault-sink|task-1", "meters|task-0").replace("vault-sink", "meters")


def test_the_group_of_another_connector_is_not_named(tmp_path: Path) -> None:
    log = SINK + NOT_STORED.format(at="00:19", name="meters") + NOT_STORED.format(at="01:19", name="meters")
    (one,) = judge(tmp_path, {"connect.log": log})
    assert one.subject["connector.task"] == "meters-0"
    assert "group" not in one.subject


def test_the_group_of_its_own_connector_is_named(tmp_path: Path) -> None:
    log = SINK + OWN + NOT_STORED.format(at="00:19", name="meters") + NOT_STORED.format(at="01:19", name="meters")
    (one,) = judge(tmp_path, {"connect.log": log})
    assert one.subject["group"] == "connect-meters"
