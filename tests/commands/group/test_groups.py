"""group lag and group pending: what a read_committed group really has before it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eosctl.client import Client
from eosctl.client.destinations import CoordinatorKind, CoordinatorOf
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import GroupIdentity, OffsetToCommit, wait_until_ended
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import system_now_ms
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import streams_group_heartbeat as streams
from eosctl.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.commands import share_consumer as share
from tests.commands.conftest import eosctl
from tests.commands.open_transactions import leave_open, on, record
from tests.commands.txn.test_txn import check_schema

ORDERS = TopicPartition("orders", 0)
GROUP = GroupIdentity("billing")


async def committed(client: Client, transactional_id: str, count: int, *, outcome: bool = True) -> None:
    await ensure_topic(client, "orders", partition_count=1)
    producer = TransactionalProducer(client, transactional_id, now_ms=system_now_ms)
    await producer.init_transactions()
    await producer.send(ORDERS, [record(str(n)) for n in range(count)])
    await producer.end(committed=outcome)
    await wait_until_ended(client, transactional_id)


async def commit_offset(client: Client, transactional_id: str, offset: int, *, end: bool = True) -> None:
    producer = TransactionalProducer(client, transactional_id, now_ms=system_now_ms)
    await producer.init_transactions()
    await producer.send_offsets(GROUP, {ORDERS: OffsetToCommit(offset)})
    if end:
        await producer.commit()
        await wait_until_ended(client, transactional_id)


def items(command: str, bootstrap: str, *more: str) -> list[dict[str, Any]]:
    done = eosctl("group", command, *more, "-b", bootstrap, "-o", "json")
    assert done.code in (0, 3), done.err
    check_schema({"list": "groups", "describe": "group-descriptions"}.get(command, f"group-{command}"), done.json)
    found: list[dict[str, Any]] = done.json["items"]
    return found


def test_lag_is_parted_into_what_can_be_read_and_what_cannot(one_broker: SandboxThread) -> None:
    async def scenario(client: Client) -> Any:
        await committed(client, "first", 3)  # offsets 0-2, marker 3
        await committed(client, "aborted", 4, outcome=False)  # 4-7, marker 8
        await committed(client, "second", 2)  # 9-10, marker 11
        await commit_offset(client, "billing-app", 1)
        opened = await leave_open(client, "shop-0")  # 12-13
        await committed(client, "behind", 5)  # 14-18, marker 19
        return opened

    opened = on(one_broker.bootstrap, scenario)
    (lag,) = items("lag", one_broker.bootstrap, "billing")
    assert (lag["committed_offset"], lag["last_stable_offset"], lag["high_watermark"]) == (1, opened.first_offset, 20)
    assert (lag["lag_offsets"], lag["readable_offsets"], lag["blocked_offsets"]) == (19, 11, 8)
    assert (lag["readable_records"], lag["aborted_records"], lag["markers"]) == (4, 4, 3)
    assert lag["blocked_by"]["transactional_id"] == "shop-0"
    table = eosctl("group", "lag", "-b", one_broker.bootstrap)
    assert table.code == 0
    assert "shop-0 (open)" in table.out
    assert eosctl("group", "lag", "nobody", "-b", one_broker.bootstrap).code == 2


def test_a_group_with_pending_offsets_only_is_not_left_out(one_broker: SandboxThread) -> None:
    async def scenario(client: Client) -> None:
        await committed(client, "first", 1)
        await commit_offset(client, "billing-app", 1, end=False)

    on(one_broker.bootstrap, scenario)
    for arguments in ((), ("billing",)):
        done = eosctl("group", "lag", *arguments, "-b", one_broker.bootstrap)
        assert done.code == 0, done.err
        assert "billing on orders-0: its first offset is pending" in done.out
        assert "billing-app, open" in done.out
        shown = eosctl("group", "lag", *arguments, "-b", one_broker.bootstrap, "-o", "json").json
        (first,) = shown["first_offsets"]
        assert (first["group_id"], first["topic"], first["transactional_id"]) == ("billing", "orders", "billing-app")
        assert (first["committed_offset"], first["pending_offset"], shown["items"]) == (None, 1, [])


async def join_streams(client: Client, topology: streams.Topology, member: str = "thread-1") -> Any:
    join = streams.StreamsGroupHeartbeatRequest(
        GROUP.group_id,
        member,
        rebalance_timeout_ms=60_000,
        topology=topology,
        active_tasks=(),
        standby_tasks=(),
        warmup_tasks=(),
        process_id="instance-1",
    )
    return await client.request(1, ApiKey.STREAMS_GROUP_HEARTBEAT, join)


def test_lag_of_a_streams_group_names_the_thread_behind() -> None:
    topology = streams.Topology(0, [streams.Subtopology("0", ["orders"])])

    async def scenario(client: Client) -> Any:
        await committed(client, "first", 3)
        await commit_offset(client, "billing-app", 1)  # Makes the internal topic, and an empty group.
        return await join_streams(client, topology)

    with SandboxThread(config={"group.streams.initial.rebalance.delay.ms": "0"}) as sandbox:
        joined = on(sandbox.bootstrap, scenario)
        (lag,) = items("lag", sandbox.bootstrap)
        (described,) = items("describe", sandbox.bootstrap)
        healthy = eosctl("check", "run", "EOS-GRP-010", "EOS-GRP-011", "-b", sandbox.bootstrap)
    assert (joined.error_code, joined.member_epoch) == (0, 2)
    assert (lag["group_id"], lag["topic"], lag["committed_offset"]) == ("billing", "orders", 1)
    assert lag["client"] != ""
    assert (described["group_type"], described["topology"]["epoch"]) == ("streams", 0)
    assert [member["topology_epoch"] for member in described["members"]] == [0]
    assert healthy.code == 0, healthy.out


def test_a_streams_group_that_is_not_ready_names_what_is_missing(one_broker: SandboxThread) -> None:
    topology = streams.Topology(0, [streams.Subtopology("0", ["absent"])])

    async def scenario(client: Client) -> None:
        await committed(client, "first", 1)
        await commit_offset(client, "billing-app", 1)
        await join_streams(client, topology)

    on(one_broker.bootstrap, scenario)
    (described,) = items("describe", one_broker.bootstrap)
    assert (described["state"], described["missing_topics"]) == ("NotReady", ["absent"])
    shown = eosctl("group", "describe", "-b", one_broker.bootstrap).out
    assert "billing: streams, NotReady, coordinator 1" in shown
    judged = eosctl("check", "run", "EOS-GRP-010", "-b", one_broker.bootstrap)
    assert judged.code == 3
    assert "source topic absent missing" in judged.out


def test_share_records_that_fail_again_and_again_are_found(one_broker: SandboxThread) -> None:
    async def scenario(client: Client) -> None:
        await share.alter_group(client, {"share.auto.offset.reset": "earliest", "share.delivery.count.limit": "4"})
        await share.commit_records(client, 2)
        session = share.Session(client, await share.join(client))
        deliveries = 0
        while deliveries < 4:
            for one in await session.acquire():
                await session.acknowledge(one.first_offset, one.last_offset, share.RELEASE)
                deliveries = max(deliveries, one.delivery_count)

    on(one_broker.bootstrap, scenario)
    judged = eosctl("check", "run", "EOS-GRP-008", "EOS-GRP-009", "-b", one_broker.bootstrap)
    assert judged.code == 3
    assert "workers gave up 1 record of orders-0 after 4 deliveries" in judged.out
    assert "came back from consumers of workers" in judged.out
    (described,) = items("describe", one_broker.bootstrap, "workers")
    assert [one["state"] for one in described["deliveries"]][:2] == ["archived", "available"]
    assert described["deliveries"][0]["delivery_count"] == 4
    shown = eosctl("group", "describe", "workers", "-b", one_broker.bootstrap).out
    assert "share.delivery.count.limit=4" in shown


def test_groups_of_all_types_are_listed(one_broker: SandboxThread) -> None:
    async def scenario(client: Client) -> None:
        await committed(client, "first", 1)
        await commit_offset(client, "billing-app", 1)
        await share.join(client)

    on(one_broker.bootstrap, scenario)
    found = {one["group_id"]: (one["group_type"], one["member_count"]) for one in items("list", one_broker.bootstrap)}
    assert found == {"billing": ("classic", 0), "workers": ("share", 1)}
    assert [one["group_id"] for one in items("list", one_broker.bootstrap, "workers")] == ["workers"]
    assert eosctl("group", "list", "missing", "-b", one_broker.bootstrap).code == 2


def test_a_pending_offset_is_reported_with_its_transaction(one_broker: SandboxThread) -> None:
    async def scenario(client: Client) -> None:
        await committed(client, "first", 9)
        await commit_offset(client, "billing-app", 3)
        await commit_offset(client, "billing-app-2", 7, end=False)
        await leave_open(client, "elsewhere")

    on(one_broker.bootstrap, scenario)
    (pin,) = items("pending", one_broker.bootstrap)
    assert (pin["group_id"], pin["committed_offset"], pin["pending_offset"]) == ("billing", 3, 7)
    assert pin["transactional_id"] == "billing-app-2"
    assert [holder["transactional_id"] for holder in pin["holders"]] == ["billing-app-2"]
    assert eosctl("txn", "fence", "billing-app-2", "-b", one_broker.bootstrap, "--yes").code == 0
    assert items("pending", one_broker.bootstrap) == []


def test_without_doubt_there_is_no_second_pass(one_broker: SandboxThread) -> None:
    async def scenario(client: Client) -> None:
        await committed(client, "first", 3)
        await commit_offset(client, "billing-app", 1)
        await leave_open(client, "shop-0")

    on(one_broker.bootstrap, scenario)
    never = ("--second-look-after", "1h", "-b", one_broker.bootstrap, "-o", "json")
    quiet = eosctl("txn", "hanging", *never)
    assert (quiet.code, quiet.json["items"], quiet.json["evidence"]["look_count"]) == (0, [], 1)
    assert quiet.json["evidence"]["complete"]
    shown = eosctl("txn", "hanging", "--all", *never)
    (item,) = shown.json["items"]
    assert (item["status"], item["transactional_id"], item["groups"]) == ("open", "shop-0", ["billing"])
    listed = eosctl("txn", "list", "-b", one_broker.bootstrap, "-o", "json")
    assert (listed.json["evidence"]["look_count"], len(listed.json["items"])) == (1, 3)
    assert {"producers", "broker-configs"}.isdisjoint(listed.json["evidence"]["collected"])
    lag = eosctl("group", "lag", *never)
    assert [item["blocked_by"]["transactional_id"] for item in lag.json["items"]] == ["shop-0"]


def test_a_share_group_without_state_is_named(one_broker: SandboxThread) -> None:
    async def scenario(client: Client) -> None:
        await ensure_topic(client, "orders", partition_count=1)
        beat = ShareGroupHeartbeatRequest("workers", "m1", 0, None, ["elsewhere"])
        place = CoordinatorOf(CoordinatorKind.GROUP, "workers")
        while (await client.request(place, ApiKey.SHARE_GROUP_HEARTBEAT, beat)).error_code:
            await asyncio.sleep(0)

    on(one_broker.bootstrap, scenario)
    done = eosctl("group", "lag", "-b", one_broker.bootstrap)
    assert "The groups that were read have no committed offset." in done.out
    assert "1 share group without state: workers" in done.out


def test_lag_of_a_share_group_is_what_is_not_done(one_broker: SandboxThread) -> None:
    async def scenario(client: Client) -> None:
        await share.alter_group(client, {"share.auto.offset.reset": "earliest"})
        await share.commit_records(client, 4)
        session = share.Session(client, await share.join(client))
        await session.acquire()
        await session.acknowledge(2, 3, share.ACCEPT)

    on(one_broker.bootstrap, scenario)
    (lag,) = items("lag", one_broker.bootstrap, "workers")
    # Two records and the marker behind them; two are done beyond the start offset.
    assert (lag["group_type"], lag["committed_offset"], lag["lag_offsets"]) == ("share", 0, 3)
    assert (lag["readable_offsets"], lag["blocked_offsets"], lag["readable_records"]) == (3, 0, None)
    assert lag["client"] != ""
    assert "not shown" not in eosctl("group", "lag", "-b", one_broker.bootstrap).out


@pytest.mark.parametrize(("isolation", "blocked"), [("read_committed", 2), ("read_uncommitted", 0)])
def test_transactions_block_share_groups_that_wait(isolation: str, blocked: int, one_broker: SandboxThread) -> None:
    async def scenario(client: Client) -> None:
        settings = {"share.auto.offset.reset": "earliest", "share.isolation.level": isolation}
        await share.alter_group(client, settings)
        await share.commit_records(client, 1)
        await share.Session(client, await share.join(client)).acquire()
        await leave_open(client, "stuck")

    on(one_broker.bootstrap, scenario)
    (lag,) = items("lag", one_broker.bootstrap, "workers")
    assert (lag["readable_offsets"], lag["blocked_offsets"]) == (4 - blocked, blocked)
    assert (lag["blocked_by"] is not None) == (blocked > 0)


def test_the_next_step_of_an_error_runs_as_it_is(one_broker: SandboxThread) -> None:
    failed = eosctl("group", "lag", "unknown", "-b", one_broker.bootstrap)
    assert f"next: List all groups: eosctl group lag -b {one_broker.bootstrap}\n" in failed.err
    assert eosctl("group", "lag", "-b", one_broker.bootstrap).code == 0


def test_a_position_beyond_the_end_is_named_next_to_no_lag(one_broker: SandboxThread) -> None:
    async def scenario(client: Client) -> None:
        await committed(client, "writer", 2)
        await commit_offset(client, "reader", 50)

    on(one_broker.bootstrap, scenario)
    (item,) = eosctl("group", "lag", "billing", "-b", one_broker.bootstrap, "-o", "json").json["items"]
    assert (item["lag_offsets"], item["beyond_end_offsets"], item["deleted_offsets"]) == (0, 47, 0)
    assert "its position 50 lies beyond the end 3" in eosctl("group", "lag", "-b", one_broker.bootstrap).out
