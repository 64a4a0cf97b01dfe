"""The metadata log is fetched: long polls of observers, and what DescribeQuorum tells of them."""

from __future__ import annotations

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.ports import METADATA_TOPIC, RequestContext
from eosctl.sandbox.runtime import NodeTimer
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
)

OBSERVER_TIMEOUT_MS = 300_000  # an observer that is silent for so long is no longer listed


def fetch_metadata(controller: Controller, context: RequestContext, request: FetchRequest) -> None:
    """Answer a fetch of the metadata log, at the latest after its waiting time."""
    MetadataFetch(controller, context, request).start()


class MetadataFetch:
    """One fetch of the metadata log; waits at the controller until there is more or its time is over."""

    def __init__(self, controller: Controller, context: RequestContext, request: FetchRequest) -> None:
        self._controller = controller
        self._context = context
        self._request = request
        self._asked: FetchPartition = request.topics[0].partitions[0]
        self._timer: NodeTimer | None = None
        self._done = False

    def start(self) -> None:
        """Answer at once or wait."""
        controller = self._controller
        if not controller.is_active:
            self._answer(self._error(ErrorCode.NOT_LEADER_OR_FOLLOWER))
            return
        replica_id = self._request.replica_state.replica_id
        if replica_id >= 0:
            controller.observer_offsets[replica_id] = (self._asked.fetch_offset, controller.runtime.now_ms())
        if not self._try_answer():
            controller.watchers[self] = None
            self._timer = controller.runtime.call_later(self._request.max_wait_ms, self._expire)

    def poke(self) -> None:
        """Look again: the log has grown."""
        if not self._done:
            self._try_answer()

    def _try_answer(self) -> bool:
        log = self._controller.log.log
        asked = self._asked
        if asked.last_fetched_epoch >= 0:
            epoch, end_offset = log.epochs.end_offset_for(asked.last_fetched_epoch, log.end_offset)
            if epoch < asked.last_fetched_epoch or end_offset < asked.fetch_offset:
                self._answer(self._data(b"", EpochEndOffset(epoch, max(end_offset, 0))))
                return True
        if asked.fetch_offset >= log.end_offset:
            return False
        self._answer(self._data(log.store.read(asked.fetch_offset, asked.partition_max_bytes)))
        return True

    def _expire(self) -> None:
        if not self._done:
            self._answer(self._data(b""))

    def _data(self, records: bytes, diverging: EpochEndOffset | None = None) -> PartitionData:
        controller = self._controller
        return PartitionData(
            0,
            0,
            controller.log.high_watermark,
            controller.log.high_watermark,
            controller.log.log.start_offset,
            None,
            -1,
            records,
            diverging or EpochEndOffset(),
            LeaderIdAndEpoch(controller.node_id, controller.leader_epoch),
        )

    def _error(self, error: ErrorCode) -> PartitionData:
        return PartitionData(0, error, -1, records=b"")

    def _answer(self, data: PartitionData) -> None:
        self._done = True
        self._controller.watchers.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
        topic = self._request.topics[0]
        self._context.reply(FetchResponse(responses=[FetchableTopicResponse(topic.topic, topic.topic_id, [data])]))


def describe_quorum(controller: Controller, context: RequestContext, request: DescribeQuorumRequest) -> None:
    """Describe leader, voters and observers of the metadata log."""
    topics = [
        ResponseTopicData(
            topic.topic_name,
            [_describe(controller, topic.topic_name, part.partition_index) for part in topic.partitions],
        )
        for topic in request.topics
    ]
    context.reply(DescribeQuorumResponse(topics=topics))


def _describe(controller: Controller, topic: str, index: int) -> ResponsePartitionData:
    if topic != METADATA_TOPIC or index != 0:
        return ResponsePartitionData(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    now_ms = controller.runtime.now_ms()
    voters = [
        ReplicaState(
            replica_id=voter,
            log_end_offset=controller.log.end_offset if voter == controller.node_id else -1,
            last_fetch_timestamp=now_ms if voter == controller.node_id else -1,
            last_caught_up_timestamp=now_ms if voter == controller.node_id else -1,
        )
        for voter in controller.voters
    ]
    observers = [
        ReplicaState(
            replica_id=node_id,
            log_end_offset=offset,
            last_fetch_timestamp=fetched_ms,
            last_caught_up_timestamp=fetched_ms if offset >= controller.log.end_offset else -1,
        )
        for node_id, (offset, fetched_ms) in sorted(controller.observer_offsets.items())
        if node_id not in controller.voters and now_ms - fetched_ms <= OBSERVER_TIMEOUT_MS
    ]
    return ResponsePartitionData(
        partition_index=index,
        leader_id=controller.node_id,
        leader_epoch=controller.leader_epoch,
        high_watermark=controller.log.high_watermark,
        current_voters=voters,
        observers=observers,
    )
