"""ShareAcknowledge (key 79, versions 1 and 2; KIP-932, KIP-1222).

- The request belongs to a share session and advances its epoch; with epoch -1, it ends the session, which returns all
  acquired records of the member.
- Every partition has its own error; malformed batches have no message. A batch is acknowledged as a whole or not at
  all.
- The response waits until the acknowledgements are durable. From version 2, locks can be renewed (type 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.api.share_group_heartbeat import is_member_id, is_share_enabled
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.share.state import SharePartitionKey
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import may
from eosctl.sandbox.security.acls import ResourceType
from eosctl.sandbox.share.acknowledgement import Acknowledgement, AcknowledgeType, is_valid
from eosctl.sandbox.share.partition_manager import Outcome
from eosctl.sandbox.share.sessions import FINAL_EPOCH, INITIAL_EPOCH, SharedTopicPartition
from eosctl.sandbox.turns import gather
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import share_fetch
from eosctl.wire.messages.share_acknowledge import (
    AcknowledgementBatch,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)

FIRST_RENEW_VERSION = 2
Batches = Mapping[SharedTopicPartition, tuple[Acknowledgement, ...]]
Outcomes = dict[SharedTopicPartition, Outcome]


class Member(NamedTuple):
    """The member that sent a request."""

    group_id: str
    member_id: str


def handle(broker: BrokerServices, context: RequestContext, request: ShareAcknowledgeRequest) -> None:
    """Acknowledge records in a share session."""
    error = member_error(broker, context, request.group_id, request.member_id)
    epoch = request.share_session_epoch
    member = Member(request.group_id or "", request.member_id or "")
    if error is ErrorCode.NONE and epoch == INITIAL_EPOCH:
        error = ErrorCode.INVALID_SHARE_SESSION_EPOCH
    if error is ErrorCode.NONE:
        session = broker.share_sessions.advance(*member, epoch)
        error = session if isinstance(session, ErrorCode) else ErrorCode.NONE
    if error is not ErrorCode.NONE:
        context.reply(ShareAcknowledgeResponse(error_code=error))
        return
    batches = {
        SharedTopicPartition(topic.topic_id, part.partition_index): read_batches(part.acknowledgement_batches)
        for topic in request.topics
        for part in topic.partitions
    }

    def reply(outcomes: Outcomes) -> None:
        if epoch == FINAL_EPOCH:
            release_session(broker, member)
        topics: dict[bytes, list[PartitionData]] = {}
        for shared, outcome in outcomes.items():
            data = PartitionData(shared.partition, outcome.error, outcome.message)
            topics.setdefault(shared.topic_id, []).append(data)
        context.reply(
            ShareAcknowledgeResponse(
                acquisition_lock_timeout_ms=broker.share_partitions.limits(member.group_id).lock_duration_ms,
                responses=[ShareAcknowledgeTopicResponse(topic_id, data) for topic_id, data in topics.items()],
            )
        )

    renews = request.is_renew_ack and context.api_version >= FIRST_RENEW_VERSION
    acknowledge_all(broker, context, member, batches, renews, reply)


def member_error(
    broker: BrokerServices, context: RequestContext, group_id: str | None, member_id: str | None
) -> ErrorCode:
    """Return why a request of a session is rejected before its session is looked up."""
    if not is_share_enabled(broker):
        return ErrorCode.UNSUPPORTED_VERSION
    if group_id is None:
        return ErrorCode.INVALID_REQUEST
    if not may(broker, context, AclOperation.READ, ResourceType.GROUP, group_id):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    return ErrorCode.NONE if is_member_id(member_id) else ErrorCode.INVALID_REQUEST


def read_batches(
    batches: Iterable[AcknowledgementBatch | share_fetch.AcknowledgementBatch],
) -> tuple[Acknowledgement, ...]:
    """Return the acknowledgements in a request."""
    return tuple(
        Acknowledgement(batch.first_offset, batch.last_offset, tuple(batch.acknowledge_types)) for batch in batches
    )


def acknowledge_all(
    broker: BrokerServices,
    context: RequestContext,
    member: Member,
    batches: Batches,
    renews: bool,
    done: Callable[[Outcomes], None],
) -> None:
    """Acknowledge records of several partitions; `done` receives the outcome of each."""
    outcomes = {shared: problem(broker, context, shared, batches[shared], renews) for shared in batches}
    wanted = [shared for shared, error in outcomes.items() if error is ErrorCode.NONE and batches[shared]]

    def acknowledge(shared: SharedTopicPartition, answered: Callable[[Outcome], None]) -> None:
        key = SharePartitionKey(member.group_id, *shared)
        broker.share_partitions.acknowledge(key, member.member_id, batches[shared], answered)

    def finished(results: list[Outcome]) -> None:
        found = dict(zip(wanted, results, strict=True))
        done({shared: found[shared] if shared in found else Outcome(error) for shared, error in outcomes.items()})

    gather(broker.runtime, wanted, acknowledge, finished)


def problem(
    broker: BrokerServices,
    context: RequestContext,
    shared: SharedTopicPartition,
    batches: Iterable[Acknowledgement],
    renews: bool,
) -> ErrorCode:
    """Return why the acknowledgements of a partition are rejected before they are applied."""
    name = broker.metadata.topic_name(shared.topic_id)
    if name is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if not is_valid(batches, may_renew=context.api_version >= FIRST_RENEW_VERSION):
        return ErrorCode.INVALID_REQUEST
    if not renews and any(AcknowledgeType.RENEW in batch.types for batch in batches):
        return ErrorCode.INVALID_REQUEST
    if not may(broker, context, AclOperation.READ, ResourceType.TOPIC, name):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if broker.metadata.partition(TopicPartition(name, shared.partition)) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE


def release_session(broker: BrokerServices, member: Member) -> None:
    """End a session, and return all records that the member has."""
    session = broker.share_sessions.remove(*member)
    for shared in () if session is None else tuple(session.must_respond):
        key = SharePartitionKey(member.group_id, *shared)
        broker.share_partitions.release(key, member.member_id, partial(_ignore))


def _ignore(_: Outcome) -> None:
    """Ignore the outcome: the response of the session's last request does not contain it."""
