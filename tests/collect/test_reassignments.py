"""A move that is under way is seen as one, and its target is not called out of sync."""

from __future__ import annotations

import asyncio
from pathlib import Path

from eosctl.checks.declaration import Case
from eosctl.checks.operations.replicas_out_of_sync import replicas_out_of_sync
from eosctl.client import connect
from eosctl.client.destinations import Role
from eosctl.client.topics import ensure_topic
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.network import FaultAction, LinkFault
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import alter_partition_reassignments as alter

KINDS = frozenset({EvidenceKind.TOPICS, EvidenceKind.REASSIGNMENTS})


async def move(folder: Path) -> tuple[ClusterSnapshot, ClusterSnapshot]:
    """Move a partition to a broker that cannot copy it yet, and look before and after."""
    async with (
        simulate(ClusterShape(3), folder, seed=1) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        topic = await ensure_topic(client, "orders", partition_count=1, replica_count=1)
        observer = Observer(simulation.now_ms)
        before = await collect_snapshot(client, observer, KINDS)
        (info,) = topic.partitions
        target = next(broker for broker in (1, 2, 3) if broker not in info.replicas)
        cut = LinkFault(FaultAction.DROP, source=target, destination=info.replicas[0])
        simulation.core.network.add_fault(cut)
        part = alter.ReassignablePartition(0, [target])
        request = alter.AlterPartitionReassignmentsRequest(10_000, True, [alter.ReassignableTopic("orders", [part])])
        await client.request(Role.CONTROLLER, ApiKey.ALTER_PARTITION_REASSIGNMENTS, request)
        await asyncio.sleep(0.2)
        return before, await collect_snapshot(client, observer, KINDS)


def test_a_move_under_way_is_information(tmp_path: Path) -> None:
    before, during = run_virtual(move(tmp_path))
    assert before.reassignments == ()
    (found,) = during.reassignments
    assert (str(found.partition), len(found.adding), len(found.removing)) == ("orders-0", 1, 1)
    assert not during.gaps
    (problem,) = replicas_out_of_sync.evaluate(Case(during))
    assert (problem.severity, problem.resource.name) == (Severity.INFO, str(found.adding[0]))
