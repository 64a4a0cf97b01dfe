"""DeleteRecords (key 21, versions 0 to 2): raise the log start offset (KIP-107).

- -1 is the high watermark; offsets beyond it are OFFSET_OUT_OF_RANGE.
- Internal topics get INVALID_TOPIC_EXCEPTION, topics without the `delete` policy POLICY_VIOLATION.
- The response contains the low watermark and is sent once every live follower has deleted too, or after the timeout.
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.api.metadata import is_internal
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

HIGH_WATERMARK = -1
POLL_MS = 10


def handle(broker: BrokerServices, context: RequestContext, request: DeleteRecordsRequest) -> None:
    """Delete from every partition, then wait for the followers."""
    Deletion(broker, context, request).start()


class Deletion:
    """A request that waits for its followers."""

    def __init__(self, broker: BrokerServices, context: RequestContext, request: DeleteRecordsRequest) -> None:
        self._broker = broker
        self._context = context
        self._request = request
        self._outcomes: dict[TopicPartition, Partition | ErrorCode] = {}
        self._deadline_ms = broker.runtime.now_ms() + request.timeout_ms

    def start(self) -> None:
        """Delete locally."""
        for topic in self._request.topics:
            for wanted in topic.partitions:
                name = TopicPartition(topic.name, wanted.partition_index)
                self._outcomes[name] = self._delete(name, wanted.offset)
        self._poll()

    def _delete(self, name: TopicPartition, offset: int) -> Partition | ErrorCode:
        if is_internal(name.topic):
            return ErrorCode.INVALID_TOPIC_EXCEPTION
        partition = self._broker.replicas.leader(name)
        if isinstance(partition, ErrorCode):
            return partition
        log = partition.log
        if not log.settings.is_deleted:
            return ErrorCode.POLICY_VIOLATION
        if offset == HIGH_WATERMARK:
            offset = log.high_watermark
        if offset < 0 or offset > log.high_watermark:
            return ErrorCode.OFFSET_OUT_OF_RANGE
        log.advance_start_offset(offset)
        partition.notify_watchers()
        return partition

    def _poll(self) -> None:
        waiting = any(
            isinstance(outcome, Partition) and self._low_watermark(outcome) < outcome.log.start_offset
            for outcome in self._outcomes.values()
        )
        now_ms = self._broker.runtime.now_ms()
        if waiting and now_ms < self._deadline_ms:
            self._broker.runtime.call_later(POLL_MS, self._poll)
        else:
            self._answer()

    def _low_watermark(self, partition: Partition) -> int:
        """Return the lowest log start offset of the leader and its live followers."""
        alive = {state.broker_id for state in self._broker.metadata.active_brokers()}
        starts = [follower.start_offset for broker_id, follower in partition.followers.items() if broker_id in alive]
        return min([partition.log.start_offset, *starts])

    def _answer(self) -> None:
        topics: dict[str, list[DeleteRecordsPartitionResult]] = {}
        for name, outcome in self._outcomes.items():
            if isinstance(outcome, Partition):
                low = self._low_watermark(outcome)
                late = low < outcome.log.start_offset
                error = ErrorCode.REQUEST_TIMED_OUT if late else ErrorCode.NONE
                result = DeleteRecordsPartitionResult(name.partition, low, error)
            else:
                result = DeleteRecordsPartitionResult(name.partition, -1, outcome)
            topics.setdefault(name.topic, []).append(result)
        self._context.reply(
            DeleteRecordsResponse(0, [DeleteRecordsTopicResult(name, found) for name, found in topics.items()])
        )


DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: DeleteRecordsRequest) -> None:
    """Require DELETE on each topic."""
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.DELETE, topic.name))
    refused = [
        DeleteRecordsTopicResult(
            topic.name,
            [DeleteRecordsPartitionResult(requested.partition_index, -1, DENIED) for requested in topic.partitions],
        )
        for topic in denied
    ]
    if denied and not allowed:
        access.reply(DeleteRecordsResponse(0, refused))
        return
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )
