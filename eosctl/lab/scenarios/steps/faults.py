"""Steps that inject faults and advance the time."""

from __future__ import annotations

import re

from eosctl.client.destinations import group_coordinator, transaction_coordinator
from eosctl.errors import UsageError
from eosctl.lab.scenarios.steps.play import Play, partition_of
from eosctl.sandbox.faults.order import parse_ms, parse_order
from eosctl.text import count_text

_WHO = re.compile(r"\{(leader|follower|second-follower|coordinator|group-coordinator|named):([^}]+)\}")


async def fault(play: Play, *, words: str) -> None:
    """Inject a fault.

    `{leader:orders}`, `{follower:orders}`, `{second-follower:orders}`, `{coordinator:app}`, and `{group-coordinator:g}`
    are replaced by broker ids, `{named:1}` by the first one replaced before.
    """
    filled = words
    for found in _WHO.finditer(words):
        node = await _node(play, found[1], found[2])
        play.named.append(node)
        filled = filled.replace(found[0], str(node))
    await play.engine.inject(parse_order(filled))


async def heal(play: Play) -> None:
    """End every fault."""
    await play.engine.heal()


async def advance(play: Play, *, time: str) -> None:
    """Advance the time."""
    await play.engine.advance(parse_ms(time))


async def broker_named(play: Play, words: str) -> int:
    """Return the broker that `{leader:orders}` or the like names.

    Raises:
        UsageError: The words do not name a broker.
    """
    found = _WHO.fullmatch(words)
    if found is None:
        raise UsageError(f"{words!r} does not name a broker.", "Names are like {leader:orders}.", "Fix the scenario.")
    return await _node(play, found[1], found[2])


async def _node(play: Play, kind: str, key: str) -> int:
    match kind:
        case "named":
            return _named(play, key)
        case "leader":
            await play.client.refresh_metadata([partition_of(key).topic])
            return await play.client.node_id(partition_of(key))
        case "follower":
            return await _follower(play, key, 1)
        case "second-follower":
            return await _follower(play, key, 2)
        case "coordinator":
            return await play.client.node_id(transaction_coordinator(key))
    return await play.client.node_id(group_coordinator(key))


def _named(play: Play, key: str) -> int:
    if not key.isdigit() or not 1 <= int(key) <= len(play.named):
        raise UsageError(
            f"{{named:{key}}} is not a broker.", f"{len(play.named)} were found so far.", "Fix the scenario."
        )
    return play.named[int(key) - 1]


async def _follower(play: Play, key: str, number: int) -> int:
    partition = partition_of(key)
    topic = (await play.client.refresh_metadata([partition.topic])).topic(partition.topic)
    found = next((each for each in topic.partitions if each.partition == partition), None) if topic else None
    followers = [node for node in found.isr if node != found.leader_id] if found else []
    if len(followers) < number:
        what = f"{partition} has {count_text(len(followers), 'follower')} in sync, not {number}."
        raise UsageError(what, "", "Give its topic more replicas.")
    return followers[number - 1]
