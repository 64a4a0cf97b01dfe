"""The engine's side of the control socket: ``inject``, ``faults``, ``end-fault`` and ``end-faults``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from eosctl.sandbox.faults.engine import ActiveFault, FaultEvent
from eosctl.sandbox.faults.order import FaultOrder, parse_order
from eosctl.sandbox.network import FaultAction, LinkFault
from eosctl.wire.api_keys import ApiKey

Command = Callable[[dict[str, Any]], Awaitable[Any]]


class Injects(Protocol):
    """An engine of faults: a cluster's, or a proxy's."""

    events: list[FaultEvent]

    @property
    def active(self) -> Sequence[ActiveFault]:
        """The faults that last."""

    def reseed(self, seed: int) -> None:
        """Let chance begin anew."""

    def bug_states(self) -> dict[str, bool]:
        """Return which known bugs there are."""

    async def inject(self, order: FaultOrder) -> ActiveFault:
        """Let a fault happen."""

    async def end(self, number: int) -> None:
        """End a fault."""

    async def heal(self) -> None:
        """End every fault."""


def fault_commands(engine: Injects) -> Mapping[str, Command]:
    """Return the commands; arguments and answers are plain JSON values."""

    async def inject(arguments: dict[str, Any]) -> dict[str, Any]:
        order = parse_order(arguments["words"])
        if "seed" in arguments:
            engine.reseed(int(arguments["seed"]))
        if arguments.get("for_ms") is not None:
            order = replace(order, for_ms=float(arguments["for_ms"]))
        active = await engine.inject(order)
        return _active(active) | {"what": engine.events[-1].what}

    async def faults(arguments: dict[str, Any]) -> dict[str, Any]:
        return {
            "active": [_active(active) for active in engine.active],
            "events": [event._asdict() for event in engine.events],
            "bugs": engine.bug_states(),
        }

    async def end_fault(arguments: dict[str, Any]) -> bool:
        number = int(arguments["number"])
        known = any(active.number == number for active in engine.active)
        await engine.end(number)
        return known

    async def end_faults(arguments: dict[str, Any]) -> int:
        count = len(engine.active)
        await engine.heal()
        return count

    return {"inject": inject, "faults": faults, "end-fault": end_fault, "end-faults": end_faults}


def _active(active: ActiveFault) -> dict[str, Any]:
    return {
        "number": active.number,
        "fault": str(active.order),
        "began_ms": active.began_ms,
        "hit_count": active.hit_count,
    }


def link_fault_of(arguments: dict[str, Any]) -> LinkFault:
    """Return the fault of a link that arguments of the control socket describe."""
    api = arguments.get("api")
    return LinkFault(
        FaultAction(arguments["action"]),
        source=arguments.get("source"),
        destination=arguments.get("destination"),
        api_key=None if api is None else ApiKey[str(api).upper()],
        requests=arguments.get("requests"),
        skip=int(arguments.get("skip", 0)),
        count=arguments.get("count"),
        delay_ms=float(arguments.get("delay_ms", 0)),
    )
