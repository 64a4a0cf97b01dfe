"""What members of classic groups do: each takes its steps alone, so that one of them can be late for a rebalance."""

from __future__ import annotations

from eosctl.client import Client
from eosctl.client.group_member import GroupMember
from eosctl.lab.scenarios.steps.play import Play


async def join(play: Play, *, member: str, group: str, rebalance_timeout_ms: int = 60_000) -> None:
    """Join a group, or join it again, and wait until the rebalance is over; no heartbeats follow."""
    await _member(play, await play.open_client(member), member, group, rebalance_timeout_ms).join()


async def join_soon(play: Play, *, member: str, group: str, rebalance_timeout_ms: int = 60_000) -> None:
    """Begin to join: the group rebalances until all others have joined again or their time is up."""
    client = await play.open_client(member)
    play.in_background(_member(play, client, member, group, rebalance_timeout_ms).join())


async def joined(play: Play, *, member: str) -> None:
    """Wait until a member that began to join is one."""
    await play.member(member).joined.wait()


def _member(play: Play, client: Client, member: str, group: str, rebalance_timeout_ms: int) -> GroupMember:
    return play.members.setdefault(member, GroupMember(client, group, rebalance_timeout_ms))
