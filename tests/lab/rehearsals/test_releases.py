"""A cluster between two releases: operations rejected until the last broker is upgraded, and after."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.errors import EosctlError
from eosctl.lab.rehearsals.clusters import HERE, RehearsalCluster, open_clusters
from eosctl.lab.rehearsals.rehearsal import parse_rehearsal
from eosctl.lab.rehearsals.steps.cluster import raise_feature, upgrade
from eosctl.lab.rehearsals.steps.transactions import write
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind
from eosctl.wire.records.batch import decode_records, iter_headers

OLD = """
format: eosctl/v1
runbook: rolling-restart
scenarios: [{name: old, cluster: {brokers: 2, release: "3.9"}, ends: {outcome: verified, step: after_all}}]
"""
# The record's frame, 1, and its type, before its version.
REGISTER_BROKER = bytes([1, 0])
CONTROLLER = 100


async def levels(cluster: RehearsalCluster, name: str) -> tuple[int | None, int, int]:
    """Return the finalized level of a feature, and what all brokers support."""
    snapshot = await collect_snapshot(cluster.client, Observer(cluster.now_ms), frozenset({EvidenceKind.FEATURES}))
    found = snapshot.feature(name)
    assert found is not None
    return found.finalized, found.min_supported, found.max_supported


def registrations(cluster: RehearsalCluster) -> list[int]:
    """Return the versions of the records with which brokers were registered, in their order."""
    log = cluster.inside.core.nodes[CONTROLLER].metadata_log.log
    data = log.store.read(0, 1 << 20, log.high_watermark)
    values = [
        record.value or b""
        for position, header in iter_headers(data)
        if not header.is_control
        for record in decode_records(data, header, position)
    ]
    return [value[2] for value in values if value.startswith(REGISTER_BROKER)]


def test_levels_wait_for_all_brokers_then_exclude_old_releases(tmp_path: Path) -> None:
    (story,) = parse_rehearsal(OLD, "test").scenarios

    async def run() -> None:
        async with open_clusters(story, tmp_path / "clusters") as clusters:
            cluster = clusters.named(HERE)
            await write(cluster, id="app")
            await upgrade(cluster, node=CONTROLLER)
            await upgrade(cluster, node=1)
            await write(cluster, id="app")
            assert await levels(cluster, "metadata.version") == (21, 7, 21)
            assert await levels(cluster, "transaction.version") == (0, 0, 0)
            with pytest.raises(EosctlError, match=r"Broker 2 does not support this feature\."):
                await raise_feature(cluster, feature="transaction.version", level=2)
            with pytest.raises(EosctlError, match="Broker 2 only supports versions 1-21"):
                await raise_feature(cluster, feature="metadata.version", level=30)

            await upgrade(cluster, node=2)
            await write(cluster, id="app")
            assert await levels(cluster, "metadata.version") == (21, 7, 30)
            # Brokers of both releases read them, regardless of the writer.
            assert set(registrations(cluster)) == {3}
            await raise_feature(cluster, feature="transaction.version", level=2)
            await raise_feature(cluster, feature="metadata.version", level=30)
            await write(cluster, id="app", times=2)
            assert await levels(cluster, "transaction.version") == (2, 0, 2)

            with pytest.raises(TimeoutError):
                await asyncio.wait_for(upgrade(cluster, node=2, release="3.9"), timeout=60)
            assert not cluster.inside.core.broker(2).is_ready
            cluster.inside.core.stop_node(2, clean=True)
            await upgrade_again(cluster)
            await write(cluster, id="app")
            assert registrations(cluster)[-1] == 4

    run_virtual(run())


async def upgrade_again(cluster: RehearsalCluster) -> None:
    cluster.inside.core.install(2, "4.3")
    node = cluster.inside.core.start_node(2)
    async with asyncio.timeout(60):
        while node.broker is None or not node.broker.is_ready:
            await asyncio.sleep(0.05)
