"""What the controller decides about a broker that was killed or stopped in order: as Kafka 4.3 does (KIP-966)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metadata.records import replay_batches
from eosctl.sandbox.ports import Emulation
from tests.apache.test_mounted import PATIENCE_S, wait
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

pytestmark = pytest.mark.apache

TOPIC = "orders"


def decisions(data: Path) -> list[dict[str, Any]]:
    """Return the changes of the topic's only partition, in order, as they are in a node's metadata log; ISRs sorted."""
    found: list[dict[str, Any]] = []
    topic_id = b""
    for path in sorted((data / "__cluster_metadata-0").glob("*.log")):
        for batch in replay_batches(path.read_bytes()):
            for record in batch.records:
                kind = type(record).__name__
                if kind == "TopicRecord" and record.name == TOPIC:
                    topic_id = record.topic_id
                elif kind == "PartitionChangeRecord" and record.topic_id == topic_id:
                    fields = ("isr", "leader", "leader_recovery_state", "eligible_leader_replicas", "last_known_elr")
                    change = {name: getattr(record, name) for name in fields}
                    found.append({k: sorted(v) if isinstance(v, (list, tuple)) else v for k, v in change.items()})
    nothing = {"leader": -2, "leader_recovery_state": -1}
    return [change for change in found if any(value != nothing.get(name) for name, value in change.items())]


def of_the_sandbox(folder: Path, *, clean: bool) -> list[dict[str, Any]]:
    shape = ClusterShape(1, Emulation("4.3"), fast=True)
    harness = Harness(folder, shape)
    EosClient(harness).create_topic(TOPIC)
    if clean:
        harness.core.stop_node(1, clean=True)
    else:
        harness.kill(1)
    harness.restart(1)
    harness.advance(2000)
    harness.close()
    return decisions(folder / "broker-1")


def of_kafka(engine: ApacheNodes, *, clean: bool) -> list[dict[str, Any]]:
    admin = AdminClient({"bootstrap.servers": engine.bootstrap})
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(PATIENCE_S)
    asyncio.run(engine.stop(1) if clean else engine.kill(1))
    asyncio.run(engine.restart(1))
    data = engine.data_dirs()[1]
    wait(lambda: bool(decisions(data)) and decisions(data)[-1]["leader"] == 1, "the broker leads again")
    return decisions(data)


@pytest.mark.parametrize("clean", [False, True], ids=["killed", "stopped"])
def test_the_same_is_decided(
    tmp_path: Path, apache_running: Callable[..., AbstractContextManager[ApacheNodes]], clean: bool
) -> None:
    ours = of_the_sandbox(tmp_path / "sandbox", clean=clean)
    with apache_running("4.3.1", tmp_path / "kafka") as engine:
        theirs = of_kafka(engine, clean=clean)
    assert ours == theirs
