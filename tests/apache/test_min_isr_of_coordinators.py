"""A coordinator with too few in-sync replicas can neither abort nor complete; `txn describe` reports it."""

from __future__ import annotations

import asyncio

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic

from eosctl.lab.apache.nodes import ApacheNodes
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")
PATIENCE_S = 60
NAME = "short-of-replicas"


def require_in_sync(admin: AdminClient, count: int) -> None:
    """Set min.insync.replicas of the transaction log."""
    entry = ConfigEntry("min.insync.replicas", str(count), incremental_operation=AlterConfigOpType.SET)
    log = ConfigResource(ConfigResource.Type.TOPIC, "__transaction_state", incremental_configs=[entry])
    admin.incremental_alter_configs([log])[log].result(PATIENCE_S)


def test_the_shortage_is_named(apache_cluster: ApacheNodes) -> None:
    bootstrap = apache_cluster.bootstrap
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(NAME, 1, 3)])[NAME].result(PATIENCE_S)
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": NAME, "log_level": 0})
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    producer.produce(NAME, b"open")
    producer.flush(PATIENCE_S)
    described = ("txn", "describe", NAME, "-b", bootstrap)
    assert "replicas in sync" not in eosctl(*described).out
    require_in_sync(admin, 3)
    away = apache_cluster.brokers()[-1].broker_id
    asyncio.run(apache_cluster.stop(away))
    try:
        while "replicas in sync" not in (text := " ".join(eosctl(*described).out.split())):
            pass
    finally:
        asyncio.run(apache_cluster.restart(away))
        require_in_sync(admin, 2)
    assert "2 of 3 replicas in sync, min.insync.replicas=3" in text
    assert "__transaction_state-" in text
    producer.abort_transaction(PATIENCE_S)
