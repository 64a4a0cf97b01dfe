"""Download of a snapshot from the leader, in chunks (KIP-630)."""

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
PIECE_BYTES: Final = 1 << 20  # controller.quorum.fetch.snapshot.max.bytes of 4.x.


class SnapshotDownload:
    """A partly downloaded snapshot, identified by `end_offset` and `epoch`."""

    def __init__(self, end_offset: int, epoch: int) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
        self.data = bytearray()
        self.is_complete = False

    def request(self, cluster_id: str | None, node_id: int, leader_epoch: int) -> FetchSnapshotRequest:
        """Build the request for the next chunk."""
        name = SnapshotId(self.end_offset, self.epoch)
        requested = RequestPartitionSnapshot(0, leader_epoch, name, len(self.data))
        return FetchSnapshotRequest(
            cluster_id, node_id, PIECE_BYTES, [RequestTopicSnapshot(METADATA_TOPIC, [requested])]
        )

    def take(self, answer: Any) -> bool:
        """Add the chunk of a response; return False if it does not match the request, so that the download failed."""
        named = (answer.snapshot_id.end_offset, answer.snapshot_id.epoch)
        if answer.error_code or named != (self.end_offset, self.epoch) or answer.position != len(self.data):
            return False
        self.data += answer.unaligned_records or b""
        self.is_complete = len(self.data) >= answer.size
        return self.is_complete or bool(answer.unaligned_records)
