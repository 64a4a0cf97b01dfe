"""The process of a sandbox whose brokers are eosctl's own: one cluster in one loop."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from pathlib import Path

from eosctl.sandbox.cluster import Cluster
from eosctl.sandbox.process import places
from eosctl.sandbox.process.moderation import ONE_BROKER, REPLICATING, ModeratedSelector
from eosctl.sandbox.process.serving import serve
from eosctl.sandbox.process.spec import SandboxSpec


class _ProcessCluster(Cluster):
    """A cluster that has its process to itself: it says when Python's cyclic collector looks at what.

    What is alive after a start stays, and little of the rest is cyclic: a full pass over 100,000 live objects takes
    some 30 ms, in which nobody is answered. A broker that has ended is the exception. It is a great cycle, so each
    start of another lets go of it.
    """

    async def start(self) -> None:
        """Start it, and spare the loop the frequent rounds of the collector."""
        await super().start()
        _keep_what_lives()
        gc.set_threshold(50_000, 20, 20)

    async def start_broker(self, broker_id: int) -> None:
        """Start a broker that has ended, and let go of what it was."""
        await super().start_broker(broker_id)
        _keep_what_lives()


def _keep_what_lives() -> None:
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _make(spec: SandboxSpec) -> Cluster:
    return _ProcessCluster(spec, places.logs_dir(Path(spec.data_dir)))


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that tells the time without a call of Python's: a transaction asks eight times."""

    time = staticmethod(time.monotonic)


def _new_loop(spec: SandboxSpec) -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return _Loop(ModeratedSelector(REPLICATING if spec.brokers > 1 else ONE_BROKER))
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1:], _make, _new_loop))
