"""Partition reassignments (KIP-455): start, cancel, list, and complete once the new replicas are in sync."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.elections import change_of, elect_leader, last_known_after, serving
from eosctl.sandbox.controller.topics import Refused, check_assignment, default_directory
from eosctl.sandbox.metadata.image import RECOVERING, PartitionState, TopicState, directory_of
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from eosctl.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def list_partition_reassignments(
    controller: Controller, context: RequestContext, request: ListPartitionReassignmentsRequest
) -> None:
    """Return the partitions with replicas to add or remove; unknown ones are omitted, as in Kafka."""
    requested = (
        None if request.topics is None else {topic.name: set(topic.partition_indexes) for topic in request.topics}
    )
    topics = []
    for name, topic in controller.image.topics.items():
        ongoing = [
            OngoingPartitionReassignment(index, state.replicas, state.adding_replicas, state.removing_replicas)
            for index, state in sorted(topic.partitions.items())
            if (state.adding_replicas or state.removing_replicas)
            and (requested is None or index in requested.get(name, ()))
        ]
        if ongoing:
            topics.append(OngoingTopicReassignment(name, ongoing))
    context.reply(ListPartitionReassignmentsResponse(0, 0, None, topics))


def alter_partition_reassignments(
    controller: Controller, context: RequestContext, request: AlterPartitionReassignmentsRequest
) -> None:
    """Start reassignments, or cancel those with a null target. Each partition has its own result."""
    if not request.topics:
        context.reply(AlterPartitionReassignmentsResponse())
        return
    records: list[Any] = []
    responses = []
    for topic in request.topics:
        answers = []
        for wanted in topic.partitions:
            error, message = ErrorCode.NONE, None
            try:
                record = _plan(controller, topic.name, wanted.partition_index, wanted.replicas)
                if record is not None:
                    records.append(record)
            except Refused as refused:
                error, message = refused.error, refused.message
            answers.append(ReassignablePartitionResponse(wanted.partition_index, error, message))
        responses.append(ReassignableTopicResponse(topic.name, answers))
    response = AlterPartitionReassignmentsResponse(0, request.allow_replication_factor_change, 0, None, responses)
    controller.write(records, lambda: context.reply(response))


def _plan(controller: Controller, name: str, index: int, target: Sequence[int] | None) -> Any:
    topic = controller.image.topics.get(name)
    state = topic.partitions.get(index) if topic is not None else None
    if topic is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
    if state is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{index}.")
    if target is None:
        if not state.adding_replicas and not state.removing_replicas:
            raise Refused(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        wanted = state._replace(
            replicas=tuple(broker for broker in state.replicas if broker not in state.adding_replicas),
            isr=tuple(broker for broker in state.isr if broker not in state.adding_replicas),
            adding_replicas=(),
            removing_replicas=(),
        )
    else:
        check_assignment(controller, target, None)
        removing = tuple(broker for broker in state.replicas if broker not in target)
        wanted = complete(
            state._replace(
                replicas=(*target, *removing),
                adding_replicas=tuple(broker for broker in target if broker not in state.replicas),
                removing_replicas=removing,
            )
        )
    return move(controller, topic, index, state, wanted)


def complete(state: PartitionState) -> PartitionState:
    """Remove the old replicas once every new replica is in sync and an in-sync replica remains."""
    isr = tuple(broker for broker in state.isr if broker not in state.removing_replicas)
    if not isr or not set(state.adding_replicas) <= set(isr):
        return state
    return state._replace(
        replicas=tuple(broker for broker in state.replicas if broker not in state.removing_replicas),
        isr=isr,
        adding_replicas=(),
        removing_replicas=(),
    )


def move(controller: Controller, topic: TopicState, index: int, state: PartitionState, wanted: PartitionState) -> Any:
    """Build the record for the transition, with a new leader if the old one is removed."""
    election = elect_leader(
        wanted,
        serving(controller.image, state, controller.is_broker_active),
        allow_unclean=controller.unclean_allowed(topic.name),
    )
    changes: dict[str, Any] = {
        "isr": wanted.isr,
        "replicas": wanted.replicas,
        "adding_replicas": wanted.adding_replicas,
        "removing_replicas": wanted.removing_replicas,
        "eligible_leader_replicas": tuple(
            broker
            for broker in wanted.eligible_leader_replicas
            if broker in wanted.replicas and broker not in wanted.isr
        ),
        "leader_recovery_state": wanted.leader_recovery_state,
    }
    if wanted.replicas != state.replicas:
        changes["directories"] = tuple(
            directory_of(state, broker) if broker in state.replicas else default_directory(controller, broker)
            for broker in wanted.replicas
        )
    if election.leader != state.leader:
        changes["leader"] = election.leader
        if election.unclean:
            changes |= {"isr": (election.leader,), "leader_recovery_state": RECOVERING}
        if controller.has_elr:
            changes["last_known_elr"] = last_known_after(state, election.leader)
    elif not set(state.replicas) <= set(wanted.replicas):
        changes["leader"] = state.leader  # Use a new leader epoch, which the removed replicas may not join.
    return change_of(topic, index, state, **changes)
