"""Steps of classic group members; each step is separate, so that a member can be late for a rebalance."""

from __future__ import annotations

from eosctl.client import Client
from eosctl.client.group_member import GroupMember
from eosctl.lab.scenarios.steps.play import Play


async def join(play: Play, *, member: str, group: str, rebalance_timeout_ms: int = 60_000) -> None:
    """Join or rejoin a group, and wait until the rebalance is complete; no heartbeats follow."""
    await _member(play, await play.open_client(member), member, group, rebalance_timeout_ms).join()


async def join_soon(play: Play, *, member: str, group: str, rebalance_timeout_ms: int = 60_000) -> None:
    """Start to join: the group rebalances until all others have rejoined or timed out."""
    client = await play.open_client(member)
    play.in_background(_member(play, client, member, group, rebalance_timeout_ms).join())


async def joined(play: Play, *, member: str) -> None:
    """Wait until a member that started to join has joined."""
    await play.member(member).joined.wait()


def _member(play: Play, client: Client, member: str, group: str, rebalance_timeout_ms: int) -> GroupMember:
    return play.members.setdefault(member, GroupMember(client, group, rebalance_timeout_ms))
