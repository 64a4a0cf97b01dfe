"""A retried abort reaches the coordinator of 3.7.2 within the next transaction: it ends it, and nothing hangs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.producer_errors import TransactionFailed
from eosctl.client.transactions import TV1, end_txn
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.apache.conftest import FULL_DISK
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")
NAME = "late-abort"
WHERE = TopicPartition(NAME, 0)


async def play(bootstrap: str) -> str:
    """Abort a transaction, and again within the next one; return the error of the commit."""
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        producer = TransactionalProducer(client, NAME, now_ms=lambda: time.time_ns() // 1_000_000, dialect=TV1)
        await producer.init_transactions()
        await producer.send(WHERE, [OutgoingRecord(None, b"first")])
        await producer.abort()
        await producer.send(WHERE, [OutgoingRecord(None, b"second")])
        await end_txn(client, producer.identity, committed=False, dialect=TV1)
        try:
            while True:  # writes are accepted until the marker arrives
                await producer.write(WHERE, [OutgoingRecord(None, b"too late")])
        except TransactionFailed as refused:
            assert "INVALID_TXN_STATE" in refused.what
        try:
            await producer.commit()
        except TransactionFailed as failed:
            return failed.what
    return ""


def test_a_late_abort_leaves_nothing_open(
    apache_running: Callable[..., AbstractContextManager[ApacheNodes]], tmp_path: Path
) -> None:
    with apache_running("3.7.2", tmp_path / "kafka") as engine:
        bootstrap = engine.bootstrap
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(NAME, 1)])[NAME].result(60)
        assert "INVALID_TXN_STATE" in asyncio.run(play(bootstrap))
        hanging = eosctl("txn", "hanging", "--all", "-b", bootstrap, "-o", "json")
        found = eosctl("doctor", "-b", bootstrap, "-o", "json", "--exit-zero").json["items"]
        lived = eosctl("txn", "describe", NAME, "-b", bootstrap).out
    assert (hanging.code, hanging.json["items"]) == (0, [])
    assert [one["check_id"] for one in found if one["severity"] != "info" and one["check_id"] != FULL_DISK] == []
    assert lived.count("CompleteAbort") == 3  # the state now, and the ends of both transactions
