"""``eosctl sandbox fault``, ``heal``, and ``advance``: faults and the clock of a live sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.command_line.values import parse_duration_ms
from eosctl.commands.emit import emit, emit_list
from eosctl.commands.options import ResultOptions
from eosctl.commands.sandbox.options import Name, Seed
from eosctl.commands.session import perform
from eosctl.render.page import Style
from eosctl.render.sandbox.faults import (
    FAULT_COLUMNS,
    KIND_COLUMNS,
    FaultKindItem,
    faults_item,
    injected_text,
    render_faults,
)
from eosctl.services import sandbox_faults
from eosctl.services.sandbox_faults import KIND_NAMES
from eosctl.services.sandboxes import DEFAULT_NAME
from eosctl.text import count_text


def inject_fault(
    invocation: Invocation,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KIND] [NAME=VALUE]...",
            help=f"Fault, e.g. pause node=2 for=5s. --kinds explains all kinds: {KIND_NAMES}.",
        ),
    ] = None,
    name: Name = DEFAULT_NAME,
    seed: Seed = None,
    kinds: Annotated[bool, typer.Option("--kinds", help="List the kinds of faults instead.")] = False,
    socket: Annotated[
        Path | None, typer.Option("--socket", help="Control socket of a proxy (sandbox proxy --control).")
    ] = None,
    end: Annotated[
        int | None, typer.Option("--end", metavar="NUMBER", help="Number of the active fault to end.")
    ] = None,
    *,
    result: ResultOptions,
) -> None:
    """Inject a fault into a sandbox, or list faults.

    Without arguments, faults are listed. A fault lasts for its time (for=5s), until --end, or until sandbox heal.

    Examples:
        eosctl sandbox fault --kinds
        eosctl sandbox fault pause node=2 for=5s
        eosctl sandbox fault --end 1
    """
    target = sandbox_faults.FaultTarget(name, socket)
    if kinds:
        items = tuple(FaultKindItem(*kind) for kind in sandbox_faults.list_fault_kinds())
        emit_list(("fault-kinds", "sandbox fault --kinds"), items, KIND_COLUMNS, result, invocation)
    if end is not None:
        sandbox_faults.end_fault(target, end)
        emit(f"Fault {end} has ended.\n", result)
    seen = sandbox_faults.inject_fault(target, words or (), seed)
    item = faults_item(target.words, seen.reported, seen.injected)

    def page(style: Style) -> str:
        return injected_text(item, seen.injected, target.option_text) if seen.injected else render_faults(item, style)

    emit_list(("sandbox-faults", "sandbox fault"), (item,), FAULT_COLUMNS, result, invocation, page=page)


def heal(name: Name = DEFAULT_NAME) -> None:
    """End every active fault and start all stopped nodes.

    Examples:
        eosctl sandbox heal
        eosctl sandbox heal --name tv1
    """
    write_result(f"Sandbox {name}: {count_text(sandbox_faults.heal(name), 'fault')} ended, every node runs.\n")


def advance(
    invocation: Invocation,
    duration: Annotated[
        int, typer.Argument(metavar="DURATION", parser=parse_duration_ms, help="Time to advance by, e.g. 60s or 15m.")
    ],
    name: Name = DEFAULT_NAME,
) -> None:
    """Advance the clock of a sandbox.

    Timeouts, retention, and cleaning run as if the time had passed. A day takes some seconds; Ctrl-C stops it. Clients
    keep their own clocks, so the sessions of live consumers may expire.

    Examples:
        eosctl sandbox advance 60s
        eosctl sandbox advance 7d --name tv1
    """
    steps = perform(sandbox_faults.advance_clock, sandbox_faults.ClockAdvance(duration, name), invocation)
    write_result(f"Sandbox {name}: {duration / 1000:g} s passed in {steps} steps.\n")
