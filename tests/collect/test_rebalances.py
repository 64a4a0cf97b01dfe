"""Groups in a rebalance are watched until they leave it, or for longer than a normal one takes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from eosctl.client.deadline import Deadline
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.collect.rebalances import collect_rebalances
from eosctl.errors import ClusterUnreachable
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.snapshot import Group, GroupMember
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from tests.collect.conftest import ScriptedCluster

MEMBER = GroupMember("a", "app-1", "h")
GROUP = Group("app", 1, "PreparingRebalance", "consumer", "classic", (MEMBER,))


def watch(cluster: ScriptedCluster, *groups: Group, timeout_ms: int = 60_000) -> Probed[tuple[Group, ...]]:
    async def collect() -> Probed[tuple[Group, ...]]:
        loop = asyncio.get_running_loop()
        reader = ReadOnly(cluster, Deadline.after(timeout_ms))
        return await collect_rebalances(reader, groups, lambda: int(loop.time() * 1000))

    return run_virtual(collect())


def states(cluster: ScriptedCluster, *names: str) -> None:
    """Describe every group in one state after the other; the last one remains."""
    shown: Iterator[str] = chain(names, repeat(names[-1]))

    def described(request: DescribeGroupsRequest) -> DescribeGroupsResponse:
        state = next(shown)
        return DescribeGroupsResponse(
            groups=[DescribedGroup(group_id=name, group_state=state) for name in request.groups]
        )

    cluster.on(1, ApiKey.DESCRIBE_GROUPS, described)


def test_a_rebalance_that_does_not_end_lasts_for_the_whole_watch(cluster: ScriptedCluster) -> None:
    states(cluster, "PreparingRebalance", "CompletingRebalance", "PreparingRebalance")
    found = watch(cluster, GROUP)
    assert (found.value[0].rebalancing_for_ms or 0) >= 6_000
    assert found.gaps == ()


def test_a_rebalance_that_ends_is_not_watched_further(cluster: ScriptedCluster) -> None:
    states(cluster, "PreparingRebalance", "Stable")
    found = watch(cluster, GROUP)
    assert found.value[0].rebalancing_for_ms == 0
    assert len(cluster.asked) == 2


@pytest.mark.parametrize("state", ["Stable", "Empty", "Dead"])
def test_groups_at_rest_cost_no_request_and_no_time(cluster: ScriptedCluster, state: str) -> None:
    resting = Group("app", 1, state, "consumer", "classic", (MEMBER,))
    without = Group("new", 1, "PreparingRebalance", "consumer", "classic")
    found = watch(cluster, resting, without)
    assert found == Probed((resting, without))
    assert cluster.asked == []


def test_too_little_time_is_a_gap(cluster: ScriptedCluster) -> None:
    states(cluster, "PreparingRebalance")
    found = watch(cluster, GROUP, timeout_ms=2_500)
    assert [(gap.kind, gap.subject, gap.reason) for gap in found.gaps] == [
        (EvidenceKind.REBALANCES, "app", GapReason.TIMED_OUT)
    ]


def test_a_group_whose_coordinator_is_lost_is_a_gap(cluster: ScriptedCluster) -> None:
    cluster.on(1, ApiKey.DESCRIBE_GROUPS, ClusterUnreachable("gone"))
    found = watch(cluster, GROUP)
    assert {gap.kind for gap in found.gaps} == {EvidenceKind.REBALANCES}
    assert found.value[0].rebalancing_for_ms == 0


def test_a_state_that_is_not_known_is_a_gap(cluster: ScriptedCluster) -> None:
    found = watch(cluster, Group("app", 1, "Hibernating", "consumer", "classic", (MEMBER,)))
    assert [(gap.subject, gap.reason) for gap in found.gaps] == [("app", GapReason.UNSUPPORTED)]
    assert "'Hibernating'" in found.gaps[0].detail
