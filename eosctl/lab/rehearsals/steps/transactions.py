"""Steps of transactional applications, and faults of their transactions."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import Final

from eosctl.actions.abort import Target, plan_abort
from eosctl.actions.marker import MARKER
from eosctl.actions.protocol import Attempt, carry_out
from eosctl.analysis.fencing import ADMIN_FENCE_TIMEOUT_MS
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import (
    TV1,
    GroupIdentity,
    OffsetToCommit,
    commit_offsets_in_txn,
    init_idempotent_producer,
    init_producer_id,
    produce,
    wait_until_ended,
)
from eosctl.collect.collector import EVERYTHING, Observer, collect_snapshot
from eosctl.errors import EosctlError, PlanRefused
from eosctl.lab.rehearsals.clusters import RehearsalCluster
from eosctl.lab.rehearsals.steps.cluster import cut_link, kill_broker, set_brokers, start_broker, stop_broker
from eosctl.lab.scenarios.load import library
from eosctl.lab.scenarios.player import play_steps
from eosctl.model.plan import MarkerOutcome, MarkerPlan
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record

# Twice replica.lag.time.max.ms.
ISR_SHRINKS_S: Final = 60
LOG_WRITES: Final = 6
VERIFICATION: Final = "transaction.partition.verification.enable"


async def begin(
    cluster: RehearsalCluster,
    *,
    id: str,
    topic: str = "orders",
    partition: int = 0,
    group: str = "",
    offset: int = 0,
    timeout_ms: int = 60_000,
    records: int = 1,
    old_protocol: bool = False,
) -> None:
    """Write in a transaction that stays open; with a group, also send an offset of it."""
    await ensure_topic(cluster.client, topic)
    producer = cluster.producers.get(id)
    if producer is None:
        producer = TransactionalProducer(
            cluster.client,
            id,
            now_ms=cluster.now_ms,
            transaction_timeout_ms=timeout_ms,
            dialect=TV1 if old_protocol else None,
        )
        await producer.init_transactions()
        cluster.producers[id] = producer
    where = TopicPartition(topic, partition)
    await producer.send(where, [_record(id, number) for number in range(records)])
    if group:
        await producer.send_offsets(GroupIdentity(group), {where: OffsetToCommit(offset)})


async def commit(cluster: RehearsalCluster, *, id: str, wait: bool = True) -> None:
    """Commit a producer's open transaction; without `wait`, markers may still be in transit."""
    await cluster.producers[id].commit()
    if wait:
        await wait_until_ended(cluster.client, id)


async def abort(cluster: RehearsalCluster, *, id: str) -> None:
    """Abort a producer's open transaction."""
    await cluster.producers[id].abort()
    await wait_until_ended(cluster.client, id)


async def write(
    cluster: RehearsalCluster,
    *,
    id: str,
    topic: str = "orders",
    partition: int = 0,
    group: str = "",
    offset: int = 0,
    records: int = 1,
    times: int = 1,
    old_protocol: bool = False,
) -> None:
    """Commit transactions of a producer, one after the other."""
    for _ in range(times):
        await begin(
            cluster,
            id=id,
            topic=topic,
            partition=partition,
            group=group,
            offset=offset,
            records=records,
            old_protocol=old_protocol,
        )
        await commit(cluster, id=id)


async def initialise(cluster: RehearsalCluster, *, id: str, timeout_ms: int = 60_000) -> None:
    """Initialize a new instance with an id, which fences the previous one."""
    producer = TransactionalProducer(cluster.client, id, now_ms=cluster.now_ms, transaction_timeout_ms=timeout_ms)
    await producer.init_transactions()
    cluster.producers[id] = producer


async def hang(
    cluster: RehearsalCluster, *, topic: str = "orders", partition: int = 2, id: str = "order-entry-late"
) -> None:
    """Deliver data of an ended transaction late, with partition verification disabled (KAFKA-9144)."""
    await set_brokers(cluster, name=VERIFICATION, value="false")
    where = {"orders": topic, "orders-2": f"{topic}-{partition}"}
    names = where | {"order-entry-late": id, "order-entry-late-next": f"{id}-next"}
    await play_steps(library()["hanging"], cluster, cluster.chance, names)


async def take_over(cluster: RehearsalCluster, *, id: str = "payment-service", topic: str = "payments") -> None:
    """Start a second instance with the same id, which aborts the first one's transaction."""
    await play_steps(library()["zombie"], cluster, cluster.chance, {"payments": topic, "payment-service": id})


async def keep_taking_over(cluster: RehearsalCluster, *, id: str = "payment-service", every_ms: int = 1_000) -> None:
    """Let two instances with one id fence each other until the rehearsal ends."""

    async def run() -> None:
        while True:
            await take_over(cluster, id=id)
            await asyncio.sleep(every_ms / 1000)

    cluster.in_background(run())


async def keep_timing_out(cluster: RehearsalCluster, *, id: str, timeout_ms: int = 1_000) -> None:
    """Open transactions that time out, one after the other, until the rehearsal ends."""

    async def run() -> None:
        for round_ in itertools.count():
            await begin(cluster, id=id, timeout_ms=timeout_ms, records=1 + round_ % 2)
            await wait_until_ended(cluster.client, id)
            cluster.producers.pop(id)

    cluster.in_background(run())


async def stop_background(cluster: RehearsalCluster) -> None:
    """Stop all background tasks."""
    for task in cluster.tasks:
        task.cancel()
    await asyncio.gather(*cluster.tasks, return_exceptions=True)
    cluster.tasks.clear()


async def fence(cluster: RehearsalCluster, *, id: str) -> None:
    """Fence an id as an administrator (Admin.fenceProducers)."""
    await init_producer_id(cluster.client, id, ADMIN_FENCE_TIMEOUT_MS)


async def write_idempotent(cluster: RehearsalCluster, *, topic: str = "orders", producers: int = 1) -> None:
    """Write once with each of several idempotent producers, which fill the partitions' producer state."""
    await ensure_topic(cluster.client, topic)
    for _ in range(producers):
        producer_id, producer_epoch = await init_idempotent_producer(cluster.client)
        batch = encode_batch(
            [Record(0, cluster.now_ms(), None, b"once")],
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=0,
        )
        await produce(cluster.client, TopicPartition(topic, 0), batch, transactional_id=None, bounds=TV1.produce)


def _record(key: str, number: int) -> OutgoingRecord:
    return OutgoingRecord(f"{key}-{number}".encode(), b"%d" % number)


async def skip_marker(cluster: RehearsalCluster, *, id: str, topic: str = "orders", committed: bool = True) -> None:
    """End a transaction while its partition has no leader, so that its marker is skipped (KAFKA-20734)."""
    found = await ensure_topic(cluster.client, topic, partition_count=6, replica_count=1)
    producer = TransactionalProducer(cluster.client, id, now_ms=cluster.now_ms)
    await producer.init_transactions()
    coordinator = await cluster.client.node_id(transaction_coordinator(id))
    leader, partition = next((p.leader_id, p.partition) for p in found.partitions if p.leader_id != coordinator)
    await producer.send(partition, [_record(id, 0)])
    assert leader is not None
    await stop_broker(cluster, broker=leader)
    await producer.end(committed=committed)
    await wait_until_ended(cluster.client, id)
    await start_broker(cluster, broker=leader)
    await ensure_topic(cluster.client, topic)


async def kill_coordinator(cluster: RehearsalCluster, *, id: str) -> None:
    """Kill the coordinator of an id like kill -9."""
    await kill_broker(cluster, broker=await cluster.client.node_id(transaction_coordinator(id)))


async def abort_hanging(cluster: RehearsalCluster) -> None:
    """Write the ABORT marker of every hanging transaction as an administrator."""
    snapshot = await _collect(cluster)
    for verdict in classify_open_transactions(snapshot):
        if verdict.can_abort:
            where = verdict.transaction
            target = Target(where.partition, where.producer_id, where.first_offset)
            await carry_out(MARKER, cluster.client, _Administrator(cluster, target))


async def _collect(cluster: RehearsalCluster) -> ClusterSnapshot:
    return await collect_snapshot(cluster.client, Observer(cluster.now_ms, second_look_after_ms=100), EVERYTHING)


class _Administrator:
    """Aborts without confirmation and audit record, as another user on another machine."""

    def __init__(self, cluster: RehearsalCluster, target: Target) -> None:
        self.target = str(target.partition)
        self.inspect = "eosctl txn hanging"
        self._cluster = cluster
        self._transaction = target

    async def plan(self) -> MarkerPlan:
        snapshot = await _collect(self._cluster)
        return plan_abort(snapshot, classify_open_transactions(snapshot), self._transaction)

    async def confirm(self, plan: MarkerPlan) -> bool:
        return True

    async def plan_again(self) -> MarkerPlan:
        return await self.plan()

    def changed(self) -> PlanRefused:
        return PlanRefused(
            f"{self.target} changed before the administrator could abort it.",
            "The second reading does not show the same transaction.",
            f"Look again: {self.inspect}",
        )

    async def is_effective(self, plan: MarkerPlan, outcome: MarkerOutcome) -> bool:
        return outcome.verified

    def record(self, attempt: Attempt[MarkerPlan, MarkerOutcome]) -> None:
        return None


async def hold_offsets_late(cluster: RehearsalCluster, *, id: str, group: str, topic: str = "orders") -> None:
    """Deliver offsets of an ended transaction late, with partition verification disabled, so that they stay pending."""
    await set_brokers(cluster, name=VERIFICATION, value="false")
    await begin(cluster, id=id, topic=topic, group=group, offset=1, old_protocol=True)
    identity = cluster.producers[id].identity
    await commit(cluster, id=id)
    late = {TopicPartition(topic, 0): OffsetToCommit(1)}
    await commit_offsets_in_txn(cluster.client, identity, GroupIdentity(group), late, TV1)


async def fall_behind(cluster: RehearsalCluster, *, follower: int, leader: int, topic: str = "orders") -> None:
    """Stop a follower's fetches from a leader while applications write, until it leaves the ISR."""
    await cut_link(cluster, source=follower, destination=leader)
    found = await ensure_topic(cluster.client, topic)
    batch = encode_batch([Record(0, cluster.now_ms(), None, b"behind")])
    for where in found.partitions:
        await produce(cluster.client, where.partition, batch, transactional_id=None, bounds=TV1.produce, acks=1)
    for number in range(LOG_WRITES):
        # Its partition of the transaction log may wait for that follower.
        with contextlib.suppress(EosctlError):
            await initialise(cluster, id=f"writer-{number}")
    await asyncio.sleep(ISR_SHRINKS_S)
