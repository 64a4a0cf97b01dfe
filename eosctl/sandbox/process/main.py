"""The process of a sandbox with eosctl's own brokers: a cluster in an event loop."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from pathlib import Path

from eosctl.sandbox.cluster import Cluster
from eosctl.sandbox.process import paths
from eosctl.sandbox.process.moderation import ONE_BROKER, REPLICATING, ModeratedSelector
from eosctl.sandbox.process.serving import Served, serve
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.sandbox.workers.supervisor import SupervisedCluster


class ProcessCluster(Cluster):
    """A cluster in a process of its own, which controls when Python's garbage collector runs.

    Objects of a started broker live long, and a full collection would block all responses. After a broker has stopped,
    its object graph is a large cycle, which is collected when a broker starts.
    """

    async def open(self) -> None:
        """Accept clients, and disable frequent garbage collections."""
        await super().open()
        _freeze_live_objects()
        gc.set_threshold(50_000, 20, 20)

    async def start_broker(self, broker_id: int) -> None:
        """Start a stopped broker, and collect the objects of its previous run."""
        await super().start_broker(broker_id)
        _freeze_live_objects()


def _freeze_live_objects() -> None:
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def make_cluster(spec: SandboxSpec, lock: int) -> Served:
    """Return the cluster of a process; the workers of several processes hold the lock of the data directory, too."""
    if spec.processes > 1:
        return SupervisedCluster(spec, [lock])
    return ProcessCluster(spec, paths.logs_dir(Path(spec.data_dir)))


class _Loop(asyncio.SelectorEventLoop):
    """An event loop with a C-implemented clock, which every transaction reads several times."""

    time = staticmethod(time.monotonic)


def new_loop(spec: SandboxSpec) -> asyncio.AbstractEventLoop:
    """Return the event loop of a process: uvloop if it is installed."""
    try:
        import uvloop
    except ImportError:
        return _Loop(ModeratedSelector(REPLICATING if spec.brokers > 1 else ONE_BROKER))
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


if __name__ == "__main__":
    sys.exit(serve(SandboxSpec.from_json(sys.stdin.read()), int(sys.argv[1]), make_cluster, new_loop))
