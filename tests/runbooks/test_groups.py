"""Groups that stand still: held by a transaction, or out of range."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from eosctl.client import connect
from eosctl.client.destinations import group_coordinator
from eosctl.client.outcome import any_error
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import GroupIdentity, OffsetToCommit
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import offset_commit
from tests.commands.conftest import Done
from tests.runbooks.conftest import BLOCKED, MANUAL, NO_ACTION, VERIFIED, item_of, run

ORDERS = TopicPartition("orders", 0)


async def commit(bootstrap: str, group: str, offset: int) -> None:
    entry = offset_commit.OffsetCommitRequestPartition(committed_offset=offset)
    topic = offset_commit.OffsetCommitRequestTopic(name=ORDERS.topic, partitions=[entry])
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        request = offset_commit.OffsetCommitRequest(group_id=group, topics=[topic])
        answer = await client.request(
            group_coordinator(group), ApiKey.OFFSET_COMMIT, request, cap=9, error_of=any_error
        )
        assert not any_error(answer)


@asynccontextmanager
async def open_transaction(bootstrap: str) -> AsyncIterator[TransactionalProducer]:
    """A transaction that holds an offset of the group ``app`` and has written behind a committed record."""
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        await ensure_topic(client, ORDERS.topic)
        # On a busy machine its coordinator would otherwise end it before the runbook does.
        producer = TransactionalProducer(client, "mover", now_ms=system_now_ms, transaction_timeout_ms=900_000)
        await producer.init_transactions()
        await producer.send(ORDERS, [OutgoingRecord(None, b"done")])
        await producer.commit()
        await producer.send(ORDERS, [OutgoingRecord(None, b"open")])
        await producer.send_offsets(GroupIdentity("app"), {ORDERS: OffsetToCommit(1)})
        yield producer


def run_for_group(bootstrap: str, book: str, *options: str) -> Done:
    return run(bootstrap, book, "-i", "group=app", *options)


def test_a_transaction_that_blocks_a_group_is_ended() -> None:
    with SandboxThread(fast=False) as cluster:

        async def scenario() -> None:
            async with open_transaction(cluster.bootstrap):
                await asyncio.to_thread(unstable)  # its first offset: nothing is committed
            await commit(cluster.bootstrap, "app", 0)
            async with open_transaction(cluster.bootstrap):
                await asyncio.to_thread(stuck)

        def unstable() -> None:
            planned = run_for_group(cluster.bootstrap, "unstable-offsets")
            assert (planned.code, item_of(planned)["outcome"]) == (0, "planned"), planned.err
            done = run_for_group(cluster.bootstrap, "unstable-offsets", "--yes", "--confirm", "mover")
            assert (done.code, item_of(done)["acted"]) == (VERIFIED, True), done.err
            assert run_for_group(cluster.bootstrap, "unstable-offsets").code == NO_ACTION

        def stuck() -> None:
            done = run_for_group(cluster.bootstrap, "consumer-stuck", "--yes", "--confirm", "mover")
            assert (done.code, item_of(done)["acted"]) == (VERIFIED, True), done.err
            free = run_for_group(cluster.bootstrap, "consumer-stuck")
            assert (free.code, item_of(free)["step"]) == (MANUAL, "nobody_reads")

        asyncio.run(scenario())


def test_a_position_out_of_range_is_moved_to_the_nearest_offset() -> None:
    with SandboxThread(fast=False) as cluster:

        async def scenario() -> None:
            async with open_transaction(cluster.bootstrap) as producer:
                await producer.abort()
            await commit(cluster.bootstrap, "app", 99)
            await asyncio.to_thread(steps)

        def steps() -> None:
            stuck = run_for_group(cluster.bootstrap, "consumer-stuck", "--yes")
            assert (stuck.code, item_of(stuck)["step"]) == (MANUAL, "other_book"), stuck.err
            refused = run_for_group(cluster.bootstrap, "offsets-out-of-range", "--yes")
            assert refused.code == BLOCKED, refused.err
            done = run_for_group(cluster.bootstrap, "offsets-out-of-range", "--yes", "--confirm", "app")
            assert (done.code, item_of(done)["acted"]) == (VERIFIED, True), done.err
            # Two records, two markers: the end is 4.
            assert "orders-0: 99 -> 4" in done.err
            assert run_for_group(cluster.bootstrap, "offsets-out-of-range").code == NO_ACTION
            unknown = run(cluster.bootstrap, "offsets-out-of-range", "-i", "group=absent")
            assert (unknown.code, item_of(unknown)["step"]) == (MANUAL, "unknown")
            page = run(cluster.bootstrap, "offsets-out-of-range", "-i", "group=absent", "-o", "table")
            assert "A dry run cannot be resumed: start it again with --yes." in page.out
            bare = run(cluster.bootstrap, "offsets-out-of-range", "-i", "group")
            assert (bare.code, "--input group has no value" in bare.err) == (2, True)
            missing = run(cluster.bootstrap, "offsets-out-of-range")
            assert missing.code == 2
            assert "--input group=VALUE" in missing.err

        asyncio.run(scenario())
