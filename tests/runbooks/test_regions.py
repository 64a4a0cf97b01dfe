"""A fail-over between two clusters: what a mirror carries over, what it does not, and the runbook that says so."""

from __future__ import annotations

import asyncio

from confluent_kafka import Consumer

from eosctl.client import connect
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.model.client_config import ClientConfig
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing import SandboxThread
from tests.runbooks.conftest import MANUAL, VERIFIED, item_of, run
from tests.runbooks.test_groups import ORDERS, commit, open_transaction


async def mirror(source: str, target: str) -> int:
    """Copy what is committed, as MirrorMaker with read_committed does, and return how many records."""
    async with connect(ClientConfig(parse_endpoints(source, "test"))) as here:
        reader = await Reader.open(here, [ORDERS], isolation=IsolationLevel.READ_COMMITTED)
        found = (await reader.drain(10_000)).get(ORDERS, [])
    async with connect(ClientConfig(parse_endpoints(target, "test"))) as there:
        await ensure_topic(there, ORDERS.topic)
        producer = TransactionalProducer(there, "mirror", now_ms=system_now_ms)
        await producer.init_transactions()
        await producer.send(ORDERS, [OutgoingRecord(record.key, record.value) for record in found])
        await producer.commit()
    return len(found)


def test_a_region_is_lost_and_the_group_continues_elsewhere() -> None:
    with SandboxThread(fast=False) as second:
        with SandboxThread(fast=False) as first:

            async def before() -> None:
                async with open_transaction(first.bootstrap):
                    await commit(first.bootstrap, "app", 9)
                    # The second record is written and not committed: no mirror takes it.
                    assert await mirror(first.bootstrap, second.bootstrap) == 1

            asyncio.run(before())
        # Its transactional id is unknown there, and so is what it had open.
        known = run(second.bootstrap, "transaction-timeout", "-i", "transactional_id=mover")
        assert item_of(known)["step"] == "unknown"
        group = ("-i", "group=app", "--yes")
        handed = run(second.bootstrap, "region-failover", *group)
        assert (handed.code, item_of(handed)["step"]) == (MANUAL, "old_region"), handed.err
        resume = ("--yes", "--resume", item_of(handed)["run"])

        missing = run(second.bootstrap, "region-failover", *resume)
        assert (missing.code, item_of(missing)["step"]) == (MANUAL, "translate"), missing.err
        asyncio.run(commit(second.bootstrap, "app", 9))  # the other cluster's number
        copied = run(second.bootstrap, "region-failover", *resume)
        assert (copied.code, item_of(copied)["step"]) == (MANUAL, "other_book"), copied.err
        moved = run(second.bootstrap, "offsets-out-of-range", *group, "--confirm", "app")
        assert moved.code == VERIFIED, moved.err
        asyncio.run(commit(second.bootstrap, "app", 0))  # translated: the record was not processed there
        ready = run(second.bootstrap, "region-failover", *resume)
        assert (ready.code, item_of(ready)["step"]) == (MANUAL, "start"), ready.err

        consumer = Consumer({"bootstrap.servers": second.bootstrap, "group.id": "app", "enable.auto.commit": False})
        try:
            consumer.subscribe([ORDERS.topic])
            record = consumer.poll(60)
            assert record is not None
            assert record.value() == b"done"
            done = run(second.bootstrap, "region-failover", *resume)
            assert (done.code, item_of(done)["outcome"]) == (VERIFIED, "verified"), done.err
        finally:
            consumer.close()
