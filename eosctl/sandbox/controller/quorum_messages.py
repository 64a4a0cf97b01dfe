"""What voters say to each other: Vote, BeginQuorumEpoch, EndQuorumEpoch; requests and the answers to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eosctl.sandbox.ports import METADATA_TOPIC, RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import begin_quorum_epoch as begin
from eosctl.wire.messages import end_quorum_epoch as end
from eosctl.wire.messages import vote

if TYPE_CHECKING:
    from eosctl.sandbox.controller.quorum import Quorum

VOTE_VERSIONS = {"3.9": 1, "4.3": 2}
BEGIN_VERSION = 1
END_VERSION = 1


def vote_request(
    cluster_id: str, voter: int, epoch: int, candidate: int, last_epoch: int, end_offset: int, *, pre_vote: bool
) -> vote.VoteRequest:
    """Ask for a vote, or whether one would be given."""
    asked = vote.RequestPartitionData(
        0, epoch, candidate, last_offset_epoch=max(last_epoch, 0), last_offset=end_offset, pre_vote=pre_vote
    )
    return vote.VoteRequest(cluster_id, voter, [vote.RequestTopicData(METADATA_TOPIC, [asked])])


def begin_request(cluster_id: str, voter: int, leader_id: int, epoch: int) -> begin.BeginQuorumEpochRequest:
    """Announce a leader."""
    told = begin.RequestPartitionData(0, leader_id=leader_id, leader_epoch=epoch)
    return begin.BeginQuorumEpochRequest(cluster_id, voter, [begin.RequestTopicData(METADATA_TOPIC, [told])])


def end_request(cluster_id: str, leader_id: int, epoch: int, successors: list[int]) -> end.EndQuorumEpochRequest:
    """Announce that a leader goes, and who should follow it, best first."""
    told = end.RequestPartitionData(
        0, leader_id, epoch, preferred_candidates=[end.ReplicaInfo(voter) for voter in successors]
    )
    return end.EndQuorumEpochRequest(cluster_id, [end.RequestTopicData(METADATA_TOPIC, [told])])


def partition_of(message: Any | None) -> Any | None:
    """Return the one partition that a message of the quorum is about, None for an error of the whole."""
    if message is None or getattr(message, "error_code", False) or not message.topics:
        return None
    topic = message.topics[0]
    return topic.partitions[0] if topic.topic_name == METADATA_TOPIC and topic.partitions else None


def answer_vote(quorum: Quorum, context: RequestContext, request: vote.VoteRequest) -> None:
    """Answer a candidate."""
    asked = partition_of(request)
    error = _refusal(quorum, request.cluster_id, asked)
    if asked is None or error:
        context.reply(vote.VoteResponse(error or ErrorCode.INVALID_REQUEST))
        return
    granted = quorum.grants(
        asked.replica_id,
        asked.replica_epoch,
        asked.last_offset_epoch,
        asked.last_offset,
        pre_vote=asked.pre_vote,
    )
    answer = vote.ResponsePartitionData(0, 0, quorum.leader_id, quorum.epoch, granted)
    context.reply(vote.VoteResponse(topics=[vote.ResponseTopicData(METADATA_TOPIC, [answer])]))


def answer_begin(quorum: Quorum, context: RequestContext, request: begin.BeginQuorumEpochRequest) -> None:
    """Hear of a new leader."""
    told = partition_of(request)
    error = _refusal(quorum, request.cluster_id, told)
    if told is None or error:
        context.reply(begin.BeginQuorumEpochResponse(error or ErrorCode.INVALID_REQUEST))
        return
    stale = told.leader_epoch < quorum.epoch
    if not stale:
        quorum.heard_of(told.leader_id, told.leader_epoch, told.leader_id)
    code = ErrorCode.FENCED_LEADER_EPOCH if stale else ErrorCode.NONE
    answer = begin.ResponsePartitionData(0, code, quorum.leader_id, quorum.epoch)
    context.reply(begin.BeginQuorumEpochResponse(topics=[begin.ResponseTopicData(METADATA_TOPIC, [answer])]))


def answer_end(quorum: Quorum, context: RequestContext, request: end.EndQuorumEpochRequest) -> None:
    """Hear that the leader goes."""
    told = partition_of(request)
    error = _refusal(quorum, request.cluster_id, told)
    if told is None or error:
        context.reply(end.EndQuorumEpochResponse(error or ErrorCode.INVALID_REQUEST))
        return
    stale = told.leader_epoch < quorum.epoch
    if not stale:
        quorum.ended(told.leader_id, told.leader_epoch, [one.candidate_id for one in told.preferred_candidates])
    code = ErrorCode.FENCED_LEADER_EPOCH if stale else ErrorCode.NONE
    answer = end.ResponsePartitionData(0, code, quorum.leader_id, quorum.epoch)
    context.reply(end.EndQuorumEpochResponse(topics=[end.ResponseTopicData(METADATA_TOPIC, [answer])]))


def _refusal(quorum: Quorum, cluster_id: str | None, asked: Any | None) -> ErrorCode:
    if cluster_id is not None and cluster_id != quorum.cluster_id:
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    return ErrorCode.INVALID_REQUEST if asked is None else ErrorCode.NONE
