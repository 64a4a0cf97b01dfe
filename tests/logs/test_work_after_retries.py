"""Faults that repeat, last, or are given up, as against those that a retry overcomes soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

WORK = "2025-03-18 06:{}  INFO 1 --- [pay-0-C-1] c.a.pay.PayListener : booked 31 payments\n"
SEEK = (
    "2025-03-18 06:{}  INFO 1 --- [pay-0-C-1] o.a.k.clients.consumer.KafkaConsumer : [Consumer "
    "clientId=consumer-pay-1, groupId=pay] Seeking to offset 870 for partition pay.in-3\n"
    "2025-03-18 06:{}  ERROR 1 --- [pay-0-C-1] o.s.k.l.KafkaMessageListenerContainer : Error handler threw an "
    "exception\n"
    "org.springframework.kafka.KafkaException: Seek to current after exception\n"
    "Caused by: com.acme.pay.BankDown: no answer\n"
)
CORRUPTED = (
    "2025-03-18 06:{} WARN [tax-StreamThread-1] StreamThread - stream-thread [tax-StreamThread-1] Detected the "
    "states of tasks [0_6] are corrupted. Will close the task as dirty and re-create and bootstrap from "
    "scratch.\n"
    "org.apache.kafka.streams.errors.TaskCorruptedException: Tasks [0_6] are corrupted and hence need to be "
    "re-initialized\n"
)
RESTORED = (
    "2025-03-18 06:{} INFO [tax-StreamThread-1] StoreChangelogReader - stream-thread [tax-StreamThread-1] "
    "Finished restoring changelog tax-rates-changelog-6 to store rates with a total number of 71 records\n"
)
READY = (
    "2025-03-18 06:{} INFO [tax-StreamThread-1] StreamTask - stream-thread [tax-StreamThread-1] task [0_6] "
    "Restored and ready to run\n"
)
BELOW = (
    "2025-03-18T06:00:0{},250Z WARN [scale-writer] Sender - [Producer clientId=scale-writer] Got error produce "
    "response with correlation id 88 on topic-partition scale.log-2, retrying (2147483646 attempts left). Error: "
    "NOT_ENOUGH_REPLICAS\n"
)
GIVEN_UP = "2025-03-18T06:00:31,001Z ERROR [scale-1] ScaleStore - Failed to write the state of scale 4711 to Kafka\n"
FINE = "2025-03-18T06:00:31,001Z INFO [scale-1] ScaleStore - wrote the states of 40 scales\n"


def test_a_listener_that_fails_once_is_not_an_incident(tmp_path: Path) -> None:
    log = WORK.format("00:00.100") + SEEK.format("00:03.100", "00:03.101") + WORK.format("00:04.900")
    assert not judge(tmp_path, {"pay.log": log})


def test_a_listener_that_never_succeeds_is_one(tmp_path: Path) -> None:
    log = WORK.format("00:00.100") + "".join(SEEK.format(f"00:{at}.100", f"00:{at}.101") for at in range(10, 46, 5))
    (found,) = judge(tmp_path, {"pay.log": log})
    assert (found.kind, found.root_cause) == ("listener_failed", "records-delivered-again-and-again")
    assert found.subject["group"] == "pay"


@pytest.mark.parametrize(("restored", "count"), [("00:09,100", 0), ("04:40,100", 1)])
def test_a_task_is_an_incident_if_it_is_restored_late(restored: str, count: int, tmp_path: Path) -> None:
    log = CORRUPTED.format("00:04,310") + RESTORED.format(restored) + READY.format(restored.replace("100", "190"))
    found = judge(tmp_path, {"tax.log": log})
    assert [one.kind for one in found] == ["task_corrupted"] * count
    assert all(one.subject["task"] == "0_6" and "which took 4 min 35 s" in one.explanation for one in found)


@pytest.mark.parametrize(("end", "kinds"), [(GIVEN_UP, ["not_enough_replicas"]), (FINE, [])])
def test_a_program_reports_that_retries_did_not_help(end: str, kinds: list[str], tmp_path: Path) -> None:
    log = "".join(BELOW.format(at) for at in range(1, 4)) + end
    assert [one.kind for one in judge(tmp_path, {"scale.log": log})] == kinds
