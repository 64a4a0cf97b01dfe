"""What clients and other brokers report of a broker's fault is a part of it, if it names the broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

OUT_OF_MEMORY = (
    "[2026-06-08 08:10:15,034] ERROR [KafkaServer id=2] Uncaught exception in thread 'data-plane-3' "
    "(kafka.server.KafkaRequestHandler)\njava.lang.OutOfMemoryError: Java heap space\n"
)
FAILED_DIR = (
    "[2026-06-08 08:10:24,019] ERROR Error while appending records to tel-3 in dir /data/d3 "
    "(org.apache.kafka.storage.internals.log.LogDirFailureChannel)\njava.io.IOException: Input/output error\n"
    "[2026-06-08 08:10:24,031] WARN [ReplicaManager broker=2] Stopping serving replicas in dir /data/d3 "
    "(kafka.server.ReplicaManager)\n"
)
CORRUPT = (
    "[2026-06-08 08:10:36,110] ERROR [ReplicaManager broker=1] Error processing fetch with max size 1048576 from "
    "replica 2 on partition tel-3: PartitionData(fetchOffset=99120) (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.CorruptRecordException: Found record size 0 smaller than minimum record overhead "
    "(14) in file /data/d2/tel-3/00000000000000088110.log.\n"
)
UNTRUSTED = (
    "[2026-06-08 08:10:04,511] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Connection to node 2 "
    "(kf2/10.1.0.2:9094) failed authentication due to: SSL handshake failed (org.apache.kafka.clients.NetworkClient)\n"
)
SHRUNK = (
    "[2026-06-08 08:10:54,600] INFO [Partition tel-3 broker=1] Shrinking ISR from 1,{0} to 1. Leader: (highWatermark: "
    "812, endOffset: 815). Out of sync replicas: (brokerId: {0}, endOffset: 812). (kafka.cluster.Partition)\n"
)
REFUSED = "".join(
    f"[2026-06-08 08:{minute}:10,020] ERROR [ReplicaManager broker=1] Error processing append operation on partition "
    "tel-3 (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: The size of the "
    "current ISR Set(1) is insufficient to satisfy the min.isr requirement of 2 for partition tel-3\n"
    for minute in (12, 13)
)
CLIENT = "[Consumer clientId=shop-1, groupId=shop]"
NOT_REACHED = "".join(
    f"2026-06-08 08:{minute}:20.201  WARN 1 --- [ntainer#0-0-C-1] o.a.k.c.NetworkClient : {CLIENT} Connection to node "
    f"{{0}} (kafka-{{0}}.bus/10.4.0.2:9092) could not be established. Node may not be available.\n"
    for minute in (11, 12, 13, 14)
)
GAVE_UP = (
    "2026-06-08 08:14:20.201 ERROR 1 --- [ntainer#0-0-C-1] c.a.Shop : commit failed\n"
    "org.apache.kafka.common.errors.TimeoutException: Timeout of 60000ms expired before successfully committing "
    "offsets {orders-1=OffsetAndMetadata{offset=88, leaderEpoch=4, metadata=''}}\n"
)
TIMED_OUT = (
    "%4|1780906281.040|REQTMOUT|shop#consumer-1| [thrd:kafka-2.bus:9092/2]: kafka-2.bus:9092/2: Timed out "
    "OffsetCommitRequest in flight (after 60017ms, timeout #0)\n"
)
DISK_ERROR = "".join(
    f'{{"level":"error","ts":"2026-06-08T08:{minute}:26Z","msg":"kafka: Failed to produce message to topic tel: kafka '
    'server: Disk error when trying to access log file on the disk"}\n'
    for minute in (10, 11, 12)
)
NO_FILES = "".join(
    f"[2026-06-08 08:10:0{second},110] ERROR Error while accepting connection (kafka.network.Acceptor)\n"
    "java.io.IOException: Too many open files\n"
    for second in (2, 3)
)
NO_CHECKPOINT = (
    "[2026-06-08 08:20:40,771] ERROR Error while writing to checkpoint file /srv/kafka/replication-offset-checkpoint "
    "(org.apache.kafka.storage.internals.log.LogDirFailureChannel)\njava.io.FileNotFoundException: "
    "/srv/kafka/replication-offset-checkpoint.tmp (Too many open files)\n"
    "[2026-06-08 08:20:40,780] WARN [ReplicaManager broker=2] Stopping serving replicas in dir /srv/kafka "
    "(kafka.server.ReplicaManager)\n"
)


@pytest.mark.parametrize(
    ("fault", "kind"), [(OUT_OF_MEMORY, "out_of_memory"), (FAILED_DIR, "log_dir_failure")], ids=["memory", "disk"]
)
def test_a_partition_without_a_failed_replica_is_an_effect(fault: str, kind: str, tmp_path: Path) -> None:
    own = SHRUNK.format(2) + REFUSED
    (one,) = judge(tmp_path / "same", {"broker-2.log": fault, "broker-1.log": own})
    assert (one.kind, one.subject["broker"]) == (kind, "2")
    assert "Effect (not_enough_replicas), at 2026-06-08T08:10:54.600Z: tel-3 had fewer" in one.explanation
    other = SHRUNK.format(3) + REFUSED
    assert len(judge(tmp_path / "other", {"broker-2.log": fault, "broker-1.log": other})) == 2


@pytest.mark.parametrize(("fault", "kind"), [(CORRUPT, "corrupt_records"), (UNTRUSTED, "authentication_failed")])
def test_a_replica_that_cannot_copy_leaves_the_isr(fault: str, kind: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"broker-1.log": fault + SHRUNK.format(2) + REFUSED})
    assert one.kind == kind
    assert "Effect (not_enough_replicas)" in one.explanation


def test_a_client_of_a_broker_without_memory_is_an_effect(tmp_path: Path) -> None:
    app = NOT_REACHED.format(2) + GAVE_UP
    (one,) = judge(tmp_path / "same", {"broker-2.log": OUT_OF_MEMORY, "app.log": app})
    assert (one.kind, one.subject["group"]) == ("out_of_memory", "shop")
    assert "Effect (consumer_offsets_timeout)" in one.explanation
    other = NOT_REACHED.format(5) + GAVE_UP
    assert len(judge(tmp_path / "other", {"broker-2.log": OUT_OF_MEMORY, "app.log": other})) == 2


def test_requests_that_a_broker_never_answers_are_cited(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"broker-2.log": OUT_OF_MEMORY, "client.log": TIMED_OUT})
    assert "Effect (consumer_offsets_timeout), at 2026-06-08T08:11:21.040Z: shop got no answer" in one.explanation
    assert any(place.file.endswith("client.log") for place in one.evidence)


def test_a_client_reports_the_disk_error_of_its_broker(tmp_path: Path) -> None:
    (one,) = judge(tmp_path / "same", {"broker-2.log": FAILED_DIR, "mail.log": DISK_ERROR})
    assert (one.subject["broker"], one.subject["log.dir"], one.severity) == ("2", "/data/d3", Severity.ERROR)
    assert one.t_start_ms == judge(tmp_path / "alone", {"broker-2.log": FAILED_DIR})[0].t_start_ms
    other = DISK_ERROR.replace("topic tel:", "topic mail:")
    assert len(judge(tmp_path / "other", {"broker-2.log": FAILED_DIR, "mail.log": other})) == 2


def test_a_directory_fails_for_want_of_open_files(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"broker-2.log": NO_FILES + NO_CHECKPOINT})
    assert (one.kind, one.subject["log.dir"]) == ("open_files_exhausted", "/srv/kafka")
    assert "Effect (log_dir_failure), at 2026-06-08T08:20:40.771Z" in one.explanation
