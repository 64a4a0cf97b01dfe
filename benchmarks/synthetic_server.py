"""Serves a synthetic cluster over the wire, a port for each broker, in a process of its own.

    python -m benchmarks.synthetic_server [--brokers 100] [--partitions 200000] [--ids 1000000] [--groups 50000]

Prints the bootstrap address and serves until its input ends.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from benchmarks.synthetic_cluster import BROKER, HOST, TOPIC, Shape, SyntheticCluster
from eosctl.client import connect
from eosctl.client.topics import ensure_topic
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing.sandbox_thread import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import FrameSplitter, decode_request, encode_response
from eosctl.wire.messages import describe_configs


class _Connection(asyncio.Protocol):
    def __init__(self, cluster: SyntheticCluster, broker_id: int) -> None:
        self._cluster, self._broker_id, self._frames = cluster, broker_id, FrameSplitter()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for frame in self._frames.feed(data):
            header, request = decode_request(frame)
            answer = self._cluster.answers[header.api_key](self._broker_id, request)
            self._transport.write(  # type: ignore[attr-defined]
                encode_response(header.api_key, header.api_version, header.correlation_id, answer)
            )


def _connection(clusters: Sequence[SyntheticCluster], broker_id: int) -> _Connection:
    return _Connection(clusters[0], broker_id)


async def _settings(bootstrap: str) -> dict[int, Sequence[describe_configs.DescribeConfigsResourceResult]]:
    """Return the settings of an embedded broker and of its transaction log's topic, with two in-sync replicas."""
    resource = describe_configs.DescribeConfigsResource
    async with connect(ClientConfig(parse_endpoints(bootstrap, "benchmark"))) as client:
        await ensure_topic(client, "any", partition_count=1, replica_count=1)
        request = describe_configs.DescribeConfigsRequest([resource(BROKER, "1", None)])
        broker = await client.request(1, ApiKey.DESCRIBE_CONFIGS, request)
        request = describe_configs.DescribeConfigsRequest([resource(TOPIC, "any", None)])
        topic = await client.request(1, ApiKey.DESCRIBE_CONFIGS, request)
    overridden = {"min.insync.replicas": "2", "default.replication.factor": "3"}
    return {
        kind: [
            replace(one, value=overridden[one.name]) if one.name in overridden else one
            for one in answer.results[0].configs
        ]
        for kind, answer in ((BROKER, broker), (TOPIC, topic))
    }


async def serve(shape: Shape) -> None:
    """Serve until the standard input ends."""
    loop = asyncio.get_running_loop()
    clusters: list[SyntheticCluster] = []
    made = [partial(_connection, clusters, broker_id) for broker_id in range(1, shape.brokers + 1)]
    servers = [await loop.create_server(connection, HOST, 0) for connection in made]
    ports = [server.sockets[0].getsockname()[1] for server in servers]
    settings = await asyncio.to_thread(_embedded_settings)
    clusters.append(SyntheticCluster(shape, ports, settings))
    gc.freeze()  # A collection over millions of names would keep clients waiting for seconds.
    print(",".join(f"{HOST}:{port}" for port in ports[:3]), flush=True)
    await asyncio.to_thread(sys.stdin.read)


def _embedded_settings() -> dict[int, Sequence[describe_configs.DescribeConfigsResourceResult]]:
    with SandboxThread() as sandbox:
        return asyncio.run(_settings(sandbox.bootstrap))


def main() -> None:
    """Serve a cluster of the given size."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in Shape()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value)
    asyncio.run(serve(Shape(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
