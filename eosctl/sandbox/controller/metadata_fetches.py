"""Fetches of the metadata log: long polls of replicas, and DescribeQuorum."""

from __future__ import annotations

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.quorum import Quorum
from eosctl.sandbox.ports import METADATA_TOPIC, RequestContext
from eosctl.sandbox.timing_wheel import Pace, WheelTimer
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from eosctl.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
    SnapshotId,
)

OBSERVER_TIMEOUT_MS = 300_000  # An observer without a fetch for this long is no longer listed.


def fetch_metadata(controller: Controller, context: RequestContext, request: FetchRequest) -> None:
    """Respond to a fetch of the metadata log, at the latest after its maximum wait."""
    MetadataFetch(controller, context, request).start()


class MetadataFetch:
    """A fetch of the metadata log; waits at the controller until records arrive or its time is over."""

    def __init__(self, controller: Controller, context: RequestContext, request: FetchRequest) -> None:
        self._controller = controller
        self._context = context
        self._request = request
        self._requested: FetchPartition = request.topics[0].partitions[0]
        self._timer: WheelTimer | None = None
        self._done = False

    def start(self) -> None:
        """Respond immediately, or wait."""
        controller = self._controller
        quorum, epoch = controller.quorum, self._requested.current_leader_epoch
        if not quorum.is_leader:
            self._answer(self._error(ErrorCode.NOT_LEADER_OR_FOLLOWER))
            return
        if epoch not in (-1, quorum.epoch):
            stale = epoch < quorum.epoch
            self._answer(self._error(ErrorCode.FENCED_LEADER_EPOCH if stale else ErrorCode.UNKNOWN_LEADER_EPOCH))
            return
        replica_id = self._request.replica_state.replica_id
        if replica_id >= 0 and self._snapshot() is None and self._divergence() is None:
            quorum.note_fetch(replica_id, self._requested.fetch_offset)
        if not self._try_answer():
            controller.watchers[self] = None
            self._timer = controller.runtime.call_later(self._request.max_wait_ms, self._expire, Pace.KEEP_ALIVE)

    def check_again(self) -> None:
        """Check again, since the log has grown."""
        if not self._done:
            self._try_answer()

    def leader_gone(self) -> None:
        """Reject the fetch, since this controller no longer leads."""
        if not self._done:
            self._answer(self._error(ErrorCode.NOT_LEADER_OR_FOLLOWER))

    def _snapshot(self) -> SnapshotId | None:
        """Return the snapshot from which the replica must start; None if the log has the requested offset.

        As in `KafkaRaftLog.validateOffsetAndEpoch`, a snapshot is needed if the offset or epoch was removed here, or if
        the replica's log starts with another snapshot.
        """
        log, requested = self._controller.log, self._requested
        start_offset, epoch = log.log.start_offset, max(requested.last_fetched_epoch, 0)
        if not log.snapshots or (start_offset == 0 and requested.fetch_offset == 0):
            return None
        earliest, latest = log.snapshots[0], log.snapshots[-1]
        begins_elsewhere = requested.fetch_offset == start_offset and epoch != earliest.epoch
        if requested.fetch_offset < start_offset or begins_elsewhere or epoch < earliest.epoch:
            return SnapshotId(latest.end_offset, latest.epoch)
        return None

    def _divergence(self) -> EpochEndOffset | None:
        """Return where the replica's log diverges from this one; None if it does not."""
        log, requested = self._controller.log.log, self._requested
        if requested.last_fetched_epoch < 0 or (log.start_offset and requested.fetch_offset == log.start_offset):
            return None
        epoch, end_offset = log.epochs.end_offset_for(requested.last_fetched_epoch, log.end_offset)
        if epoch < requested.last_fetched_epoch or end_offset < requested.fetch_offset:
            return EpochEndOffset(max(epoch, 0), max(end_offset, 0))
        return None

    def _try_answer(self) -> bool:
        log = self._controller.log.log
        requested = self._requested
        snapshot = self._snapshot()
        diverging = self._divergence() if snapshot is None else None
        if snapshot is not None or diverging is not None:
            self._answer(self._data(b"", diverging, snapshot))
            return True
        sent = self._controller.sent_high_watermarks.get(self._request.replica_state.replica_id, -1)
        if requested.fetch_offset >= log.end_offset and sent >= self._controller.log.high_watermark:
            return False
        self._answer(self._data(log.store.read(requested.fetch_offset, requested.partition_max_bytes)))
        return True

    def _expire(self) -> None:
        if not self._done:
            self._answer(self._data(b""))

    def _data(
        self, records: bytes, diverging: EpochEndOffset | None = None, snapshot: SnapshotId | None = None
    ) -> PartitionData:
        controller = self._controller
        controller.sent_high_watermarks[self._request.replica_state.replica_id] = controller.log.high_watermark
        return PartitionData(
            partition_index=0,
            error_code=0,
            high_watermark=controller.log.high_watermark,
            last_stable_offset=controller.log.high_watermark,
            log_start_offset=controller.log.log.start_offset,
            aborted_transactions=None,
            preferred_read_replica=-1,
            records=records,
            diverging_epoch=diverging or EpochEndOffset(),
            current_leader=self._leader(),
            snapshot_id=snapshot or SnapshotId(),
        )

    def _error(self, error: ErrorCode) -> PartitionData:
        return PartitionData(0, error, -1, records=b"", current_leader=self._leader())

    def _leader(self) -> LeaderIdAndEpoch:
        quorum = self._controller.quorum
        return LeaderIdAndEpoch(quorum.leader_id, quorum.epoch)

    def _answer(self, data: PartitionData) -> None:
        self._done = True
        self._controller.watchers.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
        topic = self._request.topics[0]
        self._context.reply(FetchResponse(responses=[FetchableTopicResponse(topic.topic, topic.topic_id, [data])]))


UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def describe_quorum(controller: Controller, context: RequestContext, request: DescribeQuorumRequest) -> None:
    """Describe leader, voters, and observers of the metadata log. Requests for other partitions fail as a whole."""
    requested = [(topic.topic_name, part.partition_index) for topic in request.topics for part in topic.partitions]
    is_known = requested == [(METADATA_TOPIC, 0)] and len(request.topics) == 1
    topics = [
        ResponseTopicData(
            topic.topic_name,
            [
                _describe(controller) if is_known else ResponsePartitionData(part.partition_index, UNKNOWN)
                for part in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    context.reply(DescribeQuorumResponse(topics=topics))


def _describe(controller: Controller) -> ResponsePartitionData:
    quorum = controller.quorum
    now_ms = controller.runtime.now_ms()
    observers = [
        replica_id
        for replica_id, progress in sorted(quorum.progress.items())
        if replica_id not in quorum.voters and now_ms - progress.last_fetch_ms <= OBSERVER_TIMEOUT_MS
    ]
    return ResponsePartitionData(
        partition_index=0,
        leader_id=quorum.leader_id,
        leader_epoch=quorum.epoch,
        high_watermark=controller.log.high_watermark,
        current_voters=[_replica(quorum, voter, now_ms) for voter in quorum.voters],
        observers=[_replica(quorum, observer, now_ms) for observer in observers],
    )


def _replica(quorum: Quorum, replica_id: int, now_ms: int) -> ReplicaState:
    progress = quorum.progress_of(replica_id)
    leads = replica_id == quorum.leader_id
    return ReplicaState(
        replica_id=replica_id,
        log_end_offset=progress.end_offset,
        # The leader's own timestamps are those of the response (`LeaderState`).
        last_fetch_timestamp=now_ms if leads else progress.last_fetch_ms,
        last_caught_up_timestamp=now_ms if leads else progress.last_caught_up_ms,
    )
