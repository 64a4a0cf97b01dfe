"""The status of a cluster of real brokers, in the format of a sandbox's status, queried as a client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from eosctl.client import connect
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.errors import EosctlError
from eosctl.lab.apache.brokers import BrokerProcesses, BrokerState
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TransactionState
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.settings.clusters.client_resolution import resolve_client

_KINDS: Final = frozenset(
    {EvidenceKind.OFFSETS, EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS, EvidenceKind.QUORUM}
)
_AT_REST: Final = frozenset(
    {
        TransactionState.EMPTY,
        TransactionState.COMPLETE_COMMIT,
        TransactionState.COMPLETE_ABORT,
        TransactionState.DEAD,
    }
)
_PATIENCE_MS: Final = 3_000


async def describe_real_cluster(
    engine: BrokerProcesses, spec: SandboxSpec, now_ms: Callable[[], int]
) -> dict[str, Any]:
    """Describe a cluster as `eosctl.sandbox.status.describe_cluster` does.

    A leader's log end offset is unknown, since clients cannot query it. If no broker responds, only the processes are
    described.
    """
    brokers = engine.brokers()
    snapshot = await _look(engine, now_ms)
    serving = {broker.node_id for broker in snapshot.brokers} if snapshot is not None else set()
    quorum = snapshot.quorum if snapshot is not None else None
    running = {broker.broker_id: broker.state is not BrokerState.STOPPED for broker in brokers}
    return {
        "cluster_id": snapshot.cluster_id if snapshot is not None else "",
        "emulate": spec.kafka,
        "transaction_version": None if snapshot is None else _transaction_version(snapshot),
        "controller": None if quorum is None else quorum.leader_id,
        "controllers": [
            {
                "id": broker_id,
                "running": is_running,
                "active": quorum is not None and quorum.leader_id == broker_id,
                "epoch": None if quorum is None else quorum.leader_epoch,
            }
            for broker_id, is_running in running.items()
        ],
        "brokers": [
            {
                "id": broker.broker_id,
                "address": f"{broker.host}:{broker.port}",
                "running": running[broker.broker_id],
                "ready": broker.broker_id in serving and broker.state is BrokerState.RUNNING,
            }
            for broker in brokers
        ],
        "partitions": [] if snapshot is None else list(_partitions(snapshot)),
        "transactions": [] if snapshot is None else list(_transactions(snapshot)),
    }


async def _look(engine: BrokerProcesses, now_ms: Callable[[], int]) -> ClusterSnapshot | None:
    running = [broker for broker in engine.brokers() if broker.state is BrokerState.RUNNING]
    if not running:
        return None
    bootstrap = ",".join(f"{broker.host}:{broker.port}" for broker in running)
    config = resolve_client({}, bootstrap=bootstrap).config
    config = replace(config, connect_timeout_ms=1_000, request_timeout_ms=_PATIENCE_MS, timeout_ms=_PATIENCE_MS)
    observer = Observer(now_ms, second_look_after_ms=0)
    try:
        async with connect(config) as client:
            return await collect_snapshot(client, observer, _KINDS)
    except EosctlError:
        return None


def _transaction_version(snapshot: ClusterSnapshot) -> int | None:
    return next((found.finalized for found in snapshot.features if found.name == "transaction.version"), None)


def _partitions(snapshot: ClusterSnapshot) -> Iterator[dict[str, Any]]:
    opened = {
        where.partition: sum(producer.current_txn_start_offset is not None for producer in where.producers)
        for where in snapshot.producers
    }
    for info in (info for topic in snapshot.topics for info in topic.partitions):
        known = info.high_watermark is not None and info.last_stable_offset is not None
        offsets = {
            "high_watermark": info.high_watermark,
            "last_stable_offset": info.last_stable_offset,
            "log_end_offset": "?",
            "open_transactions": opened.get(info.partition, 0),
        }
        yield {
            "topic": info.partition.topic,
            "partition": info.partition.partition,
            "leader": -1 if info.leader_id is None else info.leader_id,
            "leader_epoch": info.leader_epoch,
            "replicas": list(info.replicas),
            "isr": list(info.isr),
            **(offsets if known else {}),
        }


def _transactions(snapshot: ClusterSnapshot) -> Iterator[dict[str, Any]]:
    for found in snapshot.transactions:
        if found.state in _AT_REST:
            continue
        yield {
            "transactional_id": found.transactional_id,
            "state": found.state,
            "producer_id": found.producer_id,
            "producer_epoch": found.producer_epoch,
            "coordinator": found.coordinator_id,
            "open_ms": 0 if found.start_time_ms is None else max(snapshot.captured_at_ms - found.start_time_ms, 0),
            "timeout_ms": found.timeout_ms,
            "partitions": sorted(map(str, found.partitions)),
        }
