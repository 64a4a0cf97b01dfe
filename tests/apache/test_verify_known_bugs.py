"""Known bugs on real brokers: the verifier's and the sandbox's statements hold."""

from __future__ import annotations

import asyncio

import pytest

from eosctl.client.ports import Connector
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.proxy.proxy import FaultProxy
from eosctl.lab.scenarios.engines import ApacheEngine
from eosctl.lab.scenarios.load import library
from eosctl.lab.scenarios.player import play_script
from eosctl.model.client_config import ClientConfig
from eosctl.sandbox.faults.order import FaultOrder
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.apache.test_scenario_files import under_own_names


class ProxiedEngine:
    """Real Kafka behind a proxy, which does to its clients' streams what a network may do."""

    connector: Connector | None = None

    def __init__(self, engine: ApacheNodes, proxy: FaultProxy) -> None:
        self.name = f"{engine.name} behind a proxy"
        self.config = ClientConfig(parse_endpoints(proxy.bootstrap, "the proxy"))
        self.now_ms = system_now_ms
        self._faults = proxy.faults

    async def inject(self, order: FaultOrder) -> None:
        await self._faults.inject(order)

    async def heal(self) -> None:
        await self._faults.heal()

    async def advance(self, duration_ms: float) -> None:
        await asyncio.sleep(duration_ms / 1000)


@pytest.mark.parametrize("name", ["kafka-17754", "kafka-17754-refused"])
def test_a_late_end_txn_harms_only_transactions_below_version_5(apache_4_3: ApacheNodes, name: str) -> None:
    async def scenario() -> list[str]:
        config = ClientConfig(parse_endpoints(apache_4_3.bootstrap, "the engine"))
        async with FaultProxy(config) as proxy:
            verdict = await play_script(under_own_names(library()[name]), ProxiedEngine(apache_4_3, proxy))
        assert verdict.expectations
        return [str(one) for one in verdict.expectations if not one.holds]

    assert asyncio.run(scenario()) == []


def test_the_marker_of_a_partition_without_a_leader_is_skipped(apache_cluster: ApacheNodes) -> None:
    script = under_own_names(library()["kafka-20734"])
    verdict = asyncio.run(play_script(script, ApacheEngine(apache_cluster, system_now_ms)))
    assert verdict.expectations
    assert [str(one) for one in verdict.expectations if not one.holds] == []
