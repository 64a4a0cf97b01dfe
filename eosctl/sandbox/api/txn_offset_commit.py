"""TxnOffsetCommit (key 28, versions 0 to 6; 3.9 serves 0 to 4, 4.3 to 5; KIP-98, KIP-447, KIP-890, KIP-1319).

- The group's partition must belong to the transaction: version 5 adds it, lower versions verify it. Failures are
  TRANSACTION_ABORTABLE (120), or INVALID_TXN_STATE (48) below version 4.
- From version 3, member and generation are checked if the producer sends them.
- The offsets become visible when the transaction's marker is written to the group's partition.
- Below version 2, COORDINATOR_LOAD_IN_PROGRESS (14) becomes COORDINATOR_NOT_AVAILABLE (15).
- Version 6 names topics by id: UNKNOWN_TOPIC_ID (100) takes precedence over all other errors. It separates
  GROUP_ID_NOT_FOUND (69) and STALE_MEMBER_EPOCH (113) from ILLEGAL_GENERATION (22).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.offset_manager import Producer, TransactionVersion
from eosctl.sandbox.coordinator.group.offset_rules import Committer
from eosctl.sandbox.coordinator.group.offset_store import CommittedOffset
from eosctl.sandbox.coordinator.group.requests import find_named_shard, partition_exists
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.sandbox.turns import SLICE, in_turns
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from eosctl.wire.uuid import ZERO_UUID

_LOADING_VERSION = 2
_ABORTABLE_VERSION = 4
_ADDING_VERSION = 5
_TOPIC_ID_VERSION = 6


def handle(broker: BrokerServices, context: RequestContext, request: TxnOffsetCommitRequest) -> None:
    """Commit offsets of a group within a transaction, however many turns it takes to find their topics."""
    in_turns(broker.runtime, _steps(broker, context, request))


def _steps(broker: BrokerServices, context: RequestContext, request: TxnOffsetCommitRequest) -> Iterator[None]:
    version = context.api_version
    topics: list[TxnOffsetCommitRequestTopic] = []
    offsets: dict[TopicPartition, CommittedOffset] = {}
    for start in range(0, len(request.topics), SLICE):
        if start:
            yield
        part = [_named(broker, version, topic) for topic in request.topics[start : start + SLICE]]
        topics += part
        offsets |= _known_offsets(broker, part)

    def reply(errors: Mapping[TopicPartition, ErrorCode]) -> None:
        context.reply(_response(topics, errors, version))

    shard = find_named_shard(broker.groups, request.group_id)
    if isinstance(shard, ErrorCode):
        reply(dict.fromkeys(offsets, shard))
    elif not offsets:
        reply({})
    else:
        broker.groups.offsets.commit_in_transaction(
            shard,
            request.group_id,
            Committer(request.member_id, request.group_instance_id, request.generation_id, version),
            Producer(request.transactional_id, request.producer_id, request.producer_epoch),
            TransactionVersion(version >= _ADDING_VERSION, version >= _ABORTABLE_VERSION),
            offsets,
            reply,
        )


def _named(broker: BrokerServices, version: int, topic: TxnOffsetCommitRequestTopic) -> TxnOffsetCommitRequestTopic:
    """Return a topic with its name; empty where no topic has the id."""
    if version < _TOPIC_ID_VERSION:
        return topic
    return replace(topic, name=broker.metadata.topic_name(topic.topic_id) or "")


def _known_offsets(
    broker: BrokerServices, topics: Sequence[TxnOffsetCommitRequestTopic]
) -> dict[TopicPartition, CommittedOffset]:
    now_ms = broker.runtime.now_ms()
    known = {}
    for topic in topics:
        # Up to 4.3 the topic's id is written with plain commits only.
        has_id = not broker.emulation.is_before_4_4
        topic_id = (broker.metadata.topic_id(topic.name) if has_id and topic.name else None) or ZERO_UUID
        for entry in topic.partitions:
            partition = TopicPartition(topic.name, entry.partition_index)
            if topic.name and partition_exists(broker.metadata, partition):
                known[partition] = CommittedOffset(
                    entry.committed_offset,
                    entry.committed_leader_epoch,
                    entry.committed_metadata or "",
                    now_ms,
                    topic_id=topic_id,
                )
    return known


def _response(
    topics: Sequence[TxnOffsetCommitRequestTopic], errors: Mapping[TopicPartition, ErrorCode], version: int
) -> TxnOffsetCommitResponse:
    def code(topic: str, index: int) -> ErrorCode:
        if version >= _TOPIC_ID_VERSION and not topic:
            return ErrorCode.UNKNOWN_TOPIC_ID
        error = errors.get(TopicPartition(topic, index), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and version < _LOADING_VERSION:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return error

    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                topic.name,
                topic.topic_id,
                [
                    TxnOffsetCommitResponsePartition(entry.partition_index, code(topic.name, entry.partition_index))
                    for entry in topic.partitions
                ],
            )
            for topic in topics
        ]
    )


DENIED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def guard(access: Access, request: TxnOffsetCommitRequest) -> None:
    """Require WRITE on the id and READ on the group and on each topic."""
    allowed: list[TxnOffsetCommitRequestTopic] = []
    denied = list(request.topics)
    if not access.may_transact(AclOperation.WRITE, request.transactional_id):
        error = DENIED
    elif not access.may_group(AclOperation.READ, request.group_id):
        error = ErrorCode.GROUP_AUTHORIZATION_FAILED
    else:
        error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        allowed, denied = access.part(
            request.topics,
            lambda topic: access.may_topic(
                AclOperation.READ, access.topic_name(topic.name, topic.topic_id, _TOPIC_ID_VERSION)
            ),
        )
    refused = [
        TxnOffsetCommitResponseTopic(
            topic.name,
            topic.topic_id,
            [TxnOffsetCommitResponsePartition(one.partition_index, error) for one in topic.partitions],
        )
        for topic in denied
    ]
    if denied and not allowed:
        access.reply(TxnOffsetCommitResponse(topics=refused))
        return
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )
