"""The chain: consume-transform-produce hop by hop, by instances that take over from each other.

On eosctl's own client they are no members of their groups, so that each of them may be anywhere when another one takes
over; other clients are members (`eosctl.lab.verify.driven_chain`).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from eosctl.lab.recording import copy, watch_offset
from eosctl.lab.verify.driven_chain import run_driven_chain
from eosctl.lab.verify.scene import Scene

_ABORT_SHARE: Final = 0.2
_THINK_SHARE: Final = 0.15
_THINK_MS: Final = (20.0, 250.0)
_TAKEOVER_MS: Final = (300, 2_500)


async def run_chain(scene: Scene, chance: random.Random, feeding: Callable[[], bool]) -> None:
    """Copy hop by hop until everything that was fed has come through; `feeding` shows whether more may come."""
    busy = feeding
    copying: list[asyncio.Future[None]] = []
    if scene.driver is not None:
        copying += [asyncio.ensure_future(run_driven_chain(scene, scene.driver, chance, feeding))]
    else:
        for hop in range(scene.plan.hops):
            workers = [
                asyncio.ensure_future(_copy(scene, random.Random(chance.getrandbits(64)), hop, index, twin, busy))
                for index in range(scene.plan.partition_count)
                for twin in (0, 1)
            ]
            copying += workers
            busy = partial(_any_busy, workers)
    watching = [
        asyncio.ensure_future(_watch_lag(scene, hop, lambda: not _any_busy(copying))) for hop in range(scene.plan.hops)
    ]
    try:
        await asyncio.gather(*copying, *watching)
    finally:
        for worker in (*copying, *watching):
            worker.cancel()


async def _watch_lag(scene: Scene, hop: int, is_over: Callable[[], bool]) -> None:
    """Ask for a group's offset again and again, as monitoring does: what it is shown has to be committed."""
    async with scene.client() as client:
        place = scene.partitions(f"hop-{hop}")[0]
        await watch_offset(client, scene.recorder, f"lag watcher {hop}", scene.group(hop), place, is_over)


def _any_busy(workers: Sequence[asyncio.Future[None]]) -> bool:
    return not all(worker.done() for worker in workers)


async def _copy(scene: Scene, chance: random.Random, hop: int, index: int, twin: int, busy: Callable[[], bool]) -> None:
    """Copy a partition of one hop to the next, taking it over from the twin now and then and being taken over."""
    name = f"hop-{hop}-{index}"
    pair = (scene.partitions(f"hop-{hop}")[index], scene.partitions(f"hop-{hop + 1}")[index])

    async def linger() -> None:
        if chance.random() < _THINK_SHARE:
            await asyncio.sleep(chance.uniform(*_THINK_MS) / 1_000)

    if twin:
        await scene.pause(chance.uniform(*_TAKEOVER_MS))
    life = 0
    while busy() or life == 0:
        life += 1
        async with scene.client() as client:
            producer = scene.producer(client, name, f"{name}{'ab'[twin]}.{life}")
            await copy(
                client,
                producer,
                scene.recorder,
                scene.group(hop),
                pair,
                lambda: not busy(),
                keeps_position=not twin,  # as Kafka Streams does; the twin asks for the offset before each transaction
                aborts=lambda: not twin and chance.random() < _ABORT_SHARE,
                lingers=linger,  # pending offsets are what a late commit of the other one may meet
            )
        # Also at the end: two who never wait would take it from each other for ever.
        await asyncio.sleep(chance.uniform(*_TAKEOVER_MS) / 1000)
