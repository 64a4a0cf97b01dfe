"""Steps of consumer groups and their offsets."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from eosctl.client.client import connect
from eosctl.client.destinations import group_coordinator
from eosctl.client.group_member import GroupMember
from eosctl.client.outcome import any_error, error_for_code
from eosctl.client.topics import ensure_topic
from eosctl.lab.rehearsals.clusters import RehearsalCluster
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import offset_commit
from eosctl.wire.messages.delete_groups import DeleteGroupsRequest
from eosctl.wire.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic

# OffsetCommit 10 uses topic ids; up to 9 names.
_BY_NAME = 9


async def commit_offset(
    cluster: RehearsalCluster, *, group: str, offset: int, topic: str = "orders", partition: int = 0
) -> None:
    """Commit an offset from outside of the group."""
    await ensure_topic(cluster.client, topic)
    entry = offset_commit.OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
    request = offset_commit.OffsetCommitRequest(
        group_id=group, topics=[offset_commit.OffsetCommitRequestTopic(name=topic, partitions=[entry])]
    )
    answer = await cluster.client.request(
        group_coordinator(group), ApiKey.OFFSET_COMMIT, request, cap=_BY_NAME, error_of=any_error
    )
    if code := any_error(answer):
        raise error_for_code(code, f"OffsetCommit of {group}")


async def join(cluster: RehearsalCluster, *, group: str, member: str = "one") -> None:
    """Start a member that joins a group, and stays until it leaves or the rehearsal ends."""
    joined = asyncio.Event()

    async def run() -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(
                connect(cluster.config, connector=cluster.connector, chance=cluster.chance)
            )
            cluster.members[member] = found = GroupMember(client, group)
            joined.set()
            await found.live()

    cluster.in_background(run())
    await joined.wait()
    await cluster.members[member].joined.wait()


async def leave(cluster: RehearsalCluster, *, member: str = "one") -> None:
    """Make a member leave its group."""
    await cluster.members.pop(member).leave()


async def keep_rejoining(cluster: RehearsalCluster, *, group: str, every_ms: int = 1_000) -> None:
    """Make a member leave and rejoin its group until the rehearsal ends, with a rebalance each time."""

    async def run() -> None:
        while True:
            async with connect(cluster.config, connector=cluster.connector, chance=cluster.chance) as client:
                member = GroupMember(client, group)
                living = asyncio.create_task(member.live())
                try:
                    await member.joined.wait()
                    await asyncio.sleep(every_ms / 1000)
                    await member.leave()
                finally:
                    living.cancel()
                    await asyncio.gather(living, return_exceptions=True)

    cluster.in_background(run())


async def forget_group(cluster: RehearsalCluster, *, group: str) -> None:
    """Delete a group, as expired offsets do."""
    answer = await cluster.client.request(group_coordinator(group), ApiKey.DELETE_GROUPS, DeleteGroupsRequest([group]))
    if code := any_error(answer):
        raise error_for_code(code, f"DeleteGroups of {group}")


async def delete_records(cluster: RehearsalCluster, *, topic: str = "orders", partition: int = 0, offset: int) -> None:
    """Delete the records before an offset, as retention does."""
    request = DeleteRecordsRequest([DeleteRecordsTopic(topic, [DeleteRecordsPartition(partition, offset)])], 10_000)
    answer = await cluster.client.request(TopicPartition(topic, partition), ApiKey.DELETE_RECORDS, request)
    if code := any_error(answer):
        raise error_for_code(code, f"DeleteRecords of {topic}-{partition}")


async def join_soon(cluster: RehearsalCluster, *, group: str, member: str) -> None:
    """Start to join a group, so that the others rebalance at their next heartbeat."""
    cluster.in_background(join(cluster, group=group, member=member))
