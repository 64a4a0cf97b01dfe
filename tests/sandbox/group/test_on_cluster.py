"""Groups on three brokers in virtual time: the coordinator dies, another one has everything from its own log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from eosctl.lab.virtual_loop import run_virtual
from eosctl.sandbox.api.registry import handler
from eosctl.sandbox.broker.broker import CLIENT_LISTENER, Broker
from eosctl.sandbox.core import ClusterCore, ClusterShape
from eosctl.sandbox.ports import Emulation, RequestContext
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.end_txn import EndTxnRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.heartbeat import HeartbeatRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from eosctl.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from eosctl.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

Answer = TypeVar("Answer")
WALL_MS = 1_700_000_000_000
RETRIED = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.CONCURRENT_TRANSACTIONS,
}


class Cluster:
    """Three brokers, and a client that looks up its coordinators."""

    def __init__(self, data_dir: Path, release: str, transaction_version: int) -> None:
        loop = asyncio.get_running_loop()
        shape = ClusterShape(
            3, Emulation(release), transaction_version, {"offsets.topic.num.partitions": "3"}, fast=True
        )
        self.core = ClusterCore(shape, data_dir, loop, WALL_MS, seed=1)

    async def ask(self, broker: Broker, version: int, request: Any) -> Any:
        name = type(request).__name__.removesuffix("Request").upper()
        api_key = next(key for key in ApiKey if key.name.replace("_", "") == name)
        answered = asyncio.get_running_loop().create_future()
        context = RequestContext(
            api_key, version, "A", "127.0.0.1", "User:ANONYMOUS", CLIENT_LISTENER, False, answered.set_result
        )
        handle = handler(api_key)
        self.core.ticks.post(lambda: handle(broker, context, request))
        return await answered

    async def coordinator(self, key: str, key_type: int = 0) -> Broker:
        while True:
            asked = self.core.brokers()[0]
            found = await self.ask(asked, 3, FindCoordinatorRequest(key, key_type))
            if found.error_code == ErrorCode.NONE and found.node_id in self.core.nodes:
                return self.core.broker(found.node_id)
            await asyncio.sleep(0.05)

    async def until(self, ask: Callable[[], Any], code: Callable[[Any], int]) -> Any:
        """Repeat a question while the answer is one that a client retries."""
        while True:
            answer = await ask()
            if code(answer) not in RETRIED:
                return answer
            await asyncio.sleep(0.05)

    async def create_topic(self) -> None:
        request = CreateTopicsRequest([CreatableTopic("orders", 1, 3)], 5000)
        created = await self.ask(self.core.brokers()[0], 7, request)
        assert created.topics[0].error_code == ErrorCode.NONE

    async def fetch(self) -> tuple[int, int]:
        async def ask() -> Any:
            request = OffsetFetchRequest("g", [OffsetFetchRequestTopic("orders", [0])], require_stable=True)
            return await self.ask(await self.coordinator("g"), 7, request)

        found = (await self.until(ask, lambda answer: int(answer.error_code))).topics[0].partitions[0]
        return found.committed_offset, found.error_code


def on_three_brokers(
    data_dir: Path, release: str, transaction_version: int, scenario: Callable[[Cluster], Any]
) -> None:
    async def main() -> None:
        cluster = Cluster(data_dir, release, transaction_version)
        cluster.core.start()
        while not cluster.core.is_ready:
            await asyncio.sleep(0.05)
        try:
            await cluster.create_topic()
            await scenario(cluster)
        finally:
            cluster.core.stop()

    run_virtual(main(), seed=1)


async def pend_an_offset(cluster: Cluster, offset: int) -> tuple[int, int]:
    """Open a transaction that commits an offset for the group; returns the producer."""

    async def ask(request: Any, version: int, key: str, key_type: int, code: Callable[[Any], int]) -> Any:
        async def once() -> Any:
            return await cluster.ask(await cluster.coordinator(key, key_type), version, request)

        return await cluster.until(once, code)

    def own(answer: Any) -> int:
        return int(answer.error_code)

    producer = await ask(InitProducerIdRequest("app", 60_000), 4, "app", 1, own)
    identity = (producer.producer_id, producer.producer_epoch)
    added = await ask(AddOffsetsToTxnRequest("app", *identity, "g"), 3, "app", 1, own)
    assert added.error_code == ErrorCode.NONE
    topics = [TxnOffsetCommitRequestTopic("orders", partitions=[TxnOffsetCommitRequestPartition(0, offset)])]
    committed = await ask(
        TxnOffsetCommitRequest("app", "g", *identity, topics=topics),
        3,
        "g",
        0,
        lambda answer: int(answer.topics[0].partitions[0].error_code),
    )
    assert committed.topics[0].partitions[0].error_code == ErrorCode.NONE
    return identity


@pytest.mark.parametrize(("release", "transaction_version"), [("3.9", 0), ("4.3", 2)])
@pytest.mark.parametrize("clean", [True, False])
def test_a_pending_offset_outlives_its_coordinator(
    tmp_path: Path, release: str, transaction_version: int, clean: bool
) -> None:
    async def scenario(cluster: Cluster) -> None:
        identity = await pend_an_offset(cluster, 5)
        assert await cluster.fetch() == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        former = (await cluster.coordinator("g")).node_id
        cluster.core.stop_node(former, clean=clean)
        while (await cluster.coordinator("g")).node_id == former:
            await asyncio.sleep(0.05)
        assert await cluster.fetch() == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)

        async def end() -> Any:
            return await cluster.ask(await cluster.coordinator("app", 1), 3, EndTxnRequest("app", *identity, True))

        ended = await cluster.until(end, lambda answer: int(answer.error_code))
        assert ended.error_code == ErrorCode.NONE
        while (found := await cluster.fetch())[1] == ErrorCode.UNSTABLE_OFFSET_COMMIT:
            await asyncio.sleep(0.05)
        assert found == (5, ErrorCode.NONE)

    on_three_brokers(tmp_path, release, transaction_version, scenario)


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize(("release", "transaction_version"), [("3.9", 0), ("4.3", 2)])
def test_an_outcome_decided_without_coordinator_is_found_later(
    tmp_path: Path, release: str, transaction_version: int, committed: bool
) -> None:
    """The group moves before its transaction ends, while it ends, and once more."""

    async def scenario(cluster: Cluster) -> None:
        async def move(former: int, clean: bool) -> int:
            cluster.core.stop_node(former, clean=clean)
            while (moved := (await cluster.coordinator("g")).node_id) == former:
                await asyncio.sleep(0.05)
            return moved

        async def end(identity: tuple[int, int], outcome: bool) -> None:
            async def once() -> Any:
                request = EndTxnRequest("app", *identity, outcome)
                return await cluster.ask(await cluster.coordinator("app", 1), 3, request)

            ended = await cluster.until(once, lambda answer: int(answer.error_code))
            assert ended.error_code == ErrorCode.NONE

        async def settled() -> tuple[int, int]:
            while (found := await cluster.fetch())[1] == ErrorCode.UNSTABLE_OFFSET_COMMIT:
                await asyncio.sleep(0.05)
            return found

        await end(await pend_an_offset(cluster, 3), True)
        assert await settled() == (3, ErrorCode.NONE)
        identity = await pend_an_offset(cluster, 5)
        first = (await cluster.coordinator("g")).node_id
        second = await move(first, clean=True)
        assert await cluster.fetch() == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        cluster.core.start_node(first)
        while first not in {broker.node_id for broker in cluster.core.brokers()} or not cluster.core.is_ready:
            await asyncio.sleep(0.05)
        cluster.core.stop_node(second, clean=False)
        await end(identity, committed)
        assert await settled() == (5 if committed else 3, ErrorCode.NONE)
        cluster.core.start_node(second)
        while second not in {broker.node_id for broker in cluster.core.brokers()} or not cluster.core.is_ready:
            await asyncio.sleep(0.05)
        await move((await cluster.coordinator("g")).node_id, clean=False)
        assert await settled() == (5 if committed else 3, ErrorCode.NONE)

    on_three_brokers(tmp_path, release, transaction_version, scenario)


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_a_stable_group_continues_with_the_next_coordinator(tmp_path: Path, release: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        protocols = [JoinGroupRequestProtocol("range", b"")]

        async def join() -> Any:
            request = JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", protocols)
            return await cluster.ask(await cluster.coordinator("g"), 3, request)

        joined = await cluster.until(join, lambda answer: int(answer.error_code))
        assignments = [SyncGroupRequestAssignment(joined.member_id, b"a")]
        sync = SyncGroupRequest("g", joined.generation_id, joined.member_id, assignments=assignments)
        former = await cluster.coordinator("g")
        assert (await cluster.ask(former, 3, sync)).assignment == b"a"
        cluster.core.stop_node(former.node_id, clean=False)
        while (await cluster.coordinator("g")).node_id == former.node_id:
            await asyncio.sleep(0.05)

        async def beat() -> Any:
            request = HeartbeatRequest("g", joined.generation_id, joined.member_id)
            return await cluster.ask(await cluster.coordinator("g"), 3, request)

        assert (await cluster.until(beat, lambda answer: int(answer.error_code))).error_code == ErrorCode.NONE
        again = await cluster.ask(await cluster.coordinator("g"), 3, replace(sync, assignments=[]))
        assert again.assignment == b"a"

    on_three_brokers(tmp_path, release, 0 if release == "3.9" else 2, scenario)
