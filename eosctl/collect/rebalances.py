"""How long groups stay in a rebalance: they are described again until they leave it, or longer than a normal one takes.

No record and no response has the time at which a rebalance began; a single look cannot distinguish one that takes a
moment from one that waits for a member.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final

from msgspec.structs import replace

from eosctl.collect.groups import describe_states
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import Group

KIND: Final = EvidenceKind.REBALANCES
REBALANCING: Final = frozenset({"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"})
"""The states between two assignments (GroupState), of classic groups, and of consumer and streams groups."""
AT_REST: Final = frozenset({"Stable", "Empty", "Dead", "NotReady"})
"""All other states; `NotReady` is judged by EOS-GRP-010."""
WATCHED_MS: Final = 6_000
"""Members learn of a rebalance by their next heartbeat (heartbeat.interval.ms, 3 s) and join with their next poll."""
PAUSE_S: Final = 1.0


async def collect_rebalances(
    reader: ReadOnly, groups: Sequence[Group], now_ms: Callable[[], int]
) -> Probed[tuple[Group, ...]]:
    """Add the time during which each group with members was in a rebalance at every look; 0 for those that left it."""
    began_ms = now_ms()
    gaps = [_unknown(group) for group in groups if group.state and group.state not in REBALANCING | AT_REST]
    left = {group.group_id: group for group in groups if group.state in REBALANCING and group.members}
    watched = dict.fromkeys(left, 0)
    while left and now_ms() - began_ms < WATCHED_MS:
        if not await reader.pause(PAUSE_S):
            gaps += map(_too_short, left)
            break
        states, lost = await _states(reader, left.values())
        gaps += lost
        left = {name: group for name, group in left.items() if states.get(name) in REBALANCING}
        for name in watched:
            watched[name] = now_ms() - began_ms if name in left else 0
    added = (replace(one, rebalancing_for_ms=watched.get(one.group_id)) for one in groups)
    return Probed(tuple(added), tuple(gaps))


async def _states(reader: ReadOnly, groups: Iterable[Group]) -> tuple[dict[str, str], list[EvidenceGap]]:
    by_coordinator = groupby(sorted(groups, key=_coordinator), key=_coordinator)
    answers = await asyncio.gather(
        *(describe_states(reader, broker_id, tuple(of_broker)) for broker_id, of_broker in by_coordinator)
    )
    states = {group.group_id: group.state for answer in answers for group in answer.value}
    return states, [replace(gap, kind=KIND) for answer in answers for gap in answer.gaps]


def _coordinator(group: Group) -> int:
    return group.coordinator_id


def _too_short(group_id: str) -> EvidenceGap:
    return EvidenceGap(
        KIND,
        group_id,
        GapReason.TIMED_OUT,
        detail="it is in a rebalance, and the time was too short to see its end",
        next_step="Try again with a longer --timeout.",
    )


def _unknown(group: Group) -> EvidenceGap:
    return EvidenceGap(
        KIND,
        group.group_id,
        GapReason.UNSUPPORTED,
        detail=f"eosctl does not know its state {group.state!r}",
        next_step="Use a release of eosctl that knows this release of Kafka.",
    )
