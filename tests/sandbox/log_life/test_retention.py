"""Retention by age, size and log start: the rule against a model, and whole brokers as time goes by."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.log.retention import SegmentFacts, count_deletable
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

EVENTS = TopicPartition("events", 0)
CHECK_MS = 30_000
QUICK = {
    "log.initial.task.delay.ms": "1000",
    "log.retention.check.interval.ms": str(CHECK_MS),
    "log.segment.delete.delay.ms": "60000",
}

segments = st.lists(st.tuples(st.integers(1, 500), st.integers(0, 1000)), min_size=1, max_size=8)


@given(
    sizes_and_times=segments,
    start=st.integers(0, 80),
    high_watermark=st.integers(0, 80),
    retention_bytes=st.integers(-1, 2000),
    retention_ms=st.integers(-1, 1000),
    is_deleted=st.booleans(),
)
def test_the_rule_is_that_of_one_segment_after_the_other(
    sizes_and_times: list[tuple[int, int]],
    start: int,
    high_watermark: int,
    retention_bytes: int,
    retention_ms: int,
    is_deleted: bool,
) -> None:
    """The model removes the oldest segment repeatedly while any reason applies."""
    facts = [SegmentFacts(10 * n, 10 * n + 10, size, time) for n, (size, time) in enumerate(sizes_and_times)]
    config = TopicSettings(retention_bytes=retention_bytes, retention_ms=retention_ms, is_deleted=is_deleted)
    left = list(facts)
    for reason in ("start", "size", "age"):
        while left:
            first = left[0]
            goes = {
                "start": len(left) > 1 and first.end_offset <= start,
                "size": is_deleted
                and retention_bytes >= 0
                and sum(found.size_bytes for found in left) - first.size_bytes >= retention_bytes,
                "age": is_deleted and retention_ms >= 0 and 1000 - first.largest_timestamp > retention_ms,
            }[reason]
            if not goes or high_watermark < first.end_offset:
                break
            left.pop(0)
    count = count_deletable(facts, log_start_offset=start, high_watermark=high_watermark, settings=config, now_ms=1000)
    assert facts[count:] == left


def test_an_active_segment_without_records_stays() -> None:
    facts = [SegmentFacts(0, 10, 100, 1), SegmentFacts(10, 10, 0, 1)]
    config = TopicSettings(retention_ms=1, retention_bytes=0)
    assert count_deletable(facts, log_start_offset=0, high_watermark=10, settings=config, now_ms=9000) == 1


class Cluster:
    """Three brokers with one topic of small segments."""

    def __init__(self, folder: Path, **configs: str) -> None:
        self.harness = Harness(folder, ClusterShape(3, Emulation("3.9"), None, QUICK, fast=True))
        self.client = EosClient(self.harness)
        self.client.create_topic("events", 1, 3, segment_bytes="300", **configs)

    def produce(self, count: int) -> None:
        for number in range(count):
            assert self.client.produce(None, EVENTS, [f"{number}" * 50]) is ErrorCode.NONE
        self.harness.advance(600)

    def starts(self) -> set[int]:
        return {self.harness.core.broker(node).replicas.partitions[EVENTS].log.start_offset for node in (1, 2, 3)}

    def files(self, node: int, suffix: str) -> list[str]:
        return sorted(path.name for path in self.harness.core.directory_of(node).rglob(f"events-0/*{suffix}"))

    def fetch_error(self, offset: int) -> ErrorCode:
        try:
            self.client.fetch(EVENTS, offset, committed=False)
        except AssertionError as refused:
            return ErrorCode(refused.args[0].error_code)
        return ErrorCode.NONE


def test_age_removes_segments_on_every_replica(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, retention_ms="20000", file_delete_delay_ms="10000")
    cluster.produce(9)
    node = cluster.client.leader(EVENTS)
    assert len(cluster.files(node, ".log")) > 3
    cluster.harness.advance(CHECK_MS + 1000)
    assert cluster.starts() == {9}, "the active segment went too, and the next offset is remembered"
    assert cluster.fetch_error(8) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert cluster.fetch_error(9) is ErrorCode.NONE
    assert cluster.files(node, ".log") == ["00000000000000000009.log"]
    assert cluster.files(node, ".log.deleted")
    cluster.harness.advance(10_000)
    assert cluster.files(node, ".deleted") == []
    cluster.harness.kill(node)
    cluster.harness.restart(node)
    cluster.produce(1)
    assert cluster.starts() == {9}
    assert [cluster.harness.core.broker(each).replicas.partitions[EVENTS].log.end_offset for each in (1, 2, 3)] == [
        10
    ] * 3


def test_size_keeps_the_newest_and_settings_apply_immediately(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, retention_bytes="100000")
    cluster.produce(12)
    cluster.harness.advance(CHECK_MS + 1000)
    assert cluster.starts() == {0}
    change = AlterConfigsResource(2, "events", [AlterableConfig("retention.bytes", 0, "400")])
    answer = cluster.harness.request(
        cluster.client.any_broker(), ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, IncrementalAlterConfigsRequest([change])
    )
    assert answer.responses[0].error_code == 0, answer
    cluster.harness.advance(CHECK_MS + 1000)
    (start,) = cluster.starts()
    log = cluster.harness.core.broker(1).replicas.partitions[EVENTS].log
    assert 0 < start < 12
    assert 400 <= log.store.size_bytes < 400 + log.store.segments[0].size_bytes


def test_deleted_records_go_with_the_next_retention(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    cluster.produce(9)
    node = cluster.client.leader(EVENTS)
    request = DeleteRecordsRequest([DeleteRecordsTopic("events", [DeleteRecordsPartition(0, 5)])], 5000)
    answer = cluster.harness.request(node, ApiKey.DELETE_RECORDS, 2, request)
    result = answer.topics[0].partitions[0]
    assert (result.error_code, result.low_watermark) == (0, 5)
    assert cluster.fetch_error(4) is ErrorCode.OFFSET_OUT_OF_RANGE
    before = cluster.files(node, ".log")
    assert before[0] == "00000000000000000000.log"
    cluster.harness.advance(CHECK_MS + 1000)
    left = cluster.files(node, ".log")
    assert before[-1] in left and before[0] not in left and left[0] <= "00000000000000000005.log"
    cluster.harness.kill(node)
    cluster.harness.restart(node)
    assert cluster.starts() == {5}, "the checkpoint says where the log starts inside its first segment"


def test_compaction_runs_on_leaders_and_followers(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(2, Emulation("3.9"), None, {"log.cleaner.backoff.ms": "1000"}, fast=True))
    client = EosClient(harness)
    client.create_topic("events", 1, 2, segment_bytes="300", cleanup_policy="compact", file_delete_delay_ms="1000")
    batch = encode_batch([Record(0, harness.core.brokers()[0].runtime.now_ms(), b"key", b"value" * 20)])
    for _ in range(20):
        answer = client.append(EVENTS, batch)
        assert answer is not None and answer.error_code == 0
    harness.advance(5000)
    for node in (1, 2):
        log = harness.core.broker(node).replicas.partitions[EVENTS].log
        offsets = [header.base_offset for header, _ in log.batches()]
        assert offsets[-1] == 19 and len(offsets) < 6
        checkpoint = harness.core.directory_of(node) / "cleaner-offset-checkpoint"
        assert f"events 0 {log.cleaned_until}\n" in checkpoint.read_text()
        assert not list(harness.core.directory_of(node).rglob("*.deleted"))
    assert client.read(EVENTS) == ["value" * 20] * len(offsets)
