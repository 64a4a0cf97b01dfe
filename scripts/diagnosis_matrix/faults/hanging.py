"""Hanging transactions."""

from __future__ import annotations

import asyncio
from typing import Final

from eosctl.client import Client
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import (
    TV1,
    GroupIdentity,
    OffsetToCommit,
    commit_offsets_in_txn,
    produce,
    wait_until_ended,
)
from eosctl.services.callbacks import system_now_ms
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from scripts.diagnosis_matrix.site import Planted, Site, Verdict, partition_of, producer_of, says
from tests.lab.scenarios.stage.hanging import run_hanging

#: A producer id that no coordinator has assigned.
_STRANGER: Final = 7_777_777


def _hangs(partition: object, cause: str, *, may_abort: bool = True) -> frozenset[Verdict]:
    return says(
        ("hanging", cause, partition),
        ("abort", "allowed" if may_abort else "refused", partition),
        ("fsck", "hanging-transaction", partition),
    )


def late_batch(site: Site) -> Planted:
    """Deliver a batch after its transaction has ended."""
    name = site.name("t")
    report = asyncio.run(run_hanging(site.stage(), topic=site.name("topic"), transactional_id=name))
    return Planted((name,), _hangs(report.partition, "partition-not-in-transaction"))


def stranger(site: Site) -> Planted:
    """Append records of a producer id that is unknown to every coordinator."""

    async def append(client: Client) -> str:
        other = producer_of(client, site.name("t"))
        await other.init_transactions()
        partition = await partition_of(client, site)
        batch = encode_batch(
            [Record(0, system_now_ms(), None, b"{}")],
            producer_id=_STRANGER + site.chance.randrange(1_000_000),
            producer_epoch=0,
            base_sequence=0,
            transactional=True,
        )
        await produce(client, partition, batch, transactional_id=site.name("t"), bounds=TV1.produce)
        return str(partition)

    return Planted((), _hangs(site.run(append), "unknown-to-coordinator"))


def late_in_next_transaction(site: Site) -> Planted:
    """Deliver a batch during the next transaction of its id, which has another partition."""
    return _late_for_successor(site, declared=False)


def older_epoch(site: Site) -> Planted:
    """Deliver a batch during a next transaction with the same partition: only the epoch differs."""
    return _late_for_successor(site, declared=True)


def _late_for_successor(site: Site, *, declared: bool) -> Planted:
    name = site.name("t")

    async def play(client: Client) -> tuple[str, str]:
        here, there = await partition_of(client, site), await partition_of(client, site)
        first, second = producer_of(client, name), producer_of(client, name)
        await first.init_transactions()
        await first.send(here, [site.record()])
        late = first.encode(there, [site.record()])
        await first.commit()
        await wait_until_ended(client, name)
        await second.init_transactions()
        await second.send(here, [site.record()])
        if declared:
            await second.declare(there)
        await produce(client, there, late, transactional_id=name, bounds=TV1.produce)
        return str(here), str(there)

    here, there = site.run(play)
    cause = "coordinator-at-higher-epoch" if declared else "partition-not-in-transaction"
    alive = says(
        ("hanging", "within-timeout", here), ("fsck", "open-transaction", here), ("blame", "idle-takeover", name)
    )
    return Planted((name,), alive | _hangs(there, cause))


def late_offset(site: Site) -> Planted:
    """Commit a group's offset after the end of the transaction, so that consumers of the group cannot start."""
    name, group = site.name("t"), site.name("g")

    async def play(client: Client) -> None:
        partition = await partition_of(client, site)
        producer = producer_of(client, name)
        identity = await producer.init_transactions()
        await producer.send(partition, [site.record()])
        await producer.commit()
        await wait_until_ended(client, name)
        await commit_offsets_in_txn(client, identity, GroupIdentity(group), {partition: OffsetToCommit(1)}, TV1)

    site.run(play)
    where = "__consumer_offsets-0"
    cause = "partition-not-in-transaction"
    return Planted((name,), _hangs(where, cause) | says(("pending", cause, group), ("fsck", "offset-pending", where)))


def skipped_commit(site: Site) -> Planted:
    """Commit while a partition has no leader, then restore the leader (KAFKA-20734): it must not be aborted."""
    return _skipped(site, committed=True)


def skipped_abort(site: Site) -> Planted:
    """Abort while a partition has no leader: it must be aborted there too."""
    return _skipped(site, committed=False)


def marker_in_time(site: Site) -> Planted:
    """Restore the leader before the end: a near miss."""
    return _skipped(site, committed=True, back_before_the_end=True)


def _skipped(site: Site, *, committed: bool, back_before_the_end: bool = False) -> Planted:
    name = site.name("t")

    async def play(client: Client) -> str:
        found = await ensure_topic(client, site.name("topic"), partition_count=6, replica_count=1)
        producer = producer_of(client, name)
        await producer.init_transactions()
        coordinator = await client.node_id(transaction_coordinator(name))
        leader, partition = next(
            (info.leader_id, info.partition)
            for info in found.partitions
            if info.leader_id is not None and info.leader_id != coordinator
        )
        await producer.send(partition, [site.record()])
        await asyncio.to_thread(site.cluster.stop_broker, leader)
        if back_before_the_end:
            await asyncio.to_thread(site.cluster.start_broker, leader)
        await producer.end(committed=committed)
        await wait_until_ended(client, name)
        if not back_before_the_end:
            await asyncio.to_thread(site.cluster.start_broker, leader)
        return str(partition)

    partition = site.run(play)
    hangs = _hangs(partition, "partition-not-in-transaction", may_abort=not committed)
    return Planted((name,), frozenset() if back_before_the_end else hangs)
