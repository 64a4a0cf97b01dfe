"""Handlers of the voters' requests: Vote, BeginQuorumEpoch, and EndQuorumEpoch (KIP-595)."""

from __future__ import annotations

from typing import Any

from eosctl.sandbox.controller.quorum import Quorum
from eosctl.sandbox.controller.quorum_messages import partition_of
from eosctl.sandbox.ports import METADATA_TOPIC, RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import begin_quorum_epoch as begin
from eosctl.wire.messages import end_quorum_epoch as end
from eosctl.wire.messages import vote


def handle_vote(quorum: Quorum, context: RequestContext, request: vote.VoteRequest) -> None:
    """Respond to a candidate."""
    requested = partition_of(request)
    error = _refusal(quorum, request.cluster_id, requested)
    if requested is None or error:
        context.reply(vote.VoteResponse(error or ErrorCode.INVALID_REQUEST))
        return
    granted = quorum.grants(
        requested.replica_id,
        requested.replica_epoch,
        requested.last_offset_epoch,
        requested.last_offset,
        pre_vote=requested.pre_vote,
    )
    answer = vote.ResponsePartitionData(0, 0, quorum.leader_id, quorum.epoch, granted)
    context.reply(vote.VoteResponse(topics=[vote.ResponseTopicData(METADATA_TOPIC, [answer])]))


def handle_begin_quorum_epoch(quorum: Quorum, context: RequestContext, request: begin.BeginQuorumEpochRequest) -> None:
    """Accept a new leader unless its epoch is stale."""
    given = partition_of(request)
    error = _refusal(quorum, request.cluster_id, given)
    if given is None or error:
        context.reply(begin.BeginQuorumEpochResponse(error or ErrorCode.INVALID_REQUEST))
        return
    stale = given.leader_epoch < quorum.epoch
    if not stale:
        quorum.update_leader(given.leader_id, given.leader_epoch, given.leader_id)
    code = ErrorCode.FENCED_LEADER_EPOCH if stale else ErrorCode.NONE
    answer = begin.ResponsePartitionData(0, code, quorum.leader_id, quorum.epoch)
    context.reply(begin.BeginQuorumEpochResponse(topics=[begin.ResponseTopicData(METADATA_TOPIC, [answer])]))


def handle_end_quorum_epoch(quorum: Quorum, context: RequestContext, request: end.EndQuorumEpochRequest) -> None:
    """Accept a leader's resignation unless its epoch is stale."""
    given = partition_of(request)
    error = _refusal(quorum, request.cluster_id, given)
    if given is None or error:
        context.reply(end.EndQuorumEpochResponse(error or ErrorCode.INVALID_REQUEST))
        return
    stale = given.leader_epoch < quorum.epoch
    if not stale:
        quorum.ended(given.leader_id, given.leader_epoch, [one.candidate_id for one in given.preferred_candidates])
    code = ErrorCode.FENCED_LEADER_EPOCH if stale else ErrorCode.NONE
    answer = end.ResponsePartitionData(0, code, quorum.leader_id, quorum.epoch)
    context.reply(end.EndQuorumEpochResponse(topics=[end.ResponseTopicData(METADATA_TOPIC, [answer])]))


def _refusal(quorum: Quorum, cluster_id: str | None, requested: Any | None) -> ErrorCode:
    if cluster_id is not None and cluster_id != quorum.cluster_id:
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    return ErrorCode.INVALID_REQUEST if requested is None else ErrorCode.NONE
