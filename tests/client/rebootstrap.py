"""A client whose broker's address has come to belong to another broker (KIP-1242), on any cluster of 4.4."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from eosctl.client import Client, connect
from eosctl.model.client_config import ClientConfig, Endpoint
from tests.client.recording import RecordingConnector


def endpoint(bootstrap: str) -> Endpoint:
    host, port = bootstrap.split(",")[0].rsplit(":", 1)
    return Endpoint(host, int(port))


@asynccontextmanager
async def client_of_lost_address(wire: RecordingConnector, own: str, other: str) -> AsyncIterator[Client]:
    """Open a client of one cluster; then its broker's connection ends, and its address leads to another cluster."""
    async with connect(ClientConfig(bootstrap=(endpoint(own),)), connector=wire) as client:
        (broker,) = client.cluster.brokers
        assert (await client.versions(broker.node_id)).apis
        wire.detours = {broker.endpoint: endpoint(other)}
        wire.drop()
        yield client
