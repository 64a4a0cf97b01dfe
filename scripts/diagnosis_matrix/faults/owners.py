"""Owners of transactional ids that lost their ids."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from eosctl.client import Client
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.transactions import GroupIdentity, OffsetToCommit, init_producer_id, wait_until_ended
from eosctl.model.transaction import TransactionState
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_transactions import DescribeTransactionsRequest
from scripts.diagnosis_matrix.site import Planted, Site, partition_of, producer_of, says
from tests.lab.scenarios.stage.zombie import run_zombie

#: Delay after its abort before a client recovers; half of what the diagnosis allows.
_IMMEDIATE_S: Final = 1.0


def nothing(site: Site) -> Planted:
    """Commit a transaction: a near miss of all others."""
    name = site.name("t")

    async def commit(client: Client) -> None:
        producer = producer_of(client, name, dialect=None)
        await producer.init_transactions()
        await producer.send(await partition_of(client, site), [site.record()])
        await producer.commit()
        await wait_until_ended(client, name)

    site.run(commit)
    return Planted((name,), frozenset())


def empty_commit(site: Site) -> Planted:
    """Commit with a partition without records."""
    name = site.name("t")

    async def commit(client: Client) -> str:
        partition = await partition_of(client, site)
        producer = producer_of(client, name)
        await producer.init_transactions()
        await producer.declare(partition)
        await producer.end(committed=True)
        await wait_until_ended(client, name)
        return str(partition)

    return Planted((name,), says(("fsck", "commit-without-data", site.run(commit))))


def takeover(site: Site) -> Planted:
    """Let a second producer take over an id during the first one's transaction."""
    return _taken_over(site, site.name("t"), "newer-instance")


def moved_task(site: Site) -> Planted:
    """Let a second producer take over an id of Kafka Streams before exactly_once_v2."""
    return _taken_over(site, f"{site.name('app')}-0_{site.chance.randrange(12)}", "task-migration")


def _taken_over(site: Site, name: str, cause: str) -> Planted:
    asyncio.run(run_zombie(site.stage(), topic=site.name("topic"), transactional_id=name))
    return Planted((name,), says(("blame", cause, name)))


def administrator(site: Site) -> Planted:
    """Fence a producer as Admin.fenceProducers does, with its own timeout and without writing."""
    return _initialized_only(site, 30_000, "admin-fence")


def silent_successor(site: Site) -> Planted:
    """Initialize with the same timeout and write nothing: a near miss."""
    return _initialized_only(site, 600_000, "newer-instance")


def _initialized_only(site: Site, timeout_ms: int, cause: str) -> Planted:
    name = site.name("t")

    async def play(client: Client) -> None:
        producer = producer_of(client, name)
        await producer.init_transactions()
        await producer.send(await partition_of(client, site), [site.record()])
        await init_producer_id(client, name, timeout_ms)

    site.run(play)
    return Planted((name,), says(("blame", cause, name)))


def shared_id(site: Site) -> Planted:
    """Let two applications with separate topics use one id."""
    name = site.name("t")

    async def play(client: Client) -> None:
        for _ in range(2):
            producer = producer_of(client, name)
            await producer.init_transactions()
            await producer.send(await partition_of(client, site), [site.record()])
        await producer.commit()
        await wait_until_ended(client, name)

    site.run(play)
    return Planted((name,), says(("blame", "id-collision", name)))


def repaired(site: Site) -> Planted:
    """Let a client abort and continue with its producer id, as after an abortable error (KIP-360)."""
    return _again(site, committed=False, cause="recovery-bump")


def restarted(site: Site) -> Planted:
    """Commit before it recovers: a near miss."""
    return _again(site, committed=True, cause="idle-takeover")


def _again(site: Site, *, committed: bool, cause: str) -> Planted:
    async def play(client: Client) -> str:
        partition = await partition_of(client, site)
        while True:  # A slow machine cannot run a client that recovers immediately.
            name = site.name("t")
            producer = producer_of(client, name)
            await producer.init_transactions()
            await producer.send(partition, [site.record()])
            began = time.monotonic()
            await producer.end(committed=committed)
            await wait_until_ended(client, name)
            await producer.init_transactions(keep_identity=True)
            if time.monotonic() - began < _IMMEDIATE_S:
                return name

    name = site.run(play)
    return Planted((name,), says(("blame", cause, name)))


def stale_view(site: Site) -> Planted:
    """Let another thread commit an older offset of the group than the committed one (KAFKA-17507)."""
    return _offsets(site, 3, "stale-view")


def fresh_view(site: Site) -> Planted:
    """Let another thread commit a newer offset: a near miss."""
    return _offsets(site, 9, None)


def _offsets(site: Site, later_offset: int, cause: str | None) -> Planted:
    names, group = (site.name("t"), site.name("t")), GroupIdentity(site.name("g"))

    async def play(client: Client) -> None:
        topic = site.name("topic")
        partition = await partition_of(client, site, topic)
        writer = producer_of(client, site.name("t"))
        await writer.init_transactions()
        await writer.send(partition, [site.record() for _ in range(10)])
        await writer.commit()
        for name, offset in zip(names, (7, later_offset), strict=True):
            producer = producer_of(client, name)
            await producer.init_transactions()
            await producer.send_offsets(group, {partition: OffsetToCommit(offset)})
            await producer.commit()
            await wait_until_ended(client, name)

    site.run(play)
    return Planted(names, says(*(("blame", cause, name) for name in names)) if cause else frozenset())


def expired_id(site: Site) -> Planted:
    """Pause longer than the expiration of ids, then return."""
    name = site.name("t")

    async def play(client: Client) -> None:
        producer = producer_of(client, name)
        await producer.init_transactions()
        await producer.send(await partition_of(client, site), [site.record()])
        await producer.commit()
        assert await wait_until_ended(client, name) is TransactionState.COMPLETE_COMMIT
        await _wait_until_forgotten(client, name)
        await producer_of(client, name).init_transactions()

    site.run(play)
    return Planted((name,), says(("blame", "id-expired", name)))


async def _wait_until_forgotten(client: Client, name: str) -> None:
    request = DescribeTransactionsRequest([name])
    while True:
        answer = await client.request(transaction_coordinator(name), ApiKey.DESCRIBE_TRANSACTIONS, request)
        if answer.transaction_states[0].error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
            return
        await asyncio.sleep(0.1)


def used_up_epochs(site: Site) -> Planted:
    """Initialize an id until its producer id has no epochs left; each time but the last is a restart."""
    name = site.name("t")

    async def play(client: Client) -> None:
        first = identity = await init_producer_id(client, name, 600_000)
        while identity.producer_id == first.producer_id:
            identity = await init_producer_id(client, name, 600_000)

    site.run(play)
    return Planted((name,), says(("blame", "epoch-exhausted", name), ("blame", "idle-takeover", name)))
