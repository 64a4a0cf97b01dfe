"""The controller of a cluster is the leader of its quorum, not the broker that metadata names."""

from __future__ import annotations

from pathlib import Path

from eosctl.client import connect
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind
from eosctl.sandbox.core import ClusterShape

WITH_QUORUM = frozenset({EvidenceKind.TOPICS, EvidenceKind.QUORUM})


async def controllers(folder: Path, kinds: frozenset[EvidenceKind]) -> set[int | None]:
    """Return the controllers of several captures; each is preceded by metadata from some broker."""
    async with (
        simulate(ClusterShape(3), folder, seed=1) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        observer = Observer(simulation.now_ms)
        found = [await collect_snapshot(client, observer, kinds) for _ in range(6)]
        assert not any(snapshot.gaps for snapshot in found)
        brokers = {broker.node_id for broker in found[0].brokers}
        assert brokers.isdisjoint(simulation.core.controller_ids)
        return {snapshot.controller_id for snapshot in found}


def test_every_capture_names_the_leader_of_the_quorum(tmp_path: Path) -> None:
    assert run_virtual(controllers(tmp_path, WITH_QUORUM)) == {100}


def test_without_the_quorum_the_controller_is_unknown(tmp_path: Path) -> None:
    assert run_virtual(controllers(tmp_path, WITH_QUORUM - {EvidenceKind.QUORUM})) == {None}
