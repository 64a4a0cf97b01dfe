"""A snapshot on its way from the leader, piece after piece (KIP-630)."""

from __future__ import annotations

from typing import Any, Final

from eosctl.sandbox.ports import METADATA_TOPIC
from eosctl.wire.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    RequestPartitionSnapshot,
    RequestTopicSnapshot,
    SnapshotId,
)

VERSION: Final = 1
PIECE_BYTES: Final = 1 << 20  # controller.quorum.fetch.snapshot.max.bytes of 4.x


class SnapshotDownload:
    """What is there of a snapshot; `end_offset` and `epoch` name it."""

    def __init__(self, end_offset: int, epoch: int) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
        self.data = bytearray()
        self.is_complete = False

    def request(self, cluster_id: str | None, node_id: int, leader_epoch: int) -> FetchSnapshotRequest:
        """Ask for the next piece."""
        name = SnapshotId(self.end_offset, self.epoch)
        asked = RequestPartitionSnapshot(0, leader_epoch, name, len(self.data))
        return FetchSnapshotRequest(cluster_id, node_id, PIECE_BYTES, [RequestTopicSnapshot(METADATA_TOPIC, [asked])])

    def take(self, answer: Any) -> bool:
        """Add the piece of an answer; False when it is not what was asked for, so that the download is in vain."""
        named = (answer.snapshot_id.end_offset, answer.snapshot_id.epoch)
        if answer.error_code or named != (self.end_offset, self.epoch) or answer.position != len(self.data):
            return False
        self.data += answer.unaligned_records or b""
        self.is_complete = len(self.data) >= answer.size
        return self.is_complete or bool(answer.unaligned_records)
