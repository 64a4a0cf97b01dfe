"""OffsetCommit (key 8, versions 2 to 10; 3.9 serves 0 to 9; KIP-62, KIP-211, KIP-320, KIP-345, KIP-848).

- A commit without generation and member creates a simple group; only members may commit to an active group.
- Unknown topics and partitions get UNKNOWN_TOPIC_OR_PARTITION (3) each, the rest is committed. Version 10 uses topic
  ids (100 when unknown).
- Metadata longer than `offset.metadata.max.bytes` gets OFFSET_METADATA_TOO_LARGE (12).
- Versions 2 to 4 may set a retention; version 1 a commit time; version 0 (ZooKeeper) is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.offset_rules import Committer
from eosctl.sandbox.coordinator.group.offset_store import CommittedOffset
from eosctl.sandbox.coordinator.group.requests import partition_exists
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.sandbox.turns import SLICE, in_turns
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from eosctl.wire.uuid import ZERO_UUID

_TOPIC_ID_VERSION = 10


def handle(broker: BrokerServices, context: RequestContext, request: OffsetCommitRequest) -> None:
    """Commit offsets of a group, all in one batch, however many turns it takes to find their topics."""
    in_turns(broker.runtime, _steps(broker, context, request))


def _steps(broker: BrokerServices, context: RequestContext, request: OffsetCommitRequest) -> Iterator[None]:
    topics: list[OffsetCommitRequestTopic] = []
    known: dict[TopicPartition, CommittedOffset] = {}
    for start in range(0, len(request.topics), SLICE):
        if start:
            yield
        part = [_named(broker, context, topic) for topic in request.topics[start : start + SLICE]]
        topics += part
        known |= _known_offsets(broker, request, part)

    def reply(errors: Mapping[TopicPartition, ErrorCode]) -> None:
        nonlocal topics
        by_id = context.api_version >= _TOPIC_ID_VERSION
        if broker.emulation.is_3_9:  # Keep one result for each partition.
            topics = [replace(topic, partitions=_unique(topic.partitions)) for topic in topics]
        answers = [_answer(topic, errors, by_id=by_id) for topic in topics if topic.partitions]
        context.reply(OffsetCommitResponse(topics=answers))

    if context.api_version == 0:
        reply(dict.fromkeys(_partitions(topics), ErrorCode.UNSUPPORTED_VERSION))
        return
    shard = broker.groups.find_shard(request.group_id)
    if isinstance(shard, ErrorCode):
        reply(dict.fromkeys(_partitions(topics), shard))
    elif not known:
        reply({})
    else:
        committer = Committer(
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
            context.api_version,
        )
        broker.groups.offsets.commit(shard, request.group_id, committer, known, reply)


def _named(
    broker: BrokerServices, context: RequestContext, topic: OffsetCommitRequestTopic
) -> OffsetCommitRequestTopic:
    if context.api_version < _TOPIC_ID_VERSION:
        return topic
    return replace(topic, name=broker.metadata.topic_name(topic.topic_id) or "")


def _partitions(topics: list[OffsetCommitRequestTopic]) -> list[TopicPartition]:
    return [TopicPartition(topic.name, entry.partition_index) for topic in topics for entry in topic.partitions]


def _known_offsets(
    broker: BrokerServices, request: OffsetCommitRequest, topics: list[OffsetCommitRequestTopic]
) -> dict[TopicPartition, CommittedOffset]:
    now_ms = broker.runtime.now_ms()
    expire_ms = now_ms + request.retention_time_ms if request.retention_time_ms != -1 else -1
    known = {}
    for topic in topics:
        # 4.x writes the topic id with the offset; 3.9 has no field for it.
        topic_id = ZERO_UUID if broker.emulation.is_3_9 else broker.metadata.topic_id(topic.name) or ZERO_UUID
        for entry in topic.partitions:
            partition = TopicPartition(topic.name, entry.partition_index)
            if topic.name and partition_exists(broker.metadata, partition):
                known[partition] = CommittedOffset(
                    offset=entry.committed_offset,
                    leader_epoch=entry.committed_leader_epoch,
                    metadata=entry.committed_metadata or "",
                    commit_timestamp_ms=entry.commit_timestamp if entry.commit_timestamp != -1 else now_ms,
                    expire_timestamp_ms=expire_ms,
                    topic_id=topic_id,
                )
    return known


def _unique(partitions: Sequence[OffsetCommitRequestPartition]) -> list[OffsetCommitRequestPartition]:
    return list({entry.partition_index: entry for entry in partitions}.values())


def _answer(
    topic: OffsetCommitRequestTopic, errors: Mapping[TopicPartition, ErrorCode], *, by_id: bool
) -> OffsetCommitResponseTopic:
    missing = ErrorCode.UNKNOWN_TOPIC_ID if by_id and not topic.name else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partitions = [
        OffsetCommitResponsePartition(
            entry.partition_index, errors.get(TopicPartition(topic.name, entry.partition_index), missing)
        )
        for entry in topic.partitions
    ]
    return OffsetCommitResponseTopic(topic.name, topic.topic_id, partitions)


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
FIRST_TOPIC_ID_VERSION = 10


def guard(access: Access, request: OffsetCommitRequest) -> None:
    """Require READ on the group and on each topic."""
    error, denied = DENIED, list(request.topics)
    allowed: list[OffsetCommitRequestTopic] = []
    if access.may_group(AclOperation.READ, request.group_id):
        error = TOPIC_DENIED
        allowed, denied = access.part(
            request.topics,
            lambda topic: access.may_topic(
                AclOperation.READ, access.topic_name(topic.name, topic.topic_id, FIRST_TOPIC_ID_VERSION)
            ),
        )
    refused = [
        OffsetCommitResponseTopic(
            topic.name,
            topic.topic_id,
            [OffsetCommitResponsePartition(one.partition_index, error) for one in topic.partitions],
        )
        for topic in denied
    ]
    if denied and not allowed:
        access.reply(OffsetCommitResponse(topics=refused))
        return
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )
