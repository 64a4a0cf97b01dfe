"""Faults of a cluster in several processes.

A fault of a node is injected by the worker that hosts it, any other fault by all workers. A fault of a link acts in the
sender's process, or in that of the receiver if only the receiver is named. A fault that counts frames therefore needs a
named node.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from eosctl.errors import EosctlError, UsageError
from eosctl.sandbox.faults.bugs import BUGS
from eosctl.sandbox.faults.choice import check_nodes, choose_nodes
from eosctl.sandbox.faults.control import Command, fault_commands
from eosctl.sandbox.faults.engine import IMMEDIATELY
from eosctl.sandbox.faults.kinds import FaultKind
from eosctl.sandbox.faults.links import is_of_clients, link_faults, node_of_stream
from eosctl.sandbox.faults.order import FaultOrder
from eosctl.sandbox.faults.register import ActiveFault, FaultRegister
from eosctl.sandbox.process.control import ControlError
from eosctl.sandbox.workers.crew import Crew
from eosctl.sandbox.workers.worker_process import WorkerProcess

CATCH_UP_TIMEOUT_S: Final = 10.0
_OF_OWNER: Final = frozenset(
    {
        FaultKind.KILL,
        FaultKind.STOP,
        FaultKind.RESTART,
        FaultKind.PAUSE,
        FaultKind.FULL_DISK,
        FaultKind.FAIL_DISK,
    }
)
#: The end of these starts their node.
_UNTIL_STARTED: Final = frozenset({FaultKind.KILL, FaultKind.STOP, FaultKind.FULL_DISK})


@dataclass(slots=True)
class _CrewFault(ActiveFault):
    """An active fault with its number in each worker, and the frames that each has reported as affected."""

    numbers: dict[int, int] = field(default_factory=dict)
    hits: dict[int, int] = field(default_factory=dict)

    @property
    def hit_count(self) -> int:
        """Return the number of frames that it has affected, as last reported."""
        return sum(self.hits.values())


class CrewFaults(FaultRegister):
    """The faults of a cluster, by number."""

    def __init__(self, crew: Crew, bugs: Sequence[tuple[str, bool]]) -> None:
        super().__init__(asyncio.get_running_loop())
        self._crew = crew
        self._node_ids = [*crew.shape.controller_ids, *crew.shape.broker_ids]
        self._seed: int | None = None
        release = crew.shape.emulation.release
        self._bugs = {bug.name: bug.is_default for bug in BUGS if release in bug.releases} | dict(bugs)
        crew.on_restart = self._inject_again

    def commands(self) -> Mapping[str, Command]:
        """Return the fault commands of the control socket."""
        own = fault_commands(self)

        async def faults(arguments: dict[str, Any]) -> Any:
            await self._refresh()
            return await own["faults"](arguments)

        return {**own, "faults": faults}

    def reseed(self, seed: int) -> None:
        """Restart the random choices with a new seed; a worker adds its number."""
        super().reseed(seed)
        self._seed = seed

    def bug_states(self) -> dict[str, bool]:
        """Return the state of each known bug that the release can have."""
        return self._bugs

    async def inject(self, order: FaultOrder) -> ActiveFault:
        """Inject a fault; return when it has started.

        Raises:
            EosctlError: The cluster cannot have the fault now.
            UsageError: Several processes would count its frames.
        """
        order = choose_nodes(
            order, [node for node in await self._running() if node not in self._controllers], self.chance
        )
        check_nodes(order, self._node_ids)
        if _is_counted(order) and not self._is_in_one_process(order):
            raise UsageError(
                "A fault that counts frames needs a node in a sandbox of several processes.",
                "Each process would count the frames of its own nodes.",
                "Name a broker, e.g. to=1, or leave out count= and skip=.",
            )
        active = _CrewFault(self._numbered(order).number, order, self._now_ms())
        what = await self._begin(active)
        self._note(active, what or "begins")
        if order.kind not in IMMEDIATELY:
            self._keep_active(active)
        return active

    async def heal(self) -> None:
        """End all active faults, the latest first, and start every stopped node."""
        await super().heal()
        for node in self._node_ids:
            if node not in await self._running():
                await self._crew.start_node(node)

    def forget(self, process: WorkerProcess) -> None:
        """Forget the faults of a process that has ended. A fault that counts frames ends with their count."""
        for active in self._active_here():
            if active.numbers.pop(process.number, None) is not None and _is_counted(active.order):
                del self._lasting[active.number]
                self._note(active, f"ends with process {process.pid}")

    # --- beginning ----------------------------------------------------------------------------------------------

    async def _begin(self, active: _CrewFault) -> str:
        order, node = active.order, active.order.node or 0
        match order.kind:
            case FaultKind.START:
                await self._crew.start_node(node)
                return ""
            case FaultKind.MOVE_COORDINATOR:
                return await self._move_coordinator(active)
            case FaultKind.UNLOAD_COORDINATOR:
                return await self._unload_coordinator(active)
            case kind if kind in _OF_OWNER:
                return await self._inject_at(self._crew.process_of(node), active)
        await self._inject_everywhere(active)
        if order.kind is FaultKind.BUG:
            before = self._bugs[order.name]
            self._bugs[order.name] = order.on
            active.undo.append(lambda: self._bugs.update({order.name: before}))
        return ""

    async def _inject_at(self, process: WorkerProcess, active: _CrewFault) -> str:
        words = str(replace(active.order, for_ms=None)).split()
        seed = {} if self._seed is None else {"seed": self._seed + process.number}
        answer = await process.call("inject", words=words, **seed)
        active.numbers[process.number] = answer["number"]
        what: str = answer["what"]
        return "" if what == "begins" else what

    async def _inject_everywhere(self, active: _CrewFault) -> None:
        try:
            for process in self._crew.processes():
                await self._inject_at(process, active)
        except EosctlError:
            await self._end_in_workers(active)
            raise
        self._seed = None

    async def _move_coordinator(self, active: _CrewFault) -> str:
        brokers = [node for node in await self._running() if node not in self._controllers]
        if not brokers:
            raise EosctlError("No broker runs.", "All were stopped.", "Start one: eosctl sandbox fault start node=1")
        mover = self._crew.process_of(brokers[0])
        what = await self._inject_at(mover, active)
        offset = await mover.call("catch-up", offset=0)
        try:
            async with asyncio.timeout(CATCH_UP_TIMEOUT_S):
                for process in self._crew.processes():
                    await process.call("catch-up", offset=offset)
        except TimeoutError:
            what += "; not all brokers know it yet"
        return what

    async def _unload_coordinator(self, active: _CrewFault) -> str:
        """Unload the partition at its leader, which the worker that hosts it knows."""
        refusal: EosctlError | None = None
        for process in self._crew.processes():
            try:
                return await self._inject_at(process, active)
            except ControlError as error:
                refusal = error
        raise refusal or EosctlError("No process runs.", "All have ended.", "Start a broker: fault start node=1")

    async def _inject_again(self, process: WorkerProcess) -> None:
        """Inject the active faults of all workers in a new process of one."""
        for active in self._active_here():
            if active.order.kind not in _OF_OWNER and not _is_counted(active.order):
                await self._inject_at(process, active)

    # --- ending -------------------------------------------------------------------------------------------------

    async def _undo(self, active: ActiveFault) -> None:
        if not isinstance(active, _CrewFault):
            raise TypeError(f"a fault of another register: {active}")
        for undo in active.undo:
            undo()
        await self._end_in_workers(active)
        node = active.order.node
        if active.order.kind in _UNTIL_STARTED and node is not None and node not in await self._running():
            await self._crew.start_node(node)

    async def _end_in_workers(self, active: _CrewFault) -> None:
        for process in self._crew.processes():
            if process.number in active.numbers:
                await process.call("end-fault", number=active.numbers.pop(process.number))

    # --- looking in ---------------------------------------------------------------------------------------------

    def _active_here(self) -> list[_CrewFault]:
        return [active for active in self.active if isinstance(active, _CrewFault)]

    @property
    def _controllers(self) -> Sequence[int]:
        """Return the controllers that are separate nodes."""
        return [node for node in self._crew.shape.controller_ids if node not in self._crew.shape.broker_ids]

    async def _running(self) -> list[int]:
        """Return the nodes that run."""
        return [node for nodes in (await self._crew.ask_all("nodes")).values() for node in nodes]

    async def _refresh(self) -> None:
        """Read the numbers of affected frames."""
        for worker, report in (await self._crew.ask_all("faults")).items():
            counts = {found["number"]: found["hit_count"] for found in report["active"]}
            for active in self._active_here():
                if active.numbers.get(worker) in counts:
                    active.hits[worker] = counts[active.numbers[worker]]

    def _is_in_one_process(self, order: FaultOrder) -> bool:
        """Return whether one process sees all frames that a fault can affect."""
        return all(
            node_of_stream(fault) is not None
            if is_of_clients(fault)
            else not (fault.source is None and fault.destination is None)
            for fault in link_faults(order, self._node_ids, self.chance)
        )


def _is_counted(order: FaultOrder) -> bool:
    return bool(order.skip) or order.count is not None
