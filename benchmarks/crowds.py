"""Many of one kind at a time on the sandbox, real Kafka, and kfake: topics, members of a group, tiny records, bytes.

    python -m benchmarks.crowds [--engine sandbox] [--rounds 3] [--topics 100] [--partitions 50] [--members 1000]

Each is a cluster of one broker. The clock of the client and the processor time of the server, per step and engine, the
median of the rounds; engines alternate. "Others wait" is the longest time that another client waits for the answer to
ApiVersions while a batch of tiny records is appended. Members are eosctl's own, in one process; records of the last
step are written by librdkafka.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from random import Random
from statistics import median
from typing import Final, NamedTuple

import confluent_kafka
import psutil

from benchmarks.peers import rivals
from benchmarks.peers.measuring import Rival
from eosctl.client import connect
from eosctl.client.client import Client
from eosctl.client.group_member import GroupMember
from eosctl.client.outcome import error_for_code
from eosctl.client.topics import ensure_topic
from eosctl.errors import EosctlError
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.metadata import MetadataRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record

REPLICAS: Final = 1
PROBE_S: Final = 0.002
WRITTEN_BYTES: Final = 300_000_000
VALUE: Final = bytes(range(256)) * 4
TIMEOUT_MS: Final = 120_000
REBALANCE_MS: Final = 60_000


class Crowd(NamedTuple):
    """The size of each step."""

    topics: int
    partitions: int
    members: int
    tiny_records: int


class Figure(NamedTuple):
    """The client's clock and the server's processor time, in seconds; `waited_ms` of another client, if measured."""

    wall_s: float
    server_s: float
    waited_ms: float | None = None


Step = Callable[[Rival, Crowd, int], Awaitable[float | None]]


def config_of(rival: Rival) -> ClientConfig:
    return ClientConfig(
        parse_endpoints(rival.bootstrap, "benchmark"), timeout_ms=TIMEOUT_MS, request_timeout_ms=TIMEOUT_MS
    )


async def create_topics(rival: Rival, crowd: Crowd, turn: int) -> None:
    """Create topics in one request each, and wait until all partitions have a leader."""
    async with connect(config_of(rival)) as client:
        for number in range(crowd.topics):
            topic = CreatableTopic(f"crowd-{turn}-{number}", crowd.partitions, REPLICAS)
            await client.request(client.cluster.brokers[0].node_id, ApiKey.CREATE_TOPICS, CreateTopicsRequest([topic]))
        while not await _all_led(client, crowd):
            await asyncio.sleep(0.01)


async def _all_led(client: Client, crowd: Crowd) -> bool:
    answer = await client.request(client.cluster.brokers[0].node_id, ApiKey.METADATA, MetadataRequest(None))
    led = sum(one.leader_id >= 0 for topic in answer.topics if topic.name[:6] == "crowd-" for one in topic.partitions)
    return led >= crowd.topics * crowd.partitions


async def rebalance(rival: Rival, crowd: Crowd, turn: int) -> None:
    """Let all members join one group, then one more, for which all join again."""
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connect(config_of(rival))) for _ in range(crowd.members + 1)]
        members = [GroupMember(client, f"crowd-{turn}", REBALANCE_MS) for client in clients]
        lives = [asyncio.create_task(member.live()) for member in members[:-1]]
        await asyncio.gather(*(member.joined.wait() for member in members[:-1]))
        for member in members:
            member.joined.clear()
        lives.append(asyncio.create_task(members[-1].live()))
        await asyncio.gather(*(member.joined.wait() for member in members))
        for life in lives:
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)


async def write_tiny_records(rival: Rival, crowd: Crowd, turn: int) -> float:
    """Produce one compressed batch of tiny records; return the longest wait of another client, in milliseconds."""
    name = f"tiny-{turn}"
    records = [Record(0, 0, None, b"")] * crowd.tiny_records
    batch = await asyncio.to_thread(encode_batch, records, codec=Compression.ZSTD)
    async with connect(config_of(rival)) as client, connect(config_of(rival)) as other:
        large = {"max.message.bytes": str(64 << 20)}
        topic = await ensure_topic(client, name, partition_count=1, replica_count=REPLICAS, settings=large)
        await other.request(topic.partitions[0].leader_id or 0, ApiKey.API_VERSIONS, ApiVersionsRequest("bench", "1"))
        request = ProduceRequest(
            None, -1, 30_000, [TopicProduceData(name, partition_data=[PartitionProduceData(0, batch)])]
        )
        leader = topic.partitions[0].leader_id or 0
        written = asyncio.create_task(client.request(leader, ApiKey.PRODUCE, request, cap=9))
        longest = 0.0
        gc.freeze()  # The client's own collection of what made the batch does not count as a wait for the server.
        while not written.done():
            asked = time.perf_counter()
            await other.request(leader, ApiKey.API_VERSIONS, ApiVersionsRequest("bench", "1"))
            longest = max(longest, time.perf_counter() - asked)
            await asyncio.sleep(PROBE_S)
        code = (await written).responses[0].partition_responses[0].error_code
        if code:
            raise error_for_code(code, "Appending tiny records")
    return longest * 1000


async def write_bytes(rival: Rival, _: Crowd, turn: int) -> None:
    """Write 300 MB of records of 1 KiB with acks=all."""
    name = f"bytes-{turn}"
    async with connect(config_of(rival)) as client:
        await ensure_topic(client, name, partition_count=1, replica_count=REPLICAS)
    await asyncio.to_thread(_write, rival.bootstrap, name)


def _write(bootstrap: str, topic: str) -> None:
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 5, "queue.buffering.max.kbytes": 1 << 20}
    )
    for _ in range(WRITTEN_BYTES // len(VALUE)):
        while True:
            try:
                producer.produce(topic, VALUE, partition=0)
            except BufferError:
                producer.poll(0.01)
            else:
                break
        producer.poll(0)
    if producer.flush(120):
        raise EosctlError("Records were not written.", "The broker did not acknowledge them.", "Allow more time.")


STEPS: Final[dict[str, Step]] = {
    "topics": create_topics,
    "members": rebalance,
    "tiny records": write_tiny_records,
    "300 MB": write_bytes,
}


def measure(step: Step, rival: Rival, crowd: Crowd, turn: int) -> Figure | str:
    """Run a step; return its figure, or why it failed."""
    server = psutil.Process(rival.pid)
    before, began = server.cpu_times(), time.perf_counter()
    try:
        waited_ms = asyncio.run(_run(step, rival, crowd, turn))
    except EosctlError as error:
        return error.what
    wall_s, after = time.perf_counter() - began, server.cpu_times()
    return Figure(wall_s, after.user + after.system - before.user - before.system, waited_ms)


async def _run(step: Step, rival: Rival, crowd: Crowd, turn: int) -> float | None:
    return await step(rival, crowd, turn)


def row(step: str, engine: str, figures: Sequence[Figure | str]) -> str:
    """Return a row of the table: the median of the runs that did not fail."""
    good = [one for one in figures if isinstance(one, Figure)]
    if not good:
        return f"| {step} | {engine} | failed: {figures[0]} | | |"
    waits = [one.waited_ms for one in good if one.waited_ms is not None]
    waited = f"{median(waits):.0f} ms" if waits else ""
    wall_s, server_s = median(one.wall_s for one in good), median(one.server_s for one in good)
    return f"| {step} | {engine} | {wall_s:.2f} s | {server_s:.2f} s | {waited} |"


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", choices=rivals.ENGINES)
    parser.add_argument("--step", action="append", choices=[*STEPS])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kafka", default="4.3.1")
    for name, value in Crowd(100, 50, 1_000, 2_000_000)._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value)
    options = parser.parse_args()
    crowd = Crowd(options.topics, options.partitions, options.members, options.tiny_records)
    engines = options.engine or [name for name in rivals.ENGINES if not rivals.missing_for(name)]
    found: dict[tuple[str, str], list[Figure | str]] = defaultdict(list)
    with rivals.workplace() as directory:
        for turn in range(options.rounds):
            for engine in engines:
                with ExitStack() as stack:
                    place = directory / f"{engine}-{turn}"
                    rival = stack.enter_context(rivals.running(engine, place, options.kafka, Random()))
                    for name in options.step or STEPS:
                        figure = measure(STEPS[name], rival, crowd, turn)
                        print(row(name, engine, [figure]), file=sys.stderr)
                        found[name, engine].append(figure)
    print("| Step | Engine | Clock | Server | Others wait |\n|---|---|---:|---:|---:|")
    for (name, engine), figures in sorted(found.items()):
        print(row(name, engine, figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
