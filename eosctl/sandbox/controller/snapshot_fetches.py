"""FetchSnapshot (key 59): snapshots of the metadata log, in chunks, for replicas behind the log's start."""

from __future__ import annotations

from typing import Final

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.metadata.snapshot import MetadataSnapshot
from eosctl.sandbox.ports import METADATA_TOPIC, RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    LeaderIdAndEpoch,
    RequestPartitionSnapshot,
    ResponsePartitionSnapshot,
    ResponseTopicSnapshot,
    SnapshotId,
)

# Maximum size of a response, regardless of the request (`KafkaRaftClient.MAX_FETCH_SIZE_BYTES`).
MAX_BYTES: Final = 8 << 20


def fetch_snapshot(controller: Controller, context: RequestContext, request: FetchSnapshotRequest) -> None:
    """Return a chunk of a snapshot; only the leader of the metadata log does."""
    if request.cluster_id not in (None, controller.cluster_id):
        context.reply(FetchSnapshotResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID))
        return
    if len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
        context.reply(FetchSnapshotResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    topic, requested = request.topics[0], request.topics[0].partitions[0]
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    snapshot: MetadataSnapshot | None = None
    if (topic.name, requested.partition) == (METADATA_TOPIC, 0):
        error = _leader_error(controller, requested.current_leader_epoch)
        if not error:
            controller.quorum.record_snapshot_fetch(request.replica_id)
            snapshot = controller.log.find_snapshot(requested.snapshot_id.end_offset, requested.snapshot_id.epoch)
            error = _position_error(snapshot, requested.position)
    answer = _answer(controller, requested, error, snapshot if not error else None, min(request.max_bytes, MAX_BYTES))
    context.reply(FetchSnapshotResponse(topics=[ResponseTopicSnapshot(topic.name, [answer])]))


def _leader_error(controller: Controller, epoch: int) -> ErrorCode:
    quorum = controller.quorum
    if not quorum.is_leader:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if epoch in (-1, quorum.epoch):
        return ErrorCode.NONE
    return ErrorCode.FENCED_LEADER_EPOCH if epoch < quorum.epoch else ErrorCode.UNKNOWN_LEADER_EPOCH


def _position_error(snapshot: MetadataSnapshot | None, position: int) -> ErrorCode:
    if snapshot is None:
        return ErrorCode.SNAPSHOT_NOT_FOUND
    return ErrorCode.NONE if 0 <= position < snapshot.size_bytes else ErrorCode.POSITION_OUT_OF_RANGE


def _answer(
    controller: Controller,
    requested: RequestPartitionSnapshot,
    error: ErrorCode,
    snapshot: MetadataSnapshot | None,
    max_bytes: int,
) -> ResponsePartitionSnapshot:
    quorum = controller.quorum
    leader = LeaderIdAndEpoch(quorum.leader_id, quorum.epoch)
    if snapshot is None:
        return ResponsePartitionSnapshot(requested.partition, error, current_leader=leader, unaligned_records=b"")
    with snapshot.path.open("rb") as file:
        file.seek(requested.position)
        data = file.read(max(max_bytes, 0))
    found = SnapshotId(snapshot.end_offset, snapshot.epoch)
    return ResponsePartitionSnapshot(
        index=requested.partition,
        error_code=error,
        snapshot_id=found,
        current_leader=leader,
        size=snapshot.size_bytes,
        position=requested.position,
        unaligned_records=data,
    )
