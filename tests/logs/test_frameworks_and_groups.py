"""Flink, Spark, Connect, and Logstash around a client, and what groups overcome or repeat without an end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from tests.logs.judging import judge

FLINK = "2026-03-02 07:{:02d}:{:02d},100 {:5} org.apache.{} [] - {}\n"
JOB = "flink.runtime.executiongraph.ExecutionGraph"
CONNECT = "[2026-03-02 07:{:02d}:{:02d},100] {} {} ({})\n"
LOGSTASH = "[2026-03-02T07:10:{:02d},{}][{:5}][{}] {}\n"
PYTHON = "2026-03-02 07:{:02d}:{:02d},100 {} aiokafka.consumer.group_coordinator {}\n"


def found(folder: Path, text: str, name: str = "gauges.log") -> Sequence[Incident]:
    return judge(folder, {name: text})


def test_a_job_and_its_sink_name_the_program_of_flink(tmp_path: Path) -> None:
    task = (
        "Source: gauges -> clean -> gauges-clean: Writer -> gauges-clean: Committer (1/2) (4c1f_0_0) switched from {}"
    )
    refused = (
        "INITIALIZING to FAILED\norg.apache.kafka.common.KafkaException: Unexpected error in InitProducerIdResponse; "
        "The transaction timeout is larger than the maximum value allowed by the broker (as configured by "
        "transaction.max.timeout.ms)."
    )
    ended = "Job gauge-cleaner (5b1f0c3e9a7d4420b6fd1a2f8c3e7712) switched from state RUNNING to FAILING."
    text = FLINK.format(10, 1, "WARN", JOB, task.format(refused)) + FLINK.format(10, 2, "INFO", JOB, ended)
    (one,) = found(tmp_path, text)
    assert (one.subject["application"], one.subject["component"]) == ("gauge-cleaner", "gauges-clean")
    assert one.explanation.startswith("gauge-cleaner asks for")


def test_ended_connections_explain_missing_metadata(tmp_path: Path) -> None:
    client = "[Producer clientId=producer-7]"
    network = "kafka.clients.NetworkClient"
    gone = f"{client} Bootstrap broker kb-1.int:9093 (id: -1 rack: null) disconnected"
    tries = "".join(FLINK.format(10, at, "WARN", network, gone) for at in range(0, 60, 5))
    failed = (
        "switched from RUNNING to FAILED\norg.apache.kafka.common.errors.TimeoutException: Topic gauges not present"
    )
    end = FLINK.format(11, 0, "WARN", "flink.runtime.taskmanager.Task", f"{failed} in metadata after 60000 ms.")
    (one,) = found(tmp_path, tries + end)
    assert one.kind == "brokers_not_reached"
    assert "Effect (metadata_timeout)" in one.explanation


def test_a_missing_topic_explains_missing_metadata(tmp_path: Path) -> None:
    client = "[Producer clientId=gauges-1, transactionalId=gauges-1]"
    unknown = f"{client} Error while fetching metadata with correlation id 9 : {{gauges=UNKNOWN_TOPIC_OR_PARTITION}}"
    tries = "".join(FLINK.format(10, at, "WARN", "kafka.clients.NetworkClient", unknown) for at in range(0, 60, 9))
    ended = (
        f"{client} Transiting to abortable error state due to org.apache.kafka.common.errors.TimeoutException: Topic"
    )
    manager = "kafka.clients.producer.internals.TransactionManager"
    end = FLINK.format(11, 0, "INFO", manager, f"{ended} gauges not present in metadata after 60000 ms.")
    (one,) = found(tmp_path, tries + end)
    assert one.kind == "topic_not_found"
    assert "Effect (metadata_timeout)" in one.explanation


def test_a_batch_that_logstash_repeats_has_its_reason(tmp_path: Path) -> None:
    retry = "Sending batch to Kafka failed. Will retry after a delay. {:batch_size=>4, :failures=>4, :sleep=>0.01}"
    large = (
        "KafkaProducer.send() failed: org.apache.kafka.common.errors.RecordTooLargeException: The message is 7204511 "
        "bytes when serialized which is larger than the maximum request size you have configured with the "
        "max.request.size configuration."
    )
    plugin = "logstash.outputs.kafka"
    retries = [LOGSTASH.format(at, 200, "INFO", plugin, retry) for at in range(1, 9)]
    reasons = [LOGSTASH.format(at, 100, "DEBUG", plugin, large) for at in range(4, 9)]
    (one,) = found(tmp_path / "both", "".join(sorted([*retries, *reasons])))
    assert one.kind == "record_too_large"
    assert one.subject["component"] == plugin
    (alone,) = found(tmp_path / "without", "".join(retries))
    assert alone.kind == "send_repeated"


def test_a_sink_that_cannot_flush_does_not_blame_brokers(tmp_path: Path) -> None:
    task = "WorkerSinkTask{id=gauges-to-es-2} Offset commit failed, rewinding to last committed offsets"
    worker = "org.apache.kafka.connect.runtime.WorkerSinkTask"
    outside = "org.apache.kafka.connect.errors.ConnectException: Flush timeout expired with unflushed records: 40\n"
    rewound = CONNECT.format(10, 0, "ERROR", task, worker)
    (one,) = found(tmp_path / "target", (rewound + outside) * 2)
    assert (one.kind, one.root_cause) == ("connector_offsets_not_stored", "target-not-written-in-time")
    source = rewound.replace("WorkerSinkTask", "WorkerSourceTask")
    (other,) = found(tmp_path / "source", (source + outside) * 2)
    assert other.root_cause == "producer-not-flushed-in-time"


def test_records_that_spark_does_not_get_are_a_fault(tmp_path: Path) -> None:
    lost = (
        "26/03/02 07:10:{:02d} WARN TaskSetManager: Lost task 3.{} in stage 40.0 (TID 9, w-4): "
        "java.lang.AssertionError: assertion failed: Failed to get records for spark-executor-gauges "
        "gauges.raw 12 8841 after polling for 512\n"
    )
    (one,) = found(tmp_path, "".join(lost.format(at, at) for at in range(1, 5)))
    assert one.kind == "records_not_fetched"
    assert (one.subject["topic-partition"], one.subject["group"]) == ("gauges.raw-12", "spark-executor-gauges")


def test_a_query_about_a_group_does_not_name_the_client(tmp_path: Path) -> None:
    admin = (
        "[AdminClient clientId=adminclient-4] Connection to node 2 (kb-2.int/10.1.7.5:9092) could not be established."
    )
    network = "org.apache.kafka.clients.NetworkClient"
    query = "Error querying offsets for consumer group gauge-report on cluster east."
    asked = CONNECT.format(12, 0, "ERROR", query, "org.apache.kafka.connect.mirror.MirrorCheckpointTask")
    tries = "".join(CONNECT.format(minute, 0, "WARN", admin, network) for minute in (10, 11, 12, 13))
    thrown = "org.apache.kafka.common.errors.TimeoutException: Call(callName=findCoordinator) timed out\n"
    first = found(tmp_path, tries + asked + thrown)[0]
    assert first.kind == "brokers_not_reached"
    assert "gauge-report" not in first.explanation.partition(".")[0]


def test_a_member_that_joins_again_has_overcome_its_removal(tmp_path: Path) -> None:
    words = [
        (1, "WARNING", "Heartbeat failed: local member_id was not recognized; resetting and re-joining group"),
        (1, "ERROR", "Heartbeat session expired - marking coordinator dead"),
        (
            2,
            "ERROR",
            "OffsetCommit failed for group gauges due to group error ([Error 25] UnknownMemberIdError: gauges)",
        ),
    ]
    refused = "".join(PYTHON.format(10, at, level, text) for at, level, text in words)
    joined = PYTHON.format(10, 5, "INFO", "Joined group 'gauges' (generation 7) with member_id aiokafka-0.8.1-4c1f")
    (back,) = found(tmp_path / "back", refused + joined)
    assert (back.kind, back.severity) == ("member_evicted", Severity.WARNING)
    (out,) = found(tmp_path / "out", refused)
    assert out.severity is Severity.ERROR


def test_a_coordinator_that_is_found_each_time_is_not_away(tmp_path: Path) -> None:
    group = "[Consumer clientId=gauges-1, groupId=gauges]"
    logger = "org.apache.kafka.clients.consumer.internals.AbstractCoordinator"
    dead = f"{group} Marking the coordinator kb-2.int:9092 (id: 2147483645 rack: null) dead"
    lost = [CONNECT.format(minute, 0, "INFO", dead, logger) for minute in (10, 14, 21)]
    joined = [
        CONNECT.format(minute, 3, "INFO", f"{group} Successfully joined group with generation {minute}", logger)
        for minute in (10, 14, 21)
    ]
    (each,) = found(tmp_path / "each", "".join(text for pair in zip(lost, joined, strict=True) for text in pair))
    assert (each.root_cause, each.severity) == ("lost-again-and-again", Severity.WARNING)
    assert "3 times" in each.explanation
    (never,) = found(tmp_path / "never", "".join(lost))
    assert never.root_cause == "coordinator-away-for-longer-than-a-move"


def test_a_sink_task_that_keeps_a_lost_partition_is_named(tmp_path: Path) -> None:
    ignored = "Ignoring invalid task provided offset gauges-4/OffsetAndMetadata{offset=7, metadata=''} -- {}"
    own = "WorkerSinkTask{id=gauges-out-0} "
    logger = "org.apache.kafka.connect.runtime.WorkerSinkTask"

    def log(reason: str, *minutes: int) -> str:
        text = f"{own}{ignored.replace('{}', reason)}"
        return "".join(CONNECT.format(at, 5, "WARN", text, logger) for at in minutes)

    (one,) = found(tmp_path / "again", log("partition not assigned", 10, 20, 30))
    assert (one.root_cause, one.severity) == ("partition-not-assigned-to-the-task", Severity.WARNING)
    assert one.subject["topic-partition"] == "gauges-4"
    assert found(tmp_path / "once", log("partition not assigned", 10)) == []
    assert found(tmp_path / "behind", log("not yet consumed", 10, 20, 30)) == []


def test_a_registry_names_the_replicas_that_its_topic_lacks(tmp_path: Path) -> None:
    refused = (
        "[Producer clientId=producer-1] Got error produce response with correlation id {} on topic-partition "
        "_schemas-0, retrying (2147483646 attempts left). Error: NOT_ENOUGH_REPLICAS"
    )
    sender = "org.apache.kafka.clients.producer.internals.Sender"
    ended = (
        "[2026-03-02 07:11:05,100] ERROR Error starting the schema registry "
        "(io.confluent.kafka.schemaregistry.rest.SchemaRegistryRestApplication)\n"
        "io.confluent.kafka.schemaregistry.exceptions.SchemaRegistryInitializationException: Error initializing kafka "
        "store while initializing schema registry\n"
        "Caused by: io.confluent.kafka.schemaregistry.storage.exceptions.StoreException: Failed to write Noop record "
        "to kafka store.\n"
    )
    text = "".join(CONNECT.format(10, at, "WARN", refused.format(at), sender) for at in (5, 6))
    (one,) = found(tmp_path / "short", text + ended)
    assert (one.kind, one.root_cause) == ("schema_registry_failed", "fewer-replicas-in-sync-than-min-isr")
    assert one.subject["topic-partition"] == "_schemas-0"
    (alone,) = found(tmp_path / "alone", ended)
    assert alone.root_cause == "store-topic-not-usable"


def test_one_commit_that_times_out_is_a_warning(tmp_path: Path) -> None:
    own = "[Consumer clientId=gauges-1, groupId=gauges] "
    failed = f"{own}Offset commit failed on partition gauges-4 at offset 7: The request timed out."
    again = f"{own}Discovered group coordinator kb-2.int:9092 (id: 2147483645 rack: null)"
    logger = "org.apache.kafka.clients.consumer.internals.AbstractCoordinator"
    text = CONNECT.format(10, 5, "ERROR", failed, logger) + CONNECT.format(10, 6, "INFO", again, logger)
    work = CONNECT.format(12, 0, "INFO", "14 gauges written", "com.example.Gauges")
    (one,) = found(tmp_path / "over", text + work)
    assert (one.kind, one.severity) == ("consumer_offsets_timeout", Severity.WARNING)
    (one,) = found(tmp_path / "open", text)
    assert one.severity is Severity.ERROR
    later = CONNECT.format(11, 0, "ERROR", failed, logger)
    (one,) = found(tmp_path / "again", text + later + work)
    assert one.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("innermost", "cause"),
    [
        ("com.example.store.StoreException: table gauges is read-only", "failure-outside-kafka"),
        ("java.net.ConnectException: Connection refused", "external-system-unreachable"),
        ("org.apache.kafka.common.errors.DisconnectException: null", "unexplained"),
    ],
)
def test_a_task_fails_with_the_system_inside_its_exception(tmp_path: Path, innermost: str, cause: str) -> None:
    logger = "org.apache.kafka.connect.runtime.WorkerTask"
    ended = "WorkerSinkTask{id=gauges-out-0} Task is being killed and will not recover until manually restarted"
    around = (
        "org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception.\n"
    )
    text = f"{CONNECT.format(10, 5, 'ERROR', ended, logger)}{around}Caused by: {innermost}\n"
    (one,) = found(tmp_path, text)
    assert (one.kind, one.root_cause) == ("connect_task_failed", cause)


STOPS = "2025-02-11 {},100 ERROR [{}] {} (org.apache.kafka.connect.runtime.Worker) [StartAndStopExecutor-connect-1-2]\n"
GIVEN_UP = (
    "Connector {} failed to properly shut down, has become unresponsive, and may be consuming external resources. "
    "Correct the configuration for this connector or remove the connector."
)


@pytest.mark.parametrize("quoted", ["'lake-sink'", "\u2018lake-sink\u2019"])
def test_a_connector_that_does_not_stop_is_named(quoted: str, tmp_path: Path) -> None:
    text = STOPS.format("06:30:11", "lake-sink|worker", GIVEN_UP.format(quoted))
    text += STOPS.format("06:30:12", "lake-sink|task-3", "Graceful stop of task lake-sink-3 failed.")
    (one,) = judge(tmp_path, {"connect.log": text})
    assert (one.kind, one.root_cause, one.severity) == (
        "connector_not_stopped",
        "connector-unresponsive",
        Severity.ERROR,
    )
    assert one.subject["connector.task"] == "lake-sink-3" and "the connector lake-sink, " in one.explanation


def test_a_task_that_does_not_stop_is_a_warning(tmp_path: Path) -> None:
    text = STOPS.format("06:30:12", "lake-sink|task-3", "Graceful stop of task lake-sink-3 failed.")
    (one,) = judge(tmp_path, {"connect.log": text})
    assert (one.kind, one.severity) == ("connector_not_stopped", Severity.WARNING)
    assert one.explanation.startswith("lake-sink-3 did not stop") and "FAILED" not in one.explanation


ADMIN = "2025-02-11 06:{},100 {} [a->b.MirrorCheckpointConnector|task-2] {} (o.a.k.X) [{}]\n"


def test_a_node_that_a_task_cannot_reach_starts_its_fault(tmp_path: Path) -> None:
    unreached = (
        "[AdminClient clientId=adminclient-9] Connection to node 5 (src-5/10.2.0.5:9092) could not be established."
    )
    failed = (
        "Error querying offsets for consumer group tolls on cluster a.",
        "Timed out waiting to send the call. Call: offsetFetch(api=OFFSET_FETCH)",
        "Timed out waiting for a node assignment. Call: offsetFetch(api=OFFSET_FETCH)",
    )
    thread = "task-thread-a->b.MirrorCheckpointConnector-2"
    text = "".join(
        ADMIN.format(f"40:{at}", "WARN", unreached, "kafka-admin-client-thread") for at in ("01", "04", "31")
    )
    for at, why in (("41:02", failed[1]), ("42:02", failed[1]), ("52:09", failed[2])):
        text += ADMIN.format(at, "ERROR", failed[0], thread)
        text += f"java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.TimeoutException: {why}\n"
    other = "WorkerSourceTask{id=a->b.MirrorSourceConnector-1} Committing offsets for 7 acknowledged messages"
    works = f"2025-02-11 06:43:00,100 INFO [a->b.MirrorSourceConnector|task-1|offsets] {other} (o.a.k.X) [committer]\n"
    (one,) = judge(tmp_path, {"mirror.log": text + works})
    assert one.kind == "client_gave_up" and one.subject["connector.task"] == "a->b.MirrorCheckpointConnector-2"
    assert "src-5/10.2.0.5:9092 at 2025-02-11T06:40:01.100Z" in one.explanation
    assert one.evidence[0].line < 6 and "returned until 2025-02-11T06:52:09.100Z" in one.explanation
