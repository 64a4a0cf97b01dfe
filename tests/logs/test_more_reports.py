"""Reports of kinds that were first read wrongly: the verdict, and what it is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.files.sources import SourceFile, inspect_file
from eosctl.render.logs.verdict import headline
from eosctl.services.log_findings import collect_log_findings
from tests.logs.judging import judge

EXPIRED = """\
[2023-10-17 06:30:14,882] ERROR [jdbc|task-0|offsets] ExactlyOnceWorkerSourceTask{id=jdbc-0} Failed to commit producer \
transaction (org.apache.kafka.connect.runtime.ExactlyOnceWorkerSourceTask)
org.apache.kafka.common.errors.InvalidProducerEpochException: Producer with transactionalId 'connect-a-jdbc-0' and \
ProducerIdAndEpoch(producerId=9120, epoch=4) attempted to produce with an old epoch
"""
SAID = """\
[2023-10-17 06:30:14,885] ERROR [jdbc|task-0] ExactlyOnceWorkerSourceTask{id=jdbc-0} Task threw an uncaught and \
unrecoverable exception. Task is being killed (org.apache.kafka.connect.runtime.WorkerTask)
org.apache.kafka.connect.errors.ConnectException: The task jdbc-0 was unable to finish writing records to Kafka before \
its producer transaction expired.
"""
RETRIED = (
    "[2022-06-15 19:02:44,511] WARN [Producer clientId=gw, transactionalId=gw-3] Got error produce response with "
    "correlation id 9 on topic-partition auth-8, retrying (2147483646 attempts left). Error: NOT_ENOUGH_REPLICAS "
    "(org.apache.kafka.clients.producer.internals.Sender)\n"
)
GIVEN_UP = (
    "[2022-06-15 19:04:44,630] INFO [Producer clientId=gw, transactionalId=gw-3] Transiting to abortable error state "
    "due to org.apache.kafka.common.errors.TimeoutException: Expiring 3 record(s) for auth-8:120001 ms has passed "
    "since batch creation (org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)
REPARTITIONED = """\
[2022-10-03 17:20:44,022] ERROR Uncaught exception in scheduled task 'load-txns-for-partition-__transaction_state-17' \
(kafka.utils.KafkaScheduler)
org.apache.kafka.common.KafkaException: Transaction topic number of partitions has changed from 50 to 64
"""
LEADERLESS = """\
[2023-12-05 08:44:36,871] ERROR [MirrorSourceConnector|task-0] ExactlyOnceWorkerSourceTask{id=MirrorSourceConnector-0} \
Task threw an uncaught and unrecoverable exception (org.apache.kafka.connect.runtime.WorkerTask)
org.apache.kafka.connect.errors.ConnectException: This worker is not able to communicate with the leader of the \
cluster, which is required for exactly-once source tasks.
"""
EVICTED = (
    "[2023-05-09 10:0{}:03,120] INFO [GroupCoordinator 2]: Member fx-0-6b1e66b8 in group fx has failed, removing it "
    "from the group (kafka.coordinator.group.GroupCoordinator)\n"
)
LOCKED = (
    "2023-03-14 13:58:20,411 ERROR [main] o.a.k.s.p.i.StateDirectory - Unable to obtain lock as state directory is "
    "already locked by another process\n"
    'Exception in thread "main" org.apache.kafka.streams.errors.StreamsException: Unable to initialize state, this can '
    "happen if multiple instances of Kafka Streams are running in the same state directory (current state directory is "
    "[/var/lib/kpi]\n"
)
HANGING = """\
$ kafka-transactions.sh --bootstrap-server kb1:9092 find-hanging --broker-id 2
Topic     Partition  ProducerId  ProducerEpoch  CoordinatorEpoch  StartOffset  LastTimestamp  Duration(min)
invoices  1          64002       31             88                5499120      1697012345678  2874
"""
DESCRIBED = (
    "CoordinatorId\tTransactionalId\tProducerId\tProducerEpoch\tTransactionState\tTransactionTimeoutMs\t"
    "CurrentTransactionStartTimeMs\tTransactionDurationMs\tTopicPartitions\n"
    "1            \tdwh-2\t33107     \t0            \tOngoing         \t3600000             \t1718183462011\t{}"
    "\tfacts-3\n"
)
REDPANDA = """\
INFO  2024-12-06 05:59:02,111 [shard 0:main] tx - [{kafka/a/0}] - rm_stm.cc:1512 - attempting expiration of producer: \
{producer_identity: id=4, epoch=71} transaction
INFO  2024-12-06 05:59:07,995 [shard 1:main] tx - tx_gateway_frontend.cc:2497 - [tx_id=dc-1@keres] producer \
{producer_identity: id=4, epoch=71} is fenced of by {producer_identity: id=4, epoch=72}
"""


def test_a_named_timeout_is_not_fencing_by_another_client(tmp_path: Path) -> None:
    (found,) = judge(tmp_path / "said", {"connect.log": EXPIRED + SAID})
    assert (found.kind, found.root_cause) == ("transaction_timeout", "transaction-longer-than-its-timeout")
    assert found.subject["transactional.id"] == "connect-a-jdbc-0"
    (found,) = judge(tmp_path / "unsaid", {"connect.log": EXPIRED})
    assert found.kind == "producer_fenced"


def test_a_retry_excuses_a_refusal_unless_the_client_gave_up(tmp_path: Path) -> None:
    assert judge(tmp_path / "retried", {"gw.log": RETRIED}) == []
    (found,) = judge(tmp_path / "given-up", {"gw.log": RETRIED + GIVEN_UP})
    assert (found.kind, found.subject["topic-partition"]) == ("not_enough_replicas", "auth-8")
    assert "Effect (send_timeout)" in found.explanation


def test_a_changed_partition_count_of_transactions_is_critical(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"broker-1/server.log": REPARTITIONED})
    assert (found.kind, found.severity.value) == ("transaction_topic_repartitioned", "critical")
    assert found.subject["topic-partition"] == "__transaction_state-17"


def test_a_worker_without_a_way_to_its_leader_is_named(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"mm2.log": LEADERLESS})
    assert (found.kind, found.subject["connector.task"]) == ("connect_leader_not_reached", "MirrorSourceConnector-0")


def test_members_that_are_evicted_again_are_reported(tmp_path: Path) -> None:
    assert judge(tmp_path / "once", {"broker-1/server.log": EVICTED.format(0)}) == []
    (found,) = judge(tmp_path / "twice", {"broker-1/server.log": EVICTED.format(0) + EVICTED.format(1)})
    assert (found.kind, found.subject["group"], found.severity.value) == ("members_evicted", "fx", "warning")


def test_a_locked_state_directory_is_not_called_damaged(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"kpi.log": LOCKED})
    assert found.root_cause == "state-directory-locked-by-another-process"
    assert found.subject["state.dir"] == "/var/lib/kpi"


def test_rows_of_the_transactions_tool_are_read(tmp_path: Path) -> None:
    (found,) = judge(tmp_path / "hanging", {"console.txt": HANGING})
    assert (found.kind, found.subject["topic-partition"]) == ("hanging_transaction", "invoices-1")
    assert found.subject["producerId"] == "64002"
    (found,) = judge(tmp_path / "open", {"console.txt": DESCRIBED.format(1311840)})
    assert (found.kind, found.subject["transactional.id"]) == ("open_transaction", "dwh-2")
    assert judge(tmp_path / "young", {"console.txt": DESCRIBED.format(1311)}) == []


def test_redpandas_expiration_explains_the_refusal_after_it(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"redpanda.log": REDPANDA})
    assert (found.kind, found.subject["transactional.id"]) == ("transaction_timeout", "dc-1@keres")


def test_markers_that_are_denied_lack_a_permission_of_brokers(tmp_path: Path) -> None:
    text = (
        "[2024-05-01 10:00:00,123] ERROR [TransactionMarkerChannelManager 1]: Sending pay-1's transaction marker for "
        "partition x-3 has permanently failed with error org.apache.kafka.common.errors.ClusterAuthorizationException "
        "(kafka.coordinator.transaction.TransactionMarkerRequestCompletionHandler)\n"
    )
    (found,) = judge(tmp_path, {"broker-1/server.log": text})
    assert (found.kind, found.root_cause) == ("cluster_authorization", "missing-cluster-action-acl")
    assert "ClusterAction on Cluster" in found.next_step


def test_exhausted_retries_do_not_end_in_an_all_clear(tmp_path: Path) -> None:
    text = (
        '{"level":"ERROR","timestamp":"2024-05-01T10:01:00.000Z","logger":"kafkajs","message":"[Producer] '
        'KafkaJSNumberOfRetriesExceeded: The coordinator is not available"}\n'
    )
    (found,) = judge(tmp_path, {"app.log": text})
    assert found.kind == "client_gave_up"


@pytest.mark.parametrize(
    "line",
    [
        'level=error ts={} msg="produce failed" topic=rides partition=4 err="REQUEST_TIMED_OUT: timed out"',
        "{} ERROR rides.Writer - Failed to send the batch to rides-4: kafka server: Request timed out",
    ],
)
def test_a_program_whose_send_timed_out_has_not_recovered(tmp_path: Path, line: str) -> None:
    text = "".join(line.format(f"2026-03-15T18:22:{second}.000Z") + "\n" for second in (11, 20, 29))
    (found,) = judge(tmp_path, {"writer.log": text})
    assert found.kind == "send_timeout"


def test_a_rollback_explains_no_earlier_refusal_in_its_log(tmp_path: Path) -> None:
    refused = (
        "[2025-10-06 21:58:{}] ERROR [Producer clientId=producer-1, transactionalId=pay-1] Aborting producer batches "
        "due to fatal error (org.apache.kafka.clients.producer.internals.Sender)\n"
        "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same "
        "transactionalId which fences the current one.\n"
    )
    rolled_back = (
        "[2025-10-06 21:58:13,764] INFO [TransactionCoordinator id=2] Completed rollback of ongoing transaction for "
        "transactionalId pay-1 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)\n"
    )
    before = judge(tmp_path / "before", {"console.txt": refused.format("09,644") + rolled_back})
    assert not any("resumed" in one.explanation for one in before)
    after = judge(tmp_path / "after", {"console.txt": rolled_back + refused.format("15,644")})
    assert any("resumed" in one.explanation for one in after)


def test_a_failed_operation_does_not_pass_as_recovered(tmp_path: Path) -> None:
    path = tmp_path / "writer.log"
    line = "2026-03-15 18:22:{},000 ERROR rides.Writer - commit of offsets failed: NETWORK_EXCEPTION: disconnected\n"
    path.write_text("".join(line.format(second) for second in (11, 20, 29)))
    assert headline(collect_log_findings([path])).startswith("No known cause; 3 records call for action: ")


def test_an_exception_before_a_record_does_not_count_as_a_prefix(tmp_path: Path) -> None:
    lost_ends = (
        "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer"
        "2026-11-21 11:07:{}.301 ERROR [main] a.b.Relay - order 0 failed\n"
    )
    path = tmp_path / "relay.log"
    path.write_text("".join(lost_ends.format(second) for second in (10, 20)))
    source = inspect_file(path)
    assert isinstance(source, SourceFile)
    assert source.wrapper == ""
