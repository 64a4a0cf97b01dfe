"""The embedded engine keeps the promises of the Engine interface."""

import asyncio
import random
import time

import pytest

from eosctl.client import connect
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.errors import EosctlError
from eosctl.lab.embedded import EmbeddedConfig, EmbeddedEngine
from eosctl.lab.engine import BrokerState, Capability, Engine, EngineError, UnsupportedFault
from eosctl.model.client_config import ClientConfig, Endpoint


def endpoints(engine):
    return tuple(Endpoint(broker.host, broker.port) for broker in engine.brokers())


async def initialize(engine, transactional_id):
    async with connect(ClientConfig(endpoints(engine)), chance=random.Random(1)) as client:
        await ensure_topic(client, "orders")
        producer = TransactionalProducer(client, transactional_id, now_ms=lambda: time.time_ns() // 1_000_000)
        await producer.init_transactions()


def test_brokers_keep_address_and_files_across_restarts(tmp_path):
    async def run():
        engine: Engine = EmbeddedEngine(EmbeddedConfig(broker_count=3), tmp_path)
        await engine.up()
        try:
            before = engine.bootstrap
            assert [broker.state for broker in engine.brokers()] == [BrokerState.RUNNING] * 3
            await initialize(engine, "app")
            await engine.kill(2)
            assert [broker.state for broker in engine.brokers()][1] is BrokerState.STOPPED
            await engine.restart(2)
            await engine.stop(3)
            await engine.restart(3)
            assert engine.bootstrap == before
            assert all(broker.state is BrokerState.RUNNING for broker in engine.brokers())
            await initialize(engine, "app")
            directories = engine.data_dirs()
            assert any((directory / "meta.properties").exists() for directory in directories.values())
        finally:
            await engine.down()
            await engine.down()

    asyncio.run(run())


def test_what_it_cannot_do_it_says(tmp_path):
    async def run():
        engine = EmbeddedEngine(EmbeddedConfig(), tmp_path)
        assert Capability.PAUSE not in engine.capabilities()
        assert engine.bootstrap == ""
        with pytest.raises(EngineError, match="not up"):
            await engine.kill(1)
        await engine.up()
        try:
            with pytest.raises(UnsupportedFault):
                await engine.pause(1)
            with pytest.raises(EosctlError, match="not running"):
                await engine.kill(7)
        finally:
            await engine.down()

    asyncio.run(run())
