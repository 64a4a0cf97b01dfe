"""Requests between voters: Vote, BeginQuorumEpoch, and EndQuorumEpoch (KIP-595)."""

from __future__ import annotations

from typing import Any

from eosctl.sandbox.ports import METADATA_TOPIC
from eosctl.wire.messages import begin_quorum_epoch as begin
from eosctl.wire.messages import end_quorum_epoch as end
from eosctl.wire.messages import vote

VOTE_VERSIONS = {"3.9": 1, "4.3": 2, "4.4": 2}
BEGIN_VERSION = 1
END_VERSION = 1


def vote_request(
    cluster_id: str, voter: int, epoch: int, candidate: int, last_epoch: int, end_offset: int, *, pre_vote: bool
) -> vote.VoteRequest:
    """Build a vote or pre-vote request."""
    requested = vote.RequestPartitionData(
        0, epoch, candidate, last_offset_epoch=max(last_epoch, 0), last_offset=end_offset, pre_vote=pre_vote
    )
    return vote.VoteRequest(cluster_id, voter, [vote.RequestTopicData(METADATA_TOPIC, [requested])])


def begin_request(cluster_id: str, voter: int, leader_id: int, epoch: int) -> begin.BeginQuorumEpochRequest:
    """Build the request that announces a leader."""
    partition_data = begin.RequestPartitionData(0, leader_id=leader_id, leader_epoch=epoch)
    return begin.BeginQuorumEpochRequest(cluster_id, voter, [begin.RequestTopicData(METADATA_TOPIC, [partition_data])])


def end_request(cluster_id: str, leader_id: int, epoch: int, successors: list[int]) -> end.EndQuorumEpochRequest:
    """Build the request that announces a leader's resignation, with its preferred successors in order."""
    partition_data = end.RequestPartitionData(
        0, leader_id, epoch, preferred_candidates=[end.ReplicaInfo(voter) for voter in successors]
    )
    return end.EndQuorumEpochRequest(cluster_id, [end.RequestTopicData(METADATA_TOPIC, [partition_data])])


def partition_of(message: Any | None) -> Any | None:
    """Return the single partition of a quorum message; None for a top-level error."""
    if message is None or getattr(message, "error_code", False) or not message.topics:
        return None
    topic = message.topics[0]
    return topic.partitions[0] if topic.topic_name == METADATA_TOPIC and topic.partitions else None
