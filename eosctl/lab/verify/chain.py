"""A chain of consume-transform-produce hops, with instances that take over from each other.

With eosctl's own client, the instances are not group members, so that each may be anywhere when another one takes over.
Other clients are members (`eosctl.lab.verify.driven_chain`).
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
    """Copy hop by hop until all inputs have passed; `feeding` returns whether more may come."""
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
    """Fetch a group's offset repeatedly, as monitoring does; every returned offset must be committed."""
    async with scene.client() as client:
        place = scene.partitions(f"hop-{hop}")[0]
        await watch_offset(client, scene.recorder, f"lag watcher {hop}", scene.group(hop), place, is_over)


def _any_busy(workers: Sequence[asyncio.Future[None]]) -> bool:
    return not all(worker.done() for worker in workers)


async def _copy(scene: Scene, chance: random.Random, hop: int, index: int, twin: int, busy: Callable[[], bool]) -> None:
    """Copy a partition of a hop to the next; occasionally take over from the twin."""
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
                keeps_position=not twin,  # As Kafka Streams does; the twin fetches the offset before each transaction.
                aborts=lambda: not twin and chance.random() < _ABORT_SHARE,
                lingers=linger,  # A late commit of the twin may affect these pending offsets.
            )
        # At the end too: two instances without a pause would fence each other forever.
        await asyncio.sleep(chance.uniform(*_TAKEOVER_MS) / 1000)
