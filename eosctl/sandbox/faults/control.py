"""The fault commands of the control socket: `inject`, `faults`, `end-fault`, and `end-faults`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from eosctl.sandbox.faults.order import parse_order
from eosctl.sandbox.faults.register import ActiveFault, FaultRegister

Command = Callable[[dict[str, Any]], Awaitable[Any]]


def fault_commands(engine: FaultRegister) -> Mapping[str, Command]:
    """Return the commands. Arguments and responses are JSON values."""

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
