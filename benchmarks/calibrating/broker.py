"""The cost of transactions in a real broker: threads, heap, producer snapshots, and coordinator loading.

The cluster has one broker, which is stopped and restarted at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.calibrating.jvm import (
    NETWORK_THREAD,
    REQUEST_HANDLER,
    parse_coordinator_loads,
    read_live_object_bytes,
    read_thread_cpu_ms,
)
from eosctl.capacity.calibration import COUNT_TOLERANCE
from eosctl.capacity.memory import producer_heap_bytes, transaction_heap_bytes
from eosctl.capacity.record_sizes import producer_snapshot_bytes
from eosctl.capacity.recovery import coordinator_load_ms
from eosctl.capacity.threads import busy_network_threads, busy_request_handlers, requests_per_transaction
from eosctl.client import Client, connect
from eosctl.client.ports import WallClock
from eosctl.client.topics import ensure_topic
from eosctl.collect.cluster import collect_shape
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import ReadOnly
from eosctl.errors import EosctlError
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, Profile
from eosctl.model.calibration import CalibrationRow
from eosctl.model.capacity_plan import Unit
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints

BROKER: Final = 1
TRIAL: Final = "broker"
STATE_TOPIC: Final = "__transaction_state"
#: Shapes other than those with which the constants were measured: 10,000 open transactions of 3 partitions, threads
#: under 1 and 8 partitions at TV2, and coordinators of 35,000 and of 100,000 records.
OPEN_PARTITIONS: Final = 5
LOAD_PARTITIONS: Final = 3
RECORD_BYTES: Final = 300
_ENDED_MS: Final = 600_000
_LOADED_S: Final = 300
#: Tolerance of measured sizes.
HEAP_TOLERANCE: Final = 0.25
#: Tolerance of processor time, between a compiling JVM and one that shares two cores.
THREAD_FACTOR: Final = 2.5


async def measure_broker(
    engine: ApacheNodes, now_ms: WallClock, *, open_count: int = 3_000, transaction_count: int = 9_000
) -> tuple[CalibrationRow, ...]:
    """Measure a running one-node cluster of real Kafka, which is restarted.

    Args:
        engine: The cluster; it must be fresh.
        now_ms: The clock for records' timestamps.
        open_count: Open transactions for the heap.
        transaction_count: Transactions for the threads.

    Raises:
        EosctlError: A load failed.
        EngineError: The JVM does not respond.
    """
    config = ClientConfig(parse_endpoints(engine.bootstrap, "calibration"))
    record = engine.records()[BROKER]
    async with connect(config) as client:
        await ensure_topic(client, "loaded", partition_count=LOAD_PARTITIONS)
        await ensure_topic(client, "open", partition_count=OPEN_PARTITIONS)
        # The JVM compiles frequently executed code; a cold one costs twice as much.
        await _run(client, _load("warm", "loaded", LOAD_PARTITIONS, transaction_count // 2), now_ms)
        rows = [*await _threads(client, record, now_ms, transaction_count)]
        before = read_live_object_bytes(record)
        await _run(client, _left_open(open_count), now_ms)
        rows.append(_heap(open_count, read_live_object_bytes(record) - before))
        records = await _log_records(client)
    await engine.stop(BROKER)
    rows += _snapshots(engine.data_dirs()[BROKER])
    rows.append(await _reloaded(engine, config, records))
    return tuple(rows)


def _load(prefix: str, topic: str, partitions: int, count: int) -> Load:
    ids = 20
    return Load(
        Profile.TV1,
        topic,
        connection_count=2,
        ids_per_connection=ids // 2,
        partition_count=partitions,
        record_bytes=RECORD_BYTES,
        warm_up_ms=0,
        duration_ms=_ENDED_MS,
        transactions_per_id=max(1, count // ids),
        prefix=prefix,
    )


def _left_open(count: int) -> Load:
    return Load(
        Profile.OPEN1,
        "open",
        connection_count=4,
        ids_per_connection=count // 4,
        partition_count=OPEN_PARTITIONS,
        record_bytes=RECORD_BYTES,
        warm_up_ms=0,
        duration_ms=_ENDED_MS,
        transactions_per_id=1,
        prefix="open",
    )


async def _run(client: Client, load: Load, now_ms: WallClock) -> int:
    report = await run_load(client, load, now_ms=now_ms)
    if report.errors:
        raise EosctlError(
            f"The load {load.prefix} failed.",
            ", ".join(f"{name}: {count}" for name, count in report.errors.items()),
            "Check the broker's logs.",
        )
    return report.completed_count


async def _threads(client: Client, record: Path, now_ms: WallClock, count: int) -> Iterator[CalibrationRow]:
    before = read_thread_cpu_ms(record)
    done = await _run(client, _load("threads", "loaded", LOAD_PARTITIONS, count), now_ms)
    after = read_thread_cpu_ms(record)
    requests = requests_per_transaction(1, 1, 1, 1, offsets=False)
    # Each transaction has a batch and a marker in each partition, and three records of the transaction log.
    appends, written = 2 * LOAD_PARTITIONS + 3, LOAD_PARTITIONS * (RECORD_BYTES + 150)
    predicted = {
        REQUEST_HANDLER: busy_request_handlers(requests, appends, written) * 1000,
        NETWORK_THREAD: busy_network_threads(requests, written) * 1000,
    }

    def rows() -> Iterator[CalibrationRow]:
        for kind, each_ms in predicted.items():
            measured = (after[kind] - before[kind]) / done
            figure = f"processor time of {kind}s, each transaction"
            low, high = each_ms / THREAD_FACTOR, each_ms * THREAD_FACTOR
            yield CalibrationRow(TRIAL, figure, Unit.MILLISECONDS, low, measured, 0.0, high)

    return rows()


def _heap(open_count: int, grown: float) -> CalibrationRow:
    """Compare the heap; each producer has one batch in each partition."""
    predicted = transaction_heap_bytes(open_count, OPEN_PARTITIONS, 1)
    predicted += producer_heap_bytes(open_count * OPEN_PARTITIONS)[0]
    figure = f"heap of {open_count:,} open transactions of {OPEN_PARTITIONS} partitions"
    return CalibrationRow(TRIAL, figure, Unit.BYTES, predicted, grown, HEAP_TOLERANCE)


async def _log_records(client: Client) -> int:
    reader = ReadOnly(client)
    shape = await collect_shape(reader)
    topics = await collect_offsets(reader, shape.value.topics)
    return sum(p.high_watermark or 0 for topic in topics.value if topic.name == STATE_TOPIC for p in topic.partitions)


def _snapshots(data_dir: Path) -> list[CalibrationRow]:
    """Compare the snapshots of a controlled shutdown; the producers of the loads are known."""
    rows = []
    for topic, producers in (("open", None), ("loaded", 40)):
        sizes = [max(path.stat().st_size for path in part.glob("*.snapshot")) for part in data_dir.glob(f"{topic}-*")]
        if producers is None:
            # Each transaction left one record, and the log end offset counts them.
            producers = round(max(int(p.stem) for p in data_dir.glob(f"{topic}-0/*.snapshot")))
        predicted = len(sizes) * producer_snapshot_bytes(producers)
        figure = f"producer snapshots of {topic}, {producers:,} producers each"
        rows.append(CalibrationRow(TRIAL, figure, Unit.BYTES, predicted, sum(sizes), COUNT_TOLERANCE))
    return rows


async def _reloaded(engine: ApacheNodes, config: ClientConfig, records: int) -> CalibrationRow:
    """Restart the broker and compare its log lines about loading coordinators."""
    data_dir = engine.data_dirs()[BROKER]
    logs = sum(path.stat().st_size for path in data_dir.glob(f"{STATE_TOPIC}-*/*.log"))
    partitions = len(list(data_dir.glob(f"{STATE_TOPIC}-*")))
    server_log = next(path for path in engine.logs()[BROKER] if path.name == "server.log")
    written = len(server_log.read_text("utf-8"))
    await engine.restart(BROKER)
    async with connect(config) as client:
        await client.refresh_metadata([])
        async with asyncio.timeout(_LOADED_S):
            while True:
                loads = parse_coordinator_loads(server_log.read_text("utf-8")[written:])
                if loads.partition_count >= partitions:
                    break
                await asyncio.sleep(0.05)
    low, high = coordinator_load_ms(records, logs)
    figure = f"loading {records:,} records of the transaction log after a restart"
    return CalibrationRow(TRIAL, figure, Unit.MILLISECONDS, low, loads.duration_ms, 0.0, high)
