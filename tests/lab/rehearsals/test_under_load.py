"""From Kafka 3.9 to 4.3 on the same files while an application commits: nothing is lost, nothing comes twice.

A gate that does not hold stops the next turn, and levels are finalized last.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

from eosctl.client import connect
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.errors import EosctlError
from eosctl.lab.rehearsals.clusters import HERE, RehearsalCluster, RehearsalClusters, open_clusters
from eosctl.lab.rehearsals.rehearsal import RehearsalScenario, parse_rehearsal
from eosctl.lab.rehearsals.rehearse import rehearse_at
from eosctl.lab.rehearsals.steps.cluster import upgrade
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.transaction import TopicPartition
from eosctl.runbooks.load import find_runbook

SCENARIOS = """
format: eosctl/v1
runbook: rolling-restart
scenarios:
  - name: turn
    cluster: {brokers: 3, release: "3.9"}
    inputs: {broker: BROKER}
    people: [{at: restart, does: [{do: upgrade, node: BROKER}]}]
    patience: 2m
    ends: {outcome: verified, step: after_all}
  - name: gate
    inputs: {broker: 2}
    given: [{do: kill_broker, broker: 3}, {do: pass_time, ms: 15000}]
    ends: {outcome: manual, step: not_now}
    afterwards: [{do: start_killed}, {do: pass_time, ms: 15000}]
  - name: too early
    ends: {outcome: manual, step: too_old}
  - name: metadata
    ends: {outcome: verified, step: last}
  - name: finalize
    ends: {outcome: verified, step: raise}
"""
ORDERS = TopicPartition("orders", 0)


class Application:
    """Commits a record a transaction, and knows of each whether it was acknowledged."""

    def __init__(self, cluster: RehearsalCluster) -> None:
        self._cluster = cluster
        self.acknowledged: set[int] = set()
        self.uncertain: set[int] = set()

    async def run(self) -> None:
        cluster, number = self._cluster, 0
        async with connect(cluster.config, connector=cluster.connector, chance=random.Random(3)) as client:
            await ensure_topic(client, ORDERS.topic)
            while True:
                producer = TransactionalProducer(client, "shop", now_ms=cluster.now_ms)
                try:
                    await producer.init_transactions()
                    while True:
                        number += 1
                        self.uncertain.add(number)
                        await producer.send(ORDERS, [OutgoingRecord(None, b"%d" % number)])
                        await producer.commit()
                        self.uncertain.discard(number)
                        self.acknowledged.add(number)
                        await asyncio.sleep(0.5)
                except EosctlError:
                    await asyncio.sleep(0.5)


def scenario_named(name: str, broker: int = 1) -> RehearsalScenario:
    (story,) = [
        one for one in parse_rehearsal(SCENARIOS.replace("BROKER", str(broker)), "test").scenarios if one.name == name
    ]
    return story


async def upgrade_all(clusters: RehearsalClusters, directory: Path) -> Application:
    """Upgrade the controller, each broker after its gates, and finally the finalized features."""
    cluster = clusters.named(HERE)
    application = Application(cluster)
    cluster.in_background(application.run())
    await asyncio.sleep(5)
    await upgrade(cluster, node=100)
    for number, (runbook, story) in enumerate(
        [
            ("rolling-restart", scenario_named("turn", 1)),
            ("rolling-restart", scenario_named("gate")),
            ("rolling-restart", scenario_named("turn", 2)),
            ("transaction-version-upgrade", scenario_named("too early")),
            ("rolling-restart", scenario_named("turn", 3)),
            ("metadata-version-upgrade", scenario_named("metadata")),
            ("transaction-version-upgrade", scenario_named("finalize")),
        ]
    ):
        folder = directory / str(number)
        folder.mkdir()
        done = await rehearse_at(clusters, find_runbook(runbook).book, story, folder)
        assert done.failure == "", (number, done)
    await asyncio.sleep(5)
    return application


def test_an_upgrade_of_every_broker_under_load_loses_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_clusters(scenario_named("turn"), tmp_path / "clusters") as clusters:
            application = await upgrade_all(clusters, tmp_path)
            cluster = clusters.named(HERE)
            for task in cluster.tasks:
                task.cancel()
            await asyncio.gather(*cluster.tasks, return_exceptions=True)
            await asyncio.sleep(120)  # what was cut off ends at its timeout
            reader = await Reader.open(cluster.client, [ORDERS], isolation=IsolationLevel.READ_COMMITTED)
            found = (await reader.drain(100_000)).get(ORDERS, [])
            seen = Counter(int(record.value or b"0") for record in found)
            assert len(application.acknowledged) > 20
            assert {number for number, count in seen.items() if count > 1} == set()
            assert application.acknowledged <= seen.keys() <= application.acknowledged | application.uncertain

    run_virtual(run())
