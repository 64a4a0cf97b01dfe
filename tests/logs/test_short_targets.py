"""Writes that brokers refuse for too few in-sync replicas, as the cause of offsets that Connect could not store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

RETRY = (
    "2024-05-06 08:00:0{second},500 WARN [Producer clientId={client}] Got error produce response with correlation id 7 "
    "on topic-partition {partition}, retrying (2147483640 attempts left). Error: NOT_ENOUGH_REPLICAS "
    "(org.apache.kafka.clients.producer.internals.Sender) [kafka-producer-network-thread | {client}]\n"
)
FAILED = (
    "2024-05-06 08:00:07,100 ERROR WorkerSourceTask{id=crm-source-1} Failed to flush, timed out while waiting for "
    "producer to flush outstanding 77 messages (org.apache.kafka.connect.runtime.WorkerSourceTask) "
    "[SourceTaskOffsetCommitter-1]\n"
    "2024-05-06 08:00:07,101 ERROR WorkerSourceTask{id=crm-source-1} Failed to commit offsets "
    "(org.apache.kafka.connect.runtime.SourceTaskOffsetCommitter) [SourceTaskOffsetCommitter-1]\n"
)
STORED = (
    "2024-05-06 08:01:07,110 INFO WorkerSourceTask{id=crm-source-1} Finished commitOffsets successfully in 9 ms "
    "(org.apache.kafka.connect.runtime.WorkerSourceTask) [SourceTaskOffsetCommitter-1]\n"
)


def retries(*partitions: str, client: str = "connector-producer-crm-source-1") -> str:
    return "".join(
        RETRY.format(second=second, client=client, partition=partition)
        for second, partition in enumerate(partitions, 2)
    )


def test_refused_writes_are_why_offsets_are_not_stored(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"connect.log": retries("crm.rows-4", "crm.rows-4") + FAILED + STORED})
    assert (one.severity, one.kind) == ("warning", "connector_offsets_not_stored")
    assert one.root_cause == "fewer-replicas-in-sync-than-min-isr"
    assert one.subject["topic-partition"] == "crm.rows-4"
    assert one.subject["connector.task"] == "crm-source-1"
    assert one.t_start_ms == 1_714_982_402_500
    assert "brokers refused 2 writes (NOT_ENOUGH_REPLICAS" in one.explanation
    assert {place.line for place in one.evidence} == {1, 2, 3, 4, 5}


def test_refused_writes_of_several_partitions_are_listed(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"connect.log": retries("crm.rows-4", "crm.rows-2") + FAILED})
    assert one.subject["topic-partitions"] == ("crm.rows-2", "crm.rows-4")


@pytest.mark.parametrize("logs", ["no retry", "other task", "other log"])
def test_other_writes_do_not_explain_the_offsets(logs: str, tmp_path: Path) -> None:
    other = retries("crm.rows-4", client="connector-producer-crm-source-0")
    files = {
        "no retry": {"connect.log": FAILED},
        "other task": {"connect.log": other + FAILED},
        "other log": {"connect.log": FAILED, "shop.log": retries("crm.rows-4", client="shop-1")},
    }
    found = judge(tmp_path, files[logs])
    assert [one.root_cause for one in found if one.kind == "connector_offsets_not_stored"] == [
        "producer-not-flushed-in-time"
    ]
