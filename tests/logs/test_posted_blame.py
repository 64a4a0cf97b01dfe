"""Faults that look like a client's and are a broker's, a clock's, or a rebalance's."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from eosctl.text import time_text
from tests.logs.judging import judge


def only(folder: Path, **files: str) -> Incident:
    (one,) = judge(folder, {f"{name.replace('_', '-')}.log": text for name, text in files.items()})
    return one


START = (
    "[2025-02-01 05:00:00,000] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jController)\n"
)
GAP = (
    "[2025-02-01 05:00:{second},000] ERROR [ReplicaManager broker=3] Error processing append operation "
    "on partition mist-1 "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.OutOfOrderSequenceException: Out of "
    "order sequence "
    "number for producer {producer} at offset 44 in partition mist-1: {arrived} (incoming seq. number), "
    "50 (current end "
    "sequence number)\n"
)


def gap(second: int, producer: int, arrived: int = 90) -> str:
    return GAP.format(second=second, producer=producer, arrived=arrived)


def test_a_broker_with_an_older_log_lost_the_records(tmp_path: Path) -> None:
    one = only(tmp_path, server=START + gap(10, 70) + gap(12, 71) + gap(14, 70))
    assert (one.kind, one.severity) == ("committed_records_removed", Severity.CRITICAL)
    assert (one.subject["broker"], one.subject["topic-partition"]) == ("3", "mist-1")


@pytest.mark.parametrize(
    "log",
    [
        START + gap(10, 70) + gap(14, 70),  # One producer may have lost a batch itself.
        gap(10, 70) + gap(12, 71),  # The broker did not start before.
        START + gap(10, 70, 51) + gap(12, 71, 51),  # These are the next numbers.
    ],
)
def test_other_gaps_are_not_blamed_on_the_log(log: str, tmp_path: Path) -> None:
    assert "committed_records_removed" not in {one.kind for one in judge(tmp_path, {"server.log": log})}


def test_a_step_that_is_reported_with_the_time_before_it(tmp_path: Path) -> None:
    text = (
        "Jan 05 10:00:00 kafka-4 chronyd[61]: System clock was stepped by 7200.500000 seconds\n"
        "Jan 05 12:00:01 kafka-4 kafka[15]: [2025-01-05 12:00:01,100] INFO [TransactionCoordinator id=4] "
        "Completed rollback "
        "of ongoing transaction for transactionalId till-tx-1 due to timeout (kafka.coordinator.transaction."
        "TransactionCoordinator)\n"
    )
    one = only(tmp_path, journal=text)
    assert (one.kind, one.subject["transactional.id"]) == ("clock_stepped", "till-tx-1")


def test_a_fenced_broker_that_writes_on_has_not_died(tmp_path: Path) -> None:
    broker = (
        "[2025-03-03 03:00:01,000] INFO [BrokerLifecycleManager id=5] Unable to send a heartbeat because the "
        "RPC got timed "
        "out before it could be sent. (kafka.server.BrokerLifecycleManager)\n"
        "[2025-03-03 03:00:09,000] INFO [SnapshotGenerator id=5] Creating new KRaft snapshot file "
        "(org.apache.kafka.image)\n"
    )
    controller = (
        "[2025-03-03 03:00:05,000] INFO [QuorumController id=9] Fencing broker 5 because its session has timed out. "
        "(org.apache.kafka.controller.ReplicationControlManager)\n"
    )
    one = only(tmp_path, broker_5=broker, controller_9=controller)
    assert (one.kind, one.severity) == ("broker_fenced", Severity.WARNING)


def produced(epoch: int, clock: str) -> str:
    return (
        f"[2025-04-04 04:04:{clock}] INFO [rows|task-2] [Producer clientId=connector-producer-rows-2, "
        "transactionalId="
        f"live-rows-2] ProducerId set to 55 with epoch {epoch} (org.apache.kafka.clients.producer.internals."
        "TransactionManager:491)\n"
    )


ENDED = (
    "[2025-04-04 04:04:20,000] INFO [rows|task-2] [Producer clientId=connector-producer-rows-2, "
    "transactionalId=live-rows-2] "
    "Transiting to fatal error state due to org.apache.kafka.common.errors.ProducerFencedException: There is a newer "
    "producer with the same transactionalId which fences the current one. "
    "(org.apache.kafka.clients.producer.internals."
    "TransactionManager:1000)\n[2025-04-04 04:04:20,010] ERROR [rows|task-2] "
    "ExactlyOnceWorkerSourceTask{id=rows-2} Task "
    "threw an uncaught and unrecoverable exception. Task is being killed and will not recover until "
    "manually restarted "
    "(org.apache.kafka.connect.runtime.WorkerTask:212)\n"
)


def test_a_task_that_another_worker_runs_has_not_failed(tmp_path: Path) -> None:
    one = only(tmp_path, worker_1=produced(1, "01,000") + ENDED, worker_2=produced(2, "15,000"))
    assert (one.root_cause, one.severity) == ("older-task-generation", Severity.WARNING)
    assert "Another worker runs task rows-2" in one.explanation
    assert "does nothing until" not in one.explanation


def test_a_task_that_nothing_took_over_has_failed(tmp_path: Path) -> None:
    one = only(tmp_path, worker_1=produced(1, "01,000") + ENDED)
    assert "does nothing until it is restarted" in one.explanation


LOAD = (
    "[2025-05-05 01:00:00,000] INFO [Transaction State Manager 6]: Loading transaction metadata from "
    "__transaction_state-4 "
    "at epoch 7 (kafka.coordinator.transaction.TransactionStateManager)\n"
    "[2025-05-05 01:{end},000] INFO [Transaction State Manager 6]: Finished loading 900000 transaction metadata from "
    "__transaction_state-4 in {took} milliseconds, of which 1 milliseconds was spent in the scheduler. "
    "(kafka.coordinator.transaction.TransactionStateManager)\n"
)
WAITED = (
    "2025-05-05T01:01:05.000Z ERROR [main] com.example.Desk: init of desk-tx-1 failed: "
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting InitProducerId\n"
)


@pytest.mark.parametrize(
    ("end", "took", "cause"),
    [
        ("02:00", 120_000, "coordinator-loads-for-long"),
        ("00:01", 1_000, "transaction-coordinator-not-available"),
    ],
)
def test_a_long_load_is_the_cause_of_timeouts(end: str, took: int, cause: str, tmp_path: Path) -> None:
    one = only(tmp_path, desk=WAITED, kafka_6=LOAD.format(end=end, took=took))
    assert one.root_cause == cause
    assert (one.subject.get("topic-partition") == "__transaction_state-4") is (took > 60_000)


@pytest.mark.parametrize(
    ("refused", "cause"),
    [
        ("06:01:30.000", "transaction-longer-than-its-timeout"),
        ("06:00:20.000", "duplicate-transactional-id"),
    ],
)
def test_a_transaction_longer_than_its_timeout(refused: str, cause: str, tmp_path: Path) -> None:
    text = (
        "2025-06-06 06:00:00.000 [main] INFO  com.example.Batch - transaction begun, transaction.timeout.ms=60000\n"
        f"2025-06-06 {refused} [main] ERROR com.example.Batch - send failed\n"
        "org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce with an "
        "old epoch.\n"
    )
    one = only(tmp_path, batch=text)
    assert one.root_cause == cause
    assert time_text(one.t_start_ms) == f"2025-06-06T{refused}Z"


def test_subjects_that_records_name_in_passing(tmp_path: Path) -> None:
    sink = (
        "[2025-07-07 07:00:00,000] ERROR [lake|task-0] Error encountered in task lake-0. Executing stage "
        "'VALUE_CONVERTER' "
        "with class 'x.AvroConverter', where consumed record is {topic='fish', partition=6, offset=12, timestamp=1}. "
        "(org.apache.kafka.connect.runtime.errors.LogReporter:66)\norg.apache.kafka.connect.errors.DataException: "
        "Failed to deserialize data for topic fish to Avro:\n"
        "Caused by: io.registry.RestClientException: Schema 9 not found\n"
    )
    one = only(tmp_path, connect=sink)
    assert (one.subject["topic-partition"], one.subject["offset"]) == ("fish-6", "12")
    assert "Schema 9 not found" in one.explanation


def test_a_store_names_its_application(tmp_path: Path) -> None:
    text = (
        "2025-08-08 08:00:00.000 ERROR [worker-1] com.example.Main: stopped\norg.apache.kafka.streams.errors."
        "ProcessorStateException: Error opening store hits at location /var/state/maps/1_2/rocksdb/hits\nCaused by: "
        "org.rocksdb.RocksDBException: While lock file: /var/state/maps/1_2/rocksdb/hits/LOCK: Resource temporarily "
        "unavailable\n"
    )
    assert only(tmp_path, stderr=text).subject["application.id"] == "maps"


def test_a_static_member_has_the_names_of_its_start(tmp_path: Path) -> None:
    text = (
        "2025/09/09 09:00:00 starting, group.id=sorts group.instance.id=sort-a\n"
        "2025/09/09 09:00:05 kafka error: code=-150 fatal=true: Fatal consumer error: Broker: Static "
        "consumer fenced by "
        "other consumer with same group.instance.id\n"
    )
    one = only(tmp_path, sorter=text)
    assert (one.subject["group"], one.subject["group.instance.id"]) == ("sorts", "sort-a")
