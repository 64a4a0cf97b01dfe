"""A partition with a permanently lost last leader: the controller decides as Kafka's does (KIP-704, KIP-966)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.create_topics import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.apache.test_broker_shutdowns import decisions
from tests.apache.test_mounted import PATIENCE_S, wait
from tests.sandbox.group.migration_members import Client
from tests.sandbox.harness import Harness

pytestmark = pytest.mark.apache

#: Both periodic elections soon, and a session that ends soon.
SETTINGS = {
    "unclean.leader.election.interval.ms": "2000",
    "leader.imbalance.check.interval.seconds": "5",
    "broker.heartbeat.interval.ms": "1000",
    "broker.session.timeout.ms": "4000",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
TOPIC = CreateTopicsRequest(
    [CreatableTopic("orders", -1, -1, [CreatableReplicaAssignment(0, [1, 2])], [])], 10_000, False
)
UNCLEAN = "unclean.leader.election.enable"


def of_the_sandbox(folder: Path, release: str) -> list[dict[str, Any]]:
    harness = Harness(folder, ClusterShape(3, Emulation(release), settings=SETTINGS))
    assert not harness.request(3, ApiKey.CREATE_TOPICS, 5, TOPIC).topics[0].error_code
    harness.advance(1000)
    harness.core.stop_node(2, clean=True)
    harness.advance(5000)
    harness.kill(1)
    harness.core.start_node(2)
    harness.advance(10_000)
    allowed = AlterConfigsResource(2, "orders", [AlterableConfig(UNCLEAN, 0, "true")])
    answer = harness.request(3, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, IncrementalAlterConfigsRequest([allowed], False))
    assert not answer.responses[0].error_code
    harness.advance(4000)
    harness.core.start_node(1)
    harness.advance(10_000)
    harness.close()
    return decisions(folder / "broker-3")


def of_kafka(engine: ApacheNodes) -> list[dict[str, Any]]:
    async def stop_both() -> None:
        """End broker 2 in order, then kill broker 1, the only one in sync; only 2 comes back."""
        await engine.stop(2)
        await asyncio.sleep(SESSION_S)
        await engine.kill(1)
        await engine.restart(2)

    data = engine.data_dirs()[3]

    def leader() -> int | None:
        return next((change["leader"] for change in reversed(decisions(data)) if change["leader"] != -2), None)

    with Client(engine.bootstrap.split(",")[2]) as client:
        assert not client.ask(ApiKey.CREATE_TOPICS, 5, TOPIC).topics[0].error_code
    asyncio.run(stop_both())
    wait(lambda: leader() == -1, "the partition has no leader")
    admin = AdminClient({"bootstrap.servers": engine.bootstrap})
    entry = ConfigEntry(UNCLEAN, "true", incremental_operation=AlterConfigOpType.SET)
    topic = ConfigResource(ConfigResource.Type.TOPIC, "orders", incremental_configs=[entry])
    admin.incremental_alter_configs([topic])[topic].result(PATIENCE_S)
    wait(lambda: leader() == 2, "broker 2 leads")
    asyncio.run(engine.restart(1))
    wait(lambda: leader() == 1, "broker 1 leads again")
    return decisions(data)


SESSION_S = 5


@pytest.mark.parametrize("version", [pytest.param("3.9.2", marks=pytest.mark.long), "4.3.1"])
def test_the_same_is_decided(
    tmp_path: Path, apache_running: Callable[..., AbstractContextManager[ApacheNodes]], version: str
) -> None:
    ours = of_the_sandbox(tmp_path / "sandbox", version[:3])
    with apache_running(version, tmp_path / "kafka", SETTINGS, node_count=3) as engine:
        theirs = of_kafka(engine)
    assert ours == theirs
    assert [change["leader_recovery_state"] for change in theirs if change["leader_recovery_state"] >= 0] == [1, 0]
