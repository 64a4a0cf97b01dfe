"""A chain with clients that are members of their groups (KIP-447) and process their assigned partitions.

Each hop has two members. One stays, the other one leaves and rejoins, so that partitions move, even during a
transaction of their owner. Occasionally a member exceeds the group's timeout: its successor has processed its records
when it sends their offsets, and the coordinator must reject them by generation.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Final

from eosctl.client import Client
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.offsets import committed_offsets
from eosctl.errors import EosctlError
from eosctl.lab.verify.driven import DrivenMember
from eosctl.lab.verify.driver import Driver, DriverFailure
from eosctl.lab.verify.scene import Scene
from eosctl.model.transaction import TopicPartition

_ABORT_SHARE: Final = 0.15
_THINK_SHARE: Final = 0.15
_THINK_MS: Final = (20.0, 250.0)
_STALL_SHARE: Final = 0.01
#: Longer than the programs' `max.poll.interval.ms` of 6 s.
_STALL_MS: Final = 7_000.0
_STAY_MS: Final = (2_000, 8_000)
_AWAY_MS: Final = (300, 2_500)
_LOOK_S: Final = 0.3
_RETRY_S: Final = 0.2
_READ_MS: Final = 5_000


async def run_driven_chain(scene: Scene, driver: Driver, chance: random.Random, feeding: Callable[[], bool]) -> None:
    """Copy hop by hop until all inputs have passed; `feeding` returns whether more may come."""
    through: asyncio.Future[None] | None = None
    tasks: list[asyncio.Future[None]] = []
    for hop in range(scene.plan.hops):
        is_fed = (lambda: not feeding()) if through is None else through.done
        through = asyncio.ensure_future(_wait_until_through(scene, hop, is_fed))
        members = [
            asyncio.ensure_future(
                _copy(scene, driver, random.Random(chance.getrandbits(64)), f"hop-{hop}{name}", hop, through.done, goes)
            )
            for name, goes in (("a", False), ("b", True))
        ]
        tasks += [through, *members]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _copy(
    scene: Scene,
    driver: Driver,
    chance: random.Random,
    name: str,
    hop: int,
    is_over: Callable[[], bool],
    goes: bool,
) -> None:
    """Run a member of a hop's group, restarting it after each end."""
    transactional_id = f"{scene.plan.prefix}-{name}"
    scene.transactional_ids.add(transactional_id)
    life = 0
    while not is_over():
        life += 1
        member = DrivenMember(
            driver,
            transactional_id,
            scene.recorder,
            f"{name}.{life}",
            transaction_timeout_ms=scene.plan.transaction_timeout_ms,
            group=scene.group(hop),
            topic=scene.plan.topic(f"hop-{hop}"),
        )
        try:
            await _live(scene, member, chance, scene.partitions(f"hop-{hop + 1}"), is_over, goes)
        finally:
            member.drop()
        if goes:
            await scene.pause(chance.uniform(*_AWAY_MS))


async def _live(
    scene: Scene,
    member: DrivenMember,
    chance: random.Random,
    destinations: tuple[TopicPartition, ...],
    is_over: Callable[[], bool],
    goes: bool,
) -> None:
    if not await member.survives():
        return
    number, now_ms = 0, scene.recorder.now_ms
    leaves_ms = now_ms() + chance.uniform(*_STAY_MS)
    while not is_over() and not (goes and now_ms() > leaves_ms and not scene.is_over()):
        try:
            taken = await member.take()
        except DriverFailure:
            await asyncio.sleep(_RETRY_S)
            continue
        if not taken:
            continue
        name, number = f"{member.actor}/{number}", number + 1
        linger_ms = _draw_linger_ms(chance)

        async def work(
            name: str = name, taken: list[tuple[TopicPartition, int, str]] = taken, linger_ms: float = linger_ms
        ) -> None:
            for index, (place, _, value) in enumerate(taken):
                target = destinations[place.partition]
                await member.send_value(target, f"{name}/{index}", value, size_bytes=scene.plan.record_bytes)
            await asyncio.sleep(linger_ms / 1_000)
            await member.send_positions({place: offset + 1 for place, offset, _ in taken})

        if await member.attempt(name, work, aborts=chance.random() < _ABORT_SHARE) is None:
            return


def _draw_linger_ms(chance: random.Random) -> float:
    drawn = chance.random()
    if drawn < _STALL_SHARE:
        return _STALL_MS
    return chance.uniform(*_THINK_MS) if drawn < _THINK_SHARE else 0.0


async def _wait_until_through(scene: Scene, hop: int, is_fed: Callable[[], bool]) -> None:
    """Wait until a hop's input has ended and its group has committed all of it."""
    while not is_fed():
        await asyncio.sleep(_LOOK_S)
    async with scene.client() as client:
        for place in scene.partitions(f"hop-{hop}"):
            while not await _is_through(client, scene.group(hop), place):
                await asyncio.sleep(_LOOK_S)


async def _is_through(client: Client, group: str, place: TopicPartition) -> bool:
    """Return whether no committed record follows a group's offset; False if the broker does not respond."""
    try:
        offset = (await committed_offsets(client, group, [place]))[place]
        reader = Reader(client, IsolationLevel.READ_COMMITTED, {place: offset or 0})
        return not (await reader.drain(_READ_MS)).get(place)
    except EosctlError:
        return False
