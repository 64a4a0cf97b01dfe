"""AlterPartition and ElectLeaders on the controller (`ReplicationControlManager`)."""

from __future__ import annotations

from typing import Any

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.elections import change_of, elect, elect_leader, eligible_after, serving
from eosctl.sandbox.controller.reassignments import complete, move
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.metadata.image import NO_LEADER, RECOVERED, RECOVERING, PartitionState, TopicState
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    RequestPartitionData,
    ResponsePartitionData,
    ResponseTopicData,
)
from eosctl.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

PREFERRED, UNCLEAN = 0, 1


def alter_partition(controller: Controller, context: RequestContext, request: AlterPartitionRequest) -> None:
    """Accept a leader's new ISR if its epochs are current and every member may be in sync."""
    broker = controller.image.brokers.get(request.broker_id)
    if broker is None or broker.broker_epoch != request.broker_epoch:
        context.reply(AlterPartitionResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
        return
    records: list[Any] = []
    refused: dict[tuple[bytes, int], ErrorCode] = {}
    for topic in request.topics:
        known = controller.image.topics_by_id.get(topic.topic_id)
        for wanted in topic.partitions:
            state = known.partitions.get(wanted.partition_index) if known is not None else None
            error = _check_alteration(controller, request.broker_id, known, state, wanted)
            if error:
                refused[topic.topic_id, wanted.partition_index] = error
            elif known is not None and state is not None:
                records.append(_new_isr(controller, known, state, wanted))

    def answer() -> None:
        topics = []
        for topic in request.topics:
            known = controller.image.topics_by_id.get(topic.topic_id)
            partitions = []
            for wanted in topic.partitions:
                error = refused.get((topic.topic_id, wanted.partition_index))
                state = known.partitions.get(wanted.partition_index) if known is not None else None
                partitions.append(_describe(wanted.partition_index, error, state))
            topics.append(ResponseTopicData(topic.topic_name, topic.topic_id, partitions))
        context.reply(AlterPartitionResponse(0, 0, topics))

    controller.write(records, answer)


def _check_alteration(
    controller: Controller,
    broker_id: int,
    topic: TopicState | None,
    state: PartitionState | None,
    wanted: RequestPartitionData,
) -> ErrorCode:
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if state is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if wanted.leader_epoch > state.leader_epoch:
        return ErrorCode.NOT_CONTROLLER
    if state.leader != broker_id:
        return ErrorCode.INVALID_REQUEST
    if wanted.leader_epoch < state.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if wanted.partition_epoch < state.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    members = _members(wanted)
    if not members or broker_id not in members or not set(members) <= set(state.replicas):
        return ErrorCode.INVALID_REQUEST
    if wanted.leader_recovery_state == RECOVERING and (len(members) > 1 or state.leader_recovery_state == RECOVERED):
        return ErrorCode.INVALID_REQUEST
    epochs = {member.broker_id: member.broker_epoch for member in wanted.new_isr_with_epochs}
    for member in members:
        known = controller.image.brokers.get(member)
        epoch = epochs.get(member, -1)
        if not controller.is_broker_active(member) or known is None or (epoch >= 0 and epoch != known.broker_epoch):
            return ErrorCode.INELIGIBLE_REPLICA
    return ErrorCode.NONE


def _members(wanted: RequestPartitionData) -> list[int]:
    if wanted.new_isr_with_epochs:
        return [member.broker_id for member in wanted.new_isr_with_epochs]
    return list(wanted.new_isr)


def _new_isr(controller: Controller, topic: TopicState, state: PartitionState, wanted: RequestPartitionData) -> Any:
    isr = tuple(_members(wanted))
    if state.adding_replicas or state.removing_replicas:
        reached = state._replace(isr=isr, leader_recovery_state=wanted.leader_recovery_state)
        return move(controller, topic, wanted.partition_index, state, complete(reached))
    elr = eligible_after(state, isr, controller.min_isr(topic.name)) if controller.has_elr else ()
    return change_of(
        topic,
        wanted.partition_index,
        state,
        isr=isr,
        eligible_leader_replicas=elr,
        leader_recovery_state=wanted.leader_recovery_state,
    )


def _describe(index: int, error: ErrorCode | None, state: PartitionState | None) -> ResponsePartitionData:
    if error is not None or state is None:
        return ResponsePartitionData(index, error or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return ResponsePartitionData(
        partition_index=index,
        error_code=0,
        leader_id=state.leader,
        leader_epoch=state.leader_epoch,
        isr=state.isr,
        leader_recovery_state=state.leader_recovery_state,
        partition_epoch=state.partition_epoch,
    )


def elect_leaders(controller: Controller, context: RequestContext, request: ElectLeadersRequest) -> None:
    """Elect the preferred replica, or any live one for an unclean election."""
    if request.election_type not in (PREFERRED, UNCLEAN):
        context.reply(_refuse_election(request))
        return
    if request.topic_partitions is None:
        requested = [(topic.name, list(topic.partitions)) for topic in controller.image.topics.values()]
    else:
        requested = [(entry.topic, list(entry.partitions)) for entry in request.topic_partitions]
    records: list[Any] = []
    results = []
    for name, indexes in requested:
        answers = []
        for index in indexes:
            error, text, record = _elect_one(controller, name, index, request.election_type)
            if record is not None:
                records.append(record)
            if error is not ErrorCode.ELECTION_NOT_NEEDED or request.topic_partitions is not None:
                answers.append(PartitionResult(index, error, text))
        results.append(ReplicaElectionResult(name, answers))
    controller.write(records, lambda: context.reply(ElectLeadersResponse(0, 0, results)))


def _refuse_election(request: ElectLeadersRequest) -> ElectLeadersResponse:
    error, text = ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}"
    results = [
        ReplicaElectionResult(topic.topic, [PartitionResult(index, error, text) for index in topic.partitions])
        for topic in request.topic_partitions or ()
    ]
    return ElectLeadersResponse(0, error, results)


def _elect_one(controller: Controller, name: str, index: int, election_type: int) -> tuple[ErrorCode, str | None, Any]:
    """Return the result with its message, and the record to append."""
    topic = controller.image.topics.get(name)
    state = topic.partitions.get(index) if topic is not None else None
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}", None
    if state is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}", None
    if (state.leader == state.replicas[0]) if election_type == PREFERRED else (state.leader != NO_LEADER):
        return _refused(ErrorCode.ELECTION_NOT_NEEDED)
    election = elect_leader(
        state,
        serving(controller.image, state, controller.is_broker_active),
        allow_unclean=election_type == UNCLEAN,
        prefer_first=election_type == PREFERRED,
    )
    if election_type == PREFERRED and election.leader != state.replicas[0]:
        return _refused(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE)
    record = elect(topic, index, state, election)
    if record is None:
        return _refused(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE)
    return ErrorCode.NONE, None, record


def _refused(error: ErrorCode) -> tuple[ErrorCode, str, None]:
    return error, kafka_text(error), None
