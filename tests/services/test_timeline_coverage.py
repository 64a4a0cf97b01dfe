"""A timeline names the part of the transaction log that was not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.model.history import RECORDS_PER_PARTITION, TransactionLogEntry
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition
from eosctl.services.timeline import TimelineRequest, make_timeline

NEWEST = 1_795_168_800_000


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A transaction log whose partition 0 has more records than are read, and whose partition 1 has fewer."""
    topic = "__transaction_state"
    ends = (RECORDS_PER_PARTITION + 1, RECORDS_PER_PARTITION)
    partitions = tuple(
        PartitionInfo(TopicPartition(topic, at), 1, 0, (1,), (1,), log_start_offset=0, high_watermark=end)
        for at, end in enumerate(ends)
    )
    history = tuple(
        TransactionLogEntry(name, at, 4_000, 0, NEWEST + at, "Empty", producer_id=at, producer_epoch=0)
        for at, name in enumerate(("busy", "quiet"))
    )
    snapshot = ClusterSnapshot(
        NEWEST + 5, "", topics=(Topic(topic, "t", True, partitions),), transaction_history=history
    )
    path = tmp_path / "cluster.json"
    save_snapshot(snapshot, path)
    return path


@pytest.mark.parametrize(
    ("transactional_id", "from_ms", "is_cut"),
    [("busy", None, True), ("quiet", None, False), ("", None, True), ("busy", NEWEST, False)],
)
def test_steps_before_the_newest_records_may_be_missing(
    transactional_id: str, from_ms: int | None, is_cut: bool, log: Path
) -> None:
    request = TimelineRequest(transactional_id=transactional_id, from_ms=from_ms, snapshot_file=log)
    notes = [note for note in make_timeline(request).timeline.notes if "were read" in note]
    assert len(notes) == is_cut
    if is_cut:
        assert "__transaction_state-0" in notes[0]
        assert "2026-11-20T10:00:00" in notes[0]
