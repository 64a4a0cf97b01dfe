"""Lasting faults of links and brokers, during which transactions wait."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from eosctl.client import Client
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import wait_until_ended
from scripts.diagnosis_matrix.site import Planted, Site, producer_of, says

STATE_TOPIC: Final = "__transaction_state"
STATE_LOG_OF_TWO: Final[Mapping[str, str]] = {
    "transaction.state.log.replication.factor": "2",
    "transaction.state.log.min.isr": "2",
}


def undelivered_marker(site: Site) -> Planted:
    """Commit, and drop every marker on its way to the leader."""
    return _markers(site, "drop")


def delivered_marker(site: Site) -> Planted:
    """Delay the markers: a near miss."""
    return _markers(site, "delay ms=300")


def _markers(site: Site, fault: str) -> Planted:
    arrives = fault != "drop"
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
        site.cluster.fault(f"{fault} from={coordinator} to={leader} api=WRITE_TXN_MARKERS side=requests")
        await producer.end(committed=True)
        if arrives:
            await wait_until_ended(client, name)
        return str(partition)

    where = site.run(play)
    stuck = says(
        ("hanging", "markers-undelivered", where),
        ("fsck", "prepare-without-marker", where),
        ("fsck", "prepare-not-completed", name),
    )
    return Planted((name,), frozenset() if arrives else stuck)


def state_log_cannot_be_written(site: Site) -> Planted:
    """Remove a replica of the coordinator's log, so that it cannot write and nothing times out."""
    return _timeout(site, writable=False)


def state_log_can_be_written(site: Site) -> Planted:
    """Remove no replica: the coordinator aborts timed-out transactions."""
    return _timeout(site, writable=True)


def _timeout(site: Site, *, writable: bool) -> Planted:
    name = site.name("t")

    async def play(client: Client) -> str:
        producer = producer_of(client, name, timeout_ms=2_000)
        await producer.init_transactions()
        coordinator = await client.node_id(transaction_coordinator(name))
        (log,) = (await ensure_topic(client, STATE_TOPIC)).partitions
        follower = next(node for node in log.replicas if node != coordinator)
        topics = await ensure_topic(client, site.name("topic"), partition_count=6, replica_count=1)
        partition = next(
            info.partition for info in topics.partitions if info.leader_id is not None and info.leader_id != follower
        )
        await producer.send(partition, [site.record()])
        if not writable:
            await asyncio.to_thread(site.cluster.stop_broker, follower)
        else:
            await wait_until_ended(client, name)
        return str(partition)

    where = site.run(play)
    if writable:
        return Planted((name,), says(("blame", "timeout-abort", name)))
    return Planted((name,), says(("hanging", "coordinator-not-expiring", where), ("fsck", "open-transaction", where)))


def coordinator_down(site: Site) -> Planted:
    """Stop the coordinator of an open transaction without another replica of its log."""
    return _stopped(site, coordinator=True)


def bystander_down(site: Site) -> Planted:
    """Stop an unrelated broker: a near miss."""
    return _stopped(site, coordinator=False)


def _stopped(site: Site, *, coordinator: bool) -> Planted:
    name = site.name("t")

    async def play(client: Client) -> str:
        producer = producer_of(client, name)
        await producer.init_transactions()
        home = await client.node_id(transaction_coordinator(name))
        found = await ensure_topic(client, site.name("topic"), partition_count=6, replica_count=1)
        leader, partition = next(
            (info.leader_id, info.partition) for info in found.partitions if info.leader_id not in (None, home)
        )
        await producer.send(partition, [site.record()])
        victim = home if coordinator else next(node for node in client.cluster.node_ids if node not in (home, leader))
        await asyncio.to_thread(site.cluster.stop_broker, victim)
        return str(partition)

    where = site.run(play)
    cause = "coordinator-unavailable" if coordinator else "within-timeout"
    return Planted((), says(("hanging", cause, where), ("fsck", "open-transaction", where)))
