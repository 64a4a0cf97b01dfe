"""Elect preferred leaders (KIP-460): the first replica, if it is in sync."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

import msgspec

from eosctl.actions.protocol import Action, Cluster, Permit, Verification
from eosctl.client.client import Client
from eosctl.client.destinations import Role
from eosctl.client.outcome import error_for_code
from eosctl.collect.cluster import collect_shape
from eosctl.collect.reader import ReadOnly
from eosctl.errors import PlanRefused
from eosctl.model.evidence import EvidenceKind
from eosctl.model.plan import ChangeOutcome
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction import TopicPartition
from eosctl.text import count_text
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import elect_leaders

PREFERRED: Final = 0
ATTEMPTS: Final = 50
PAUSE_MS: Final = 100
_FINE: Final = frozenset({ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED})


class ElectionPlan(msgspec.Struct, frozen=True):
    """A plan for partitions whose preferred replica is in sync but not the leader."""

    cluster_id: str
    partitions: tuple[TopicPartition, ...]


def is_displaced(info: PartitionInfo) -> bool:
    """Return whether another replica leads although the preferred one is in sync."""
    preferred = info.replicas[0] if info.replicas else None
    return info.leader_id is not None and preferred in info.isr and info.leader_id != preferred


async def prepare_election(cluster: Cluster, topic: str = "") -> ElectionPlan:
    """Collect evidence and plan a preferred election for a topic, or for all topics if it is empty.

    Raises:
        PlanRefused: Every visible partition is led by its preferred replica, or that one is out of sync.
    """
    snapshot = await cluster.collect(frozenset())
    plan = plan_election(snapshot, topic)
    if not plan.partitions:
        for gap in snapshot.gaps:
            if gap.kind is EvidenceKind.TOPICS:
                raise PlanRefused("No election is planned: topics may be hidden.", gap.detail, gap.next_step)
        raise PlanRefused(
            "No election is needed.",
            "Every partition is led by its first replica, or that one is out of sync.",
            "See who is out of sync: eosctl doctor",
        )
    return plan


def plan_election(snapshot: ClusterSnapshot, topic: str = "") -> ElectionPlan:
    """Plan a preferred election for a topic, or for all topics if it is empty."""
    return ElectionPlan(
        snapshot.cluster_id,
        tuple(
            info.partition
            for found in snapshot.topics
            if topic in ("", found.name)
            for info in found.partitions
            if is_displaced(info)
        ),
    )


async def _elect(client: Client, plan: ElectionPlan, permit: Permit) -> Verification[ChangeOutcome]:
    permit.use(plan)
    by_topic: dict[str, list[int]] = {}
    for partition in plan.partitions:
        by_topic.setdefault(partition.topic, []).append(partition.partition)
    wanted = [elect_leaders.TopicPartitions(topic, numbers) for topic, numbers in sorted(by_topic.items())]
    request = elect_leaders.ElectLeadersRequest(PREFERRED, wanted, client.config.request_timeout_ms)
    answer = await client.request(Role.CONTROLLER, ApiKey.ELECT_LEADERS, request, floor=1)
    if answer.error_code:
        raise error_for_code(answer.error_code, "ElectLeaders", api_key=ApiKey.ELECT_LEADERS)
    for result in answer.replica_election_results:
        for elected in result.partition_result:
            if elected.error_code not in _FINE:
                what = f"ElectLeaders for {result.topic}-{elected.partition_id}"
                raise error_for_code(elected.error_code, what, api_key=ApiKey.ELECT_LEADERS)
    return partial(_verify, client, plan)


async def _verify(client: Client, plan: ElectionPlan) -> ChangeOutcome:
    left: list[str] = []
    for attempt in range(ATTEMPTS):
        if attempt:
            await asyncio.sleep(PAUSE_MS / 1000)
        shape = await collect_shape(ReadOnly(client))
        found = {info.partition: info for topic in shape.value.topics for info in topic.partitions}
        left = [str(p) for p in plan.partitions if p not in found or is_displaced(found[p])]
        if not left:
            return ChangeOutcome(True, f"Led by its first replica: {count_text(len(plan.partitions), 'partition')}.")
    return ChangeOutcome(False, f"Not yet led by the first replica: {', '.join(left[:3])} ({len(left)} in all).")


ELECTION: Final = Action[ElectionPlan, ChangeOutcome](lambda plan: plan, _elect)
"""`send` raises BrokerError if the controller rejects the request, and AuthorizationDenied without ALTER on the
cluster. The verification waits until the metadata shows the new leaders."""
