"""Move positions of an empty group that are missing or outside of their partitions."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from eosctl.actions.marker import MARKER_EVIDENCE
from eosctl.actions.protocol import Action, Cluster, Permit, Verification
from eosctl.client.client import Client
from eosctl.client.destinations import group_coordinator
from eosctl.client.outcome import any_error, error_for_code
from eosctl.errors import PlanRefused, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.model.plan import ChangeOutcome
from eosctl.model.snapshot import ClusterSnapshot, Group, PartitionInfo
from eosctl.model.transaction import TopicPartition
from eosctl.text import count_text
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import offset_commit

EMPTY_STATES: Final = frozenset({"Empty", "Dead", ""})
# OffsetCommit 10 uses topic ids; up to 9 names.
_BY_NAME: Final = 9


class Move(msgspec.Struct, frozen=True):
    """A position and its new value."""

    partition: TopicPartition
    offset_before: int
    offset: int


class OffsetPlan(msgspec.Struct, frozen=True):
    """A plan to move a group's positions into the range of their partitions."""

    cluster_id: str
    group_id: str
    moves: tuple[Move, ...]


def positions_out_of_range(snapshot: ClusterSnapshot, group: Group) -> tuple[Move, ...]:
    """Return the positions outside of their partitions' offsets, each with the nearest valid offset.

    The nearest offset skips or repeats the fewest records: the log start offset for a deleted position, the end for one
    beyond it.
    """
    moves = []
    for committed in group.offsets:
        info = snapshot.partition(committed.partition)
        if committed.offset is None or info is None:
            continue
        nearest = _nearest(committed.offset, info)
        if nearest is not None and nearest != committed.offset:
            moves.append(Move(committed.partition, committed.offset, nearest))
    return tuple(moves)


def _nearest(offset: int, info: PartitionInfo) -> int | None:
    if info.log_start_offset is None or info.high_watermark is None:
        return None
    return min(max(offset, info.log_start_offset), info.high_watermark)


async def prepare_positions(cluster: Cluster, group_id: str) -> OffsetPlan:
    """Collect evidence and plan to move positions back into range; see `plan_positions`."""
    kinds = MARKER_EVIDENCE | {EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS, EvidenceKind.PENDING_OFFSETS}
    return plan_positions(await cluster.collect(kinds), group_id)


def plan_positions(snapshot: ClusterSnapshot, group_id: str) -> OffsetPlan:
    """Plan to move positions back into range.

    Raises:
        UsageError: The group is unknown.
        PlanRefused: It has members, a transaction holds its offsets, or all positions are in range.
    """
    group = next((g for g in snapshot.groups if g.group_id == group_id), None)
    if group is None:
        hidden = [gap.next_step for gap in snapshot.gaps if gap.kind is EvidenceKind.GROUPS]
        why = "An authorizer may also hide it from this principal." if hidden else "No coordinator lists it."
        raise UsageError(f"Unknown group {group_id!r}.", why, next(iter(hidden), "List: eosctl group lag"))
    if group.members or group.state not in EMPTY_STATES:
        raise PlanRefused(
            f"Group {group_id} is {group.state} with {count_text(len(group.members), 'member')}: nothing was changed.",
            "A member would overwrite the position with its own, and brokers refuse the commit.",
            "Stop its application first.",
        )
    pending = any(offset.group_id == group_id for offset in snapshot.pending_offsets)
    if pending or any(committed.unstable for committed in group.offsets):
        raise PlanRefused(
            f"A transaction holds offsets of group {group_id}: nothing was changed.",
            "It would overwrite the position when it commits.",
            f"End it first: eosctl group pending {group_id}",
        )
    moves = positions_out_of_range(snapshot, group)
    if not moves:
        for gap in snapshot.gaps:
            if gap.kind in (EvidenceKind.TOPICS, EvidenceKind.OFFSETS, EvidenceKind.GROUP_OFFSETS):
                why = gap.error or gap.detail or gap.reason.value
                raise PlanRefused(f"Not every position of group {group_id} was read.", why, gap.next_step)
        raise PlanRefused(
            f"No position of group {group_id} is out of range: nothing was changed.",
            "Every committed offset lies within its log.",
            f"See where it stands: eosctl group lag {group_id}.",
        )
    return OffsetPlan(snapshot.cluster_id, group_id, moves)


async def _commit(client: Client, plan: OffsetPlan, permit: Permit) -> Verification[ChangeOutcome]:
    permit.use(plan)
    # Commit like an administrator, without a generation, which only an empty group accepts.
    by_topic: dict[str, list[offset_commit.OffsetCommitRequestPartition]] = {}
    for move in plan.moves:
        entry = offset_commit.OffsetCommitRequestPartition(
            partition_index=move.partition.partition, committed_offset=move.offset, committed_metadata=""
        )
        by_topic.setdefault(move.partition.topic, []).append(entry)
    request = offset_commit.OffsetCommitRequest(
        group_id=plan.group_id,
        topics=[
            offset_commit.OffsetCommitRequestTopic(name=topic, partitions=entries)
            for topic, entries in by_topic.items()
        ],
    )
    answer = await client.request(
        group_coordinator(plan.group_id), ApiKey.OFFSET_COMMIT, request, cap=_BY_NAME, error_of=any_error
    )
    code = any_error(answer)
    if code:
        raise error_for_code(code, f"OffsetCommit for group {plan.group_id}", api_key=ApiKey.OFFSET_COMMIT)
    return partial(_report, plan)


async def _report(plan: OffsetPlan) -> ChangeOutcome:
    # The coordinator responds after it has written the positions; the caller reads them.
    return ChangeOutcome(True, f"Moved {count_text(len(plan.moves), 'position')} of group {plan.group_id}.")


GROUP_OFFSETS: Final = Action[OffsetPlan, ChangeOutcome](lambda plan: plan, _commit)
"""`send` raises BrokerError if the coordinator rejects the request, e.g.

UNKNOWN_MEMBER_ID after a member has joined.
"""
