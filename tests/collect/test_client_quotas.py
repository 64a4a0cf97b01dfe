"""The quotas of users and client ids are evidence, as the cluster has them."""

from __future__ import annotations

from pathlib import Path

from eosctl.client import connect
from eosctl.client.destinations import Role
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.sandbox.core import ClusterShape
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import alter_client_quotas as alter

KINDS = frozenset({EvidenceKind.CLIENT_QUOTAS})


async def limit(folder: Path) -> tuple[ClusterSnapshot, ClusterSnapshot]:
    """Set quotas of two entities, and take a snapshot before and after."""
    async with (
        simulate(ClusterShape(1), folder, seed=1) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        observer = Observer(simulation.now_ms)
        before = await collect_snapshot(client, observer, KINDS)
        rate = [alter.OpData("producer_byte_rate", 1024.0, False)]
        share = [alter.OpData("request_percentage", 50.0, False)]
        one = [alter.EntityData("user", "alice"), alter.EntityData("client-id", "pay")]
        entries = [
            alter.RequestEntryData([alter.EntityData("user", None)], rate),
            alter.RequestEntryData(one, share),
        ]
        await client.request(
            Role.CONTROLLER, ApiKey.ALTER_CLIENT_QUOTAS, alter.AlterClientQuotasRequest(entries, False)
        )
        return before, await collect_snapshot(client, observer, KINDS)


def test_quotas_are_read_from_the_cluster(tmp_path: Path) -> None:
    before, after = run_virtual(limit(tmp_path))
    assert before.client_quotas == ()
    assert not after.gaps
    assert [(str(quota), dict(quota.values)) for quota in after.client_quotas] == [
        ("client-id pay, user alice", {"request_percentage": 50.0}),
        ("user <default>", {"producer_byte_rate": 1024.0}),
    ]
