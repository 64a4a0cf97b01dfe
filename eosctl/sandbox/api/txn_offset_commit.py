"""TxnOffsetCommit (key 28, versions 0 to 5; 3.9 serves 0 to 4; KIP-98, KIP-447, KIP-890).

- The group's partition must belong to the transaction: version 5 adds it, lower versions verify it. Failures are
  TRANSACTION_ABORTABLE (120), or INVALID_TXN_STATE (48) below version 4.
- From version 3, member and generation are checked if the producer sends them.
- The offsets become visible when the transaction's marker is written to the group's partition.
- Below version 2, COORDINATOR_LOAD_IN_PROGRESS (14) becomes COORDINATOR_NOT_AVAILABLE (15).
"""

from __future__ import annotations

from collections.abc import Mapping

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
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_LOADING_VERSION = 2
_ABORTABLE_VERSION = 4
_ADDING_VERSION = 5


def handle(broker: BrokerServices, context: RequestContext, request: TxnOffsetCommitRequest) -> None:
    """Commit offsets of a group within a transaction."""
    now_ms, version = broker.runtime.now_ms(), context.api_version
    offsets = {}
    for topic in request.topics:
        for entry in topic.partitions:
            partition = TopicPartition(topic.name, entry.partition_index)
            if partition_exists(broker.metadata, partition):
                offsets[partition] = CommittedOffset(
                    entry.committed_offset, entry.committed_leader_epoch, entry.committed_metadata or "", now_ms
                )

    def reply(errors: Mapping[TopicPartition, ErrorCode]) -> None:
        context.reply(_response(request, errors, version))

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


def _response(
    request: TxnOffsetCommitRequest, errors: Mapping[TopicPartition, ErrorCode], version: int
) -> TxnOffsetCommitResponse:
    def code(topic: str, index: int) -> ErrorCode:
        error = errors.get(TopicPartition(topic, index), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and version < _LOADING_VERSION:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return error

    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                topic.name,
                [
                    TxnOffsetCommitResponsePartition(entry.partition_index, code(topic.name, entry.partition_index))
                    for entry in topic.partitions
                ],
            )
            for topic in request.topics
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
        allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.READ, topic.name))
    refused = [
        TxnOffsetCommitResponseTopic(
            topic.name,
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
