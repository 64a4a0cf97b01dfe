"""Log directories of brokers: replica assignment, and failure handling (KIP-858)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.elections import change_of, remove_replicas
from eosctl.sandbox.metadata.image import BrokerState, PartitionState, directory_of
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)
from eosctl.wire.messages.internal.metadata.broker_registration_change_record import BrokerRegistrationChangeRecord


def assign_replicas_to_dirs(
    controller: Controller, context: RequestContext, request: AssignReplicasToDirsRequest
) -> None:
    """Record the directories of a broker's replicas; replicas in a failed directory leave their ISRs."""
    broker = controller.image.brokers.get(request.broker_id)
    if broker is None or broker.broker_epoch != request.broker_epoch:
        context.reply(AssignReplicasToDirsResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
        return
    records: list[Any] = []
    directories = []
    for directory in request.directories:
        topics = []
        for topic in directory.topics:
            partitions = []
            for partition in topic.partitions:
                error, changes = _assign(controller, broker, topic.topic_id, partition.partition_index, directory.id)
                records += changes
                partitions.append(ResponsePartitionData(partition.partition_index, error))
            topics.append(ResponseTopicData(topic.topic_id, partitions))
        directories.append(ResponseDirectoryData(directory.id, topics))
    controller.write(records, lambda: context.reply(AssignReplicasToDirsResponse(0, 0, directories)))


def _assign(
    controller: Controller, broker: BrokerState, topic_id: bytes, index: int, directory_id: bytes
) -> tuple[ErrorCode, list[Any]]:
    topic = controller.image.topics_by_id.get(topic_id)
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID, []
    state = topic.partitions.get(index)
    if state is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, []
    if broker.broker_id not in state.replicas:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER, []
    if directory_of(state, broker.broker_id) == directory_id:
        return ErrorCode.NONE, []
    directories = tuple(
        directory_id if replica == broker.broker_id else directory_of(state, replica) for replica in state.replicas
    )
    records: list[Any] = [change_of(topic, index, state, directories=directories)]
    if not broker.has_directory(directory_id):
        placed = state._replace(directories=directories)
        records += _without(controller, broker, [(topic, index, placed)])
    return ErrorCode.NONE, records


def fail_directories(controller: Controller, broker: BrokerState, lost: Iterable[bytes]) -> list[Any]:
    """Remove the replicas of failed directories from their ISRs and elect other leaders."""
    gone = set(lost) & set(broker.log_dirs)
    if not gone:
        return []
    left = tuple(directory for directory in broker.log_dirs if directory not in gone)
    hit = [
        (topic, index, state)
        for topic in controller.image.topics.values()
        for index, state in topic.partitions.items()
        if directory_of(state, broker.broker_id) in gone
    ]
    return [
        *_without(controller, broker, hit),
        BrokerRegistrationChangeRecord(broker.broker_id, broker.broker_epoch, log_dirs=left),
    ]


def _without(controller: Controller, broker: BrokerState, hit: list[tuple[Any, int, PartitionState]]) -> list[Any]:
    return list(
        remove_replicas(
            controller.image,
            broker.broker_id,
            hit,
            controller.is_broker_active,
            controller.unclean_allowed,
            controller.min_isr,
            eligible_replicas=controller.has_elr,
        )
    )
