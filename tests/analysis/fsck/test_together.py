"""What only several directories, or several files of one, show together: replicas, offsets, ids, markers."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.analysis.fsck.replicas import LogPrint, Replica, compare_replicas, truncation_offset
from eosctl.model.fsck import FsckFinding, FsckSeverity
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.storage.checkpoints import EpochStart, write_epoch_checkpoint, write_offset_checkpoint
from eosctl.storage.names import HIGH_WATERMARK_CHECKPOINT, LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA
from eosctl.storage.partition_metadata import write_partition_metadata
from eosctl.storage.scan import LogBatch, scan_log
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.record import Record
from tests.analysis.fsck.damage import _patch, _seal_batch
from tests.analysis.fsck.test_recorded_cases import check
from tests.commands.decode.running import run
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness
from tests.storage.cases import FIXTURES

ORDERS = TopicPartition("orders", 0)
START_MS = 1_790_000_000_000


class Written(NamedTuple):
    """A batch of one record: its leader epoch, and what was written."""

    epoch: int
    text: str


def encoded(log: Iterable[Written]) -> list[bytes]:
    return [
        encode_batch(
            [Record(0, START_MS + offset, None, text.encode())], base_offset=offset, partition_leader_epoch=epoch
        )
        for offset, (epoch, text) in enumerate(log)
    ]


def write_replica(directory: Path, log: list[Written], high_watermark: int, topic_id: bytes = bytes(range(16))) -> Path:
    partition = directory / "orders-0"
    partition.mkdir(parents=True)
    (partition / f"{0:020d}.log").write_bytes(b"".join(encoded(log)))
    starts = {epoch: offset for offset, (epoch, _) in reversed(list(enumerate(log)))}
    write_epoch_checkpoint(
        partition / LEADER_EPOCH_CHECKPOINT, (EpochStart(epoch, starts[epoch]) for epoch in sorted(starts))
    )
    write_partition_metadata(partition / PARTITION_METADATA, topic_id)
    write_offset_checkpoint(directory / HIGH_WATERMARK_CHECKPOINT, {ORDERS: high_watermark})
    return directory


def loud(found: list[FsckFinding]) -> list[tuple[str, str, int | None]]:
    return [(f.kind, f.severity.value, f.offset) for f in found if f.severity is not FsckSeverity.INFO]


COMMON = [Written(0, "a"), Written(0, "b"), Written(2, "c")]


@pytest.mark.parametrize(
    ("here", "there", "high_watermark", "expected"),
    [
        (COMMON, [*COMMON, Written(2, "d"), Written(3, "e")], 3, []),  # behind
        (COMMON, COMMON, 3, []),
        (
            [*COMMON, Written(2, "x"), Written(2, "y")],
            [*COMMON, Written(4, "d")],
            3,
            [("replica-diverged", "warning", 3)],
        ),
        (
            [*COMMON, Written(2, "x"), Written(2, "y")],
            [*COMMON, Written(4, "d")],
            4,
            [("replica-diverged", "error", 3)],
        ),
        (
            [*COMMON, Written(3, "x")],
            [*COMMON, Written(2, "d"), Written(4, "e")],
            3,
            [("replica-diverged", "warning", 3)],
        ),
        ([*COMMON, Written(2, "x")], [*COMMON, Written(2, "d"), Written(2, "e")], 3, [("replica-differs", "error", 3)]),
    ],
)
def test_replicas(
    tmp_path: Path,
    here: list[Written],
    there: list[Written],
    high_watermark: int,
    expected: list[tuple[str, str, int]],
) -> None:
    first = write_replica(tmp_path / "one", here, high_watermark)
    second = write_replica(tmp_path / "two", there, 3)
    for order in ([first, second], [second, first]):
        found = [finding for finding in check(*order) if finding.kind.startswith("replica")]
        assert loud(found) == expected
        assert all(finding.directory == str(first) for finding in found)


def test_logs_of_a_deleted_topic_are_not_compared(tmp_path: Path) -> None:
    one = write_replica(tmp_path / "one", [Written(0, "old")], 1)
    two = write_replica(tmp_path / "two", [Written(0, "new"), Written(0, "er")], 1, topic_id=bytes(range(1, 17)))
    assert [kind for kind, *_ in loud(check(one, two))] == ["replica-of-another-topic"]


def test_a_changed_batch_with_a_valid_crc_needs_another_replica(tmp_path: Path) -> None:
    source = FIXTURES / "k431-tv2-transactions" / "data"
    for name in ("one", "two"):
        shutil.copytree(source, tmp_path / name, copy_function=shutil.copyfile)
    assert loud(check(tmp_path / "one", tmp_path / "two")) == []
    log = max((tmp_path / "one" / "transfers-0").glob("*.log"), key=lambda path: path.stat().st_size)
    batches = [fact for fact in scan_log(log) if isinstance(fact, LogBatch) and not fact.header.is_control]
    batch = batches[len(batches) // 2]
    _patch(log, batch.position + batch.header.size_bytes - 2, b"\x7e")
    _seal_batch(log, batch)
    assert loud(check(tmp_path / "one")) == []
    assert loud(check(tmp_path / "one", tmp_path / "two")) == [("replica-differs", "error", batch.header.base_offset)]


@given(st.randoms(use_true_random=False))
def test_kafka_cuts_where_logs_part(chance: random.Random) -> None:
    """With any elected leaders, a follower truncates exactly where it diverges from the leader (KIP-279)."""
    logs: list[list[Written]] = [[], [], []]
    for epoch in range(chance.randint(1, 6)):
        leader = logs[chance.randrange(3)]
        for log in logs:
            if log is not leader and chance.random() < 0.6:
                log[common(log, leader) :] = leader[common(log, leader) :]
        leader += [Written(epoch, f"{epoch}-{n}") for n in range(chance.randint(0, 3))]
    replicas = [replica(f"{number}", log) for number, log in enumerate(logs)]
    best = max(range(3), key=lambda number: replicas[number].rank)
    for log, one in zip(logs, replicas, strict=True):
        assert truncation_offset(one, replicas[best]) == common(log, logs[best])
    parted = sum(common(log, logs[best]) < min(len(log), len(logs[best])) for log in logs)
    found = compare_replicas(ORDERS, replicas)
    assert [finding.kind for finding in found] == ["replica-diverged"] * parted


def test_long_logs_are_compared_in_bounded_memory() -> None:
    texts = [Written(number // 5000, f"{number}") for number in range(20_000)]
    one, two = replica("one", texts), replica("two", texts[:-3])
    assert compare_replicas(ORDERS, [one, two]) == []
    changed = replica("two", [*texts[:12_345], Written(2, "else"), *texts[12_346:]])
    (finding,) = compare_replicas(ORDERS, [one, changed])
    assert finding.kind == "replica-differs"
    assert finding.offset is not None
    assert finding.offset <= 12_345 < finding.offset + 16


def common(log: list[Written], other: list[Written]) -> int:
    pairs = enumerate(zip(log, other, strict=False))
    return next((n for n, (mine, theirs) in pairs if mine != theirs), min(len(log), len(other)))


def replica(directory: str, log: list[Written]) -> Replica:
    batches = LogPrint()
    for batch in encoded(log):
        batches.add(decode_header(batch))
    return Replica(directory, "orders-0", 0, len(log), len(log), 0, None, batches)


def test_committed_offsets_are_held_against_the_logs(tmp_path: Path) -> None:
    for name in ("__consumer_offsets-0", "__consumer_offsets-1"):
        source = FIXTURES / "hanging-offsets-1" / "data" / name
        shutil.copytree(source, tmp_path / "data" / name, copy_function=shutil.copyfile)
    assert [f.kind for f in check(tmp_path / "data") if f.kind.startswith("offset")] == ["offset-pending"]
    commits = run_offsets(tmp_path / "data")
    (partition, offset), *_ = commits
    directory = tmp_path / "data" / str(partition)
    directory.mkdir()
    log = directory / f"{0:020d}.log"
    for length, expected in ((offset, []), (offset - 1, ["offset-beyond-log"])):
        log.write_bytes(b"".join(encoded([Written(0, "x")] * length)))
        assert [kind for kind, *_ in loud(check(tmp_path / "data"))] == expected


def run_offsets(directory: Path) -> list[tuple[TopicPartition, int]]:
    from eosctl.analysis.fsck.notes import Notes
    from eosctl.analysis.fsck.offsets_log import OffsetsLog

    log = OffsetsLog()
    for number in (0, 1):
        for file in sorted((directory / f"__consumer_offsets-{number}").glob("*.log")):
            for fact in scan_log(file):
                assert isinstance(fact, LogBatch)
                log.follow(fact, file.name, number, Notes("", ""))
    return [(partition, commit.offset) for (_, partition), commit in log.commits.items() if commit.offset > 1]


def test_ids_that_no_number_of_partitions_explains(tmp_path: Path) -> None:
    source = FIXTURES / "k431-tv2-state-log-live" / "data"
    for number in (0, 1):
        name = f"__transaction_state-{number}"
        shutil.copytree(source / name, tmp_path / "half" / str(number) / name, copy_function=shutil.copyfile)
        shutil.copytree(
            source / name, tmp_path / "moved" / f"__transaction_state-{1 - number}", copy_function=shutil.copyfile
        )
        assert loud(check(tmp_path / "half" / str(number))) == [], "one partition alone may be one of many"
    found = check(tmp_path / "moved")
    assert "internal-topic-repartitioned" in {finding.kind for finding in found}


def test_markers_without_data(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(1, Emulation("3.9"), 1, fast=True))
    client = EosClient(harness)
    client.create_topic("orders")

    def kinds() -> set[str]:
        harness.advance(1000)
        return {finding.kind for finding in check(harness.core.directory_of(1))}

    assert client.produce(None, ORDERS, ["plain"]) is ErrorCode.NONE
    aborting = client.init("aborting")
    assert client.add_partition(aborting, ORDERS) is ErrorCode.NONE
    assert kinds() == {"entry-without-data"}
    assert client.end(aborting, commit=False) is ErrorCode.NONE
    assert kinds() == {"markers-without-data"}
    committing = client.init("committing")
    assert client.produce(committing, ORDERS, ["x"]) is ErrorCode.NONE
    assert client.end(committing, commit=True) is ErrorCode.NONE
    assert client.add_partition(committing, ORDERS) is ErrorCode.NONE
    assert client.end(committing, commit=True) is ErrorCode.NONE
    assert kinds() == {"markers-without-data"}
    losing = client.init("losing")
    assert client.add_partition(losing, ORDERS) is ErrorCode.NONE
    assert client.end(losing, commit=True) is ErrorCode.NONE
    assert kinds() == {"markers-without-data", "commit-without-data"}
    harness.close()


def test_directories_of_two_clusters_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        write_replica(tmp_path / name, COMMON, 3)
        (tmp_path / name / "meta.properties").write_text(f"version=1\nnode.id=1\ncluster.id={name}\n")
    ran = run(capsys, "fsck", tmp_path / "one", tmp_path / "two")
    assert ran.code == 2
    assert "different clusters" in ran.err
    again = run(capsys, "fsck", tmp_path / "one", tmp_path / "one" / ".." / "one")
    assert (again.code, again.out) == (0, "Healthy: 1 partition.\n")
