"""Whole runs of the verifier on virtual time: seconds of work in a moment, the same for the same seed."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from eosctl.client import connect
from eosctl.lab.history.events import History
from eosctl.lab.recording import Recorder, View
from eosctl.lab.simulation import simulate
from eosctl.lab.verify.conduct import Conducted, Disturbance, conduct
from eosctl.lab.verify.guide import Guide
from eosctl.lab.verify.links import LINK_RANGES, LinkNemesis
from eosctl.lab.verify.nemesis import CombinedNemesis, SandboxNemesis, sandbox_ranges
from eosctl.lab.verify.plan import PlannedFault, VerifyPlan
from eosctl.lab.verify.play import coordinator_view
from eosctl.lab.verify.scene import Scene
from eosctl.lab.virtual_loop import run_virtual
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.faults.control import fault_commands
from eosctl.sandbox.faults.engine import FaultEngine
from eosctl.sandbox.ports import Emulation

_SETTINGS = {"transaction.state.log.num.partitions": "2", "offsets.topic.num.partitions": "2"}


class Virtual(NamedTuple):
    """What came of a run."""

    history: History
    conducted: Conducted
    topics: frozenset[str]


def play_virtually(
    plan: VerifyPlan,
    faults: Sequence[PlannedFault] = (),
    *,
    keep: bool = False,
    emulate: str = "4.3",
    transaction_version: int | None = None,
    guide: Guide | None = None,
    bugs: Mapping[str, bool] = MappingProxyType({}),
    view: View | None = coordinator_view,
) -> Virtual:
    """Play a plan with faults on the clients' links and of the brokers, on a simulated cluster of three brokers."""

    async def play() -> Virtual:
        loop = asyncio.get_running_loop()
        shape = ClusterShape(3, Emulation(emulate), transaction_version, _SETTINGS, fast=True)
        with tempfile.TemporaryDirectory() as directory:
            async with simulate(shape, Path(directory), seed=plan.seed) as simulation:
                chance = random.Random(plan.seed)
                link = LinkNemesis(simulation.network)
                engine = FaultEngine(simulation, seed=plan.seed)
                for name, on in bugs.items():
                    engine.switch_bug(name, on)
                commands = fault_commands(engine)
                ranges = sandbox_ranges(simulation.core.broker_ids, simulation.core.controller_ids)
                brokers = SandboxNemesis(lambda command, arguments: commands[command](arguments))
                nemesis = CombinedNemesis([(LINK_RANGES, link), (ranges, brokers)])
                config = replace(simulation.config, connect_timeout_ms=1_500, request_timeout_ms=1_500)
                config = replace(config, timeout_ms=20_000)
                coverage = guide.coverage if guide is not None else None
                recorder = Recorder(lambda: int(loop.time() * 1_000), coverage=coverage, view=view)

                def open_client() -> object:
                    return connect(config, connector=link, chance=random.Random(chance.random()))

                scene = Scene(plan, recorder, open_client, simulation.now_ms)  # type: ignore[arg-type]
                conducted = await conduct(scene, Disturbance(tuple(faults), nemesis, guide), keep=keep)
                async with connect(simulation.config, connector=simulation.network) as client:
                    names = {topic.name for topic in (await client.refresh_metadata(None)).topics if not topic.internal}
                return Virtual(recorder.history, conducted, frozenset(names))

    return run_virtual(play(), plan.seed)
