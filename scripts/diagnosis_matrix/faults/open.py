"""Open transactions that are not hanging."""

from __future__ import annotations

from eosctl.client import Client
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.transactions import (
    TV1,
    GroupIdentity,
    OffsetToCommit,
    ProducerIdentity,
    add_partitions_to_txn,
    produce,
    wait_until_ended,
)
from eosctl.services.callbacks import system_now_ms
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from scripts.diagnosis_matrix.site import Planted, Site, partition_of, producer_of, says

_MINUTE_MS = 60_000


def within_timeout(site: Site) -> Planted:
    """Leave a transaction open that its coordinator knows."""
    return _open(site, "within-timeout")


def raised_timeout(site: Site) -> Planted:
    """Leave a transaction open with a timeout above the brokers' default maximum."""
    return _open(site, "timeout-raised", timeout_ms=60 * _MINUTE_MS)


def wrong_clock(site: Site) -> Planted:
    """Set the timestamps of an open transaction's records one hour back."""
    return _open(site, "client-clock-skewed", behind_ms=60 * _MINUTE_MS)


def slow_clock(site: Site) -> Planted:
    """Set the timestamps ten minutes back, which is harmless: a near miss."""
    return _open(site, "within-timeout", behind_ms=10 * _MINUTE_MS)


def _open(site: Site, cause: str, *, timeout_ms: int = 10 * _MINUTE_MS, behind_ms: int = 0) -> Planted:
    name = site.name("t")

    async def begin(client: Client) -> str:
        partition = await partition_of(client, site)
        producer = producer_of(client, name, timeout_ms=timeout_ms, clock_ms=lambda: system_now_ms() - behind_ms)
        await producer.init_transactions()
        await producer.send(partition, [site.record()])
        return str(partition)

    where = site.run(begin)
    return Planted((name,), says(("hanging", cause, where), ("fsck", "open-transaction", where)))


def two_phase(site: Site) -> Planted:
    """Leave a transaction of a two-phase commit open (KIP-939)."""
    name = site.name("t")

    async def begin(client: Client) -> str:
        partition = await partition_of(client, site)
        answer = await client.request(
            transaction_coordinator(name),
            ApiKey.INIT_PRODUCER_ID,
            InitProducerIdRequest(name, 60_000, enable2_pc=True),
            floor=6,
            cap=6,
        )
        identity = ProducerIdentity(name, answer.producer_id, answer.producer_epoch)
        await add_partitions_to_txn(client, identity, [partition])
        batch = encode_batch(
            [Record(0, system_now_ms(), None, b"{}")],
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            base_sequence=0,
            transactional=True,
        )
        await produce(client, partition, batch, transactional_id=name, bounds=TV1.produce)
        return str(partition)

    where = site.run(begin)
    return Planted((name,), says(("hanging", "prepared-two-phase", where), ("fsck", "open-transaction", where)))


def held_offset(site: Site) -> Planted:
    """Commit a group's offset in a transaction that stays open."""
    return _offset(site, ended=False)


def committed_offset(site: Site) -> Planted:
    """Commit a group's offset in a transaction that ends: a near miss."""
    return _offset(site, ended=True)


def _offset(site: Site, *, ended: bool) -> Planted:
    name, group = site.name("t"), site.name("g")

    async def begin(client: Client) -> None:
        partition = await partition_of(client, site)
        writer = producer_of(client, f"{name}-w")
        await writer.init_transactions()
        await writer.send(partition, [site.record()])
        await writer.commit()
        producer = producer_of(client, name)
        await producer.init_transactions()
        await producer.send_offsets(GroupIdentity(group), {partition: OffsetToCommit(1)})
        if ended:
            await producer.commit()
            await wait_until_ended(client, name)

    site.run(begin)
    where = "__consumer_offsets-0"
    held = says(
        ("hanging", "within-timeout", where),
        ("pending", "within-timeout", group),
        ("fsck", "open-transaction", where),
        ("fsck", "offset-pending", where),
    )
    return Planted((name,), frozenset() if ended else held)
