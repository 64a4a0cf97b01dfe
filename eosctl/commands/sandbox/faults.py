"""``eosctl sandbox fault``, ``heal`` and ``advance``: what goes wrong with a live sandbox, and when."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile, parse_duration_ms
from eosctl.errors import UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.sandbox.faults.kinds import WORDS

if TYPE_CHECKING:
    from eosctl.render.sandbox.faults import FaultsItem

Name = Annotated[str, typer.Option("--name", help="Which sandbox.")]
LONGEST_CALL_S = 120.0


def inject_fault(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KIND [NAME=VALUE]...]", help=f"For example: pause node=2 for=5s. Kinds: {WORDS}. See --kinds."
        ),
    ] = None,
    name: Name = "default",
    seed: Annotated[int | None, typer.Option("--seed", help="Repeat the same random choices.")] = None,
    kinds: Annotated[bool, typer.Option("--kinds", help="List the kinds of faults instead.")] = False,
    socket: Annotated[
        Path | None, typer.Option("--socket", help="The control socket of a proxy (sandbox proxy --control).")
    ] = None,
    end: Annotated[int | None, typer.Option("--end", metavar="NUMBER", help="End a fault that lasts.")] = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Let something go wrong with a sandbox; without words, show what lasts and what has happened.

    A fault lasts until its time is over (for=5s), until it is ended (--end) or until everything is healed (eosctl
    sandbox heal).
    """
    from eosctl.sandbox.faults.order import parse_order
    from eosctl.sandbox.process import manage
    from eosctl.sandbox.process.control import call_control

    if kinds:
        _list_kinds(context, output, output_file)
        return
    order = parse_order(words) if words else None  # a wrong word needs no sandbox to be told
    path = socket if socket is not None else Path(manage.require(name).control_socket)
    if end is not None:
        if not call_control(path, "end-fault", {"number": end}, LONGEST_CALL_S):
            raise UsageError(f"No fault {end} lasts.", "It has ended, or never was.", "See: eosctl sandbox fault")
        write_result(f"Fault {end} has ended.\n", output_file)
        return
    told: dict[str, Any] = {}
    if order is not None:
        chance = {} if seed is None else {"seed": seed}
        told = call_control(path, "inject", {"words": str(order).split(), **chance}, LONGEST_CALL_S)
    item = _faults_item(name if socket is None else str(socket), call_control(path, "faults"), told)
    if told and output in FOR_PEOPLE:
        lasts = any(fault.number == told["number"] for fault in item.active)
        where = _name_words(name) if socket is None else f" --socket {socket}"
        end_words = f"; end it: eosctl sandbox fault --end {told['number']}{where}" if lasts else ""
        write_result(f"Fault {told['number']}: {told['fault']}: {told['what']}{end_words}\n", output_file)
        return
    _write_faults(context, item, output, output_file)


def heal(name: Name = "default") -> None:
    """End every fault that lasts, and start every node that is down."""
    from eosctl.sandbox.process import manage

    count = manage.ask(manage.require(name), "end-faults", LONGEST_CALL_S)
    write_result(f"Sandbox {name}: {count} faults ended, every node runs.\n")


def advance(
    duration: Annotated[
        int, typer.Argument(metavar="DURATION", parser=parse_duration_ms, help="For example 60s, 15m.")
    ],
    name: Name = "default",
) -> None:
    """Let a sandbox's time pass at once: timeouts, retention and cleaning happen as if it had been waited for.

    Only the cluster's time goes ahead. Clients keep theirs, so the sessions of live consumers may run out.
    """
    from eosctl.sandbox.process import manage

    steps = manage.ask(manage.require(name), "advance", LONGEST_CALL_S, ms=duration)
    write_result(f"Sandbox {name}: {duration / 1000:g} s passed in {steps} steps.\n")


def _name_words(name: str) -> str:
    return "" if name == "default" else f" --name {name}"


def _faults_item(name: str, answer: dict[str, Any], told: dict[str, Any]) -> FaultsItem:
    from eosctl.render.sandbox.faults import FaultEventItem, FaultItem, FaultsItem

    whats = {told["number"]: told["what"]} if told else {}
    return FaultsItem(
        sandbox=name,
        active=tuple(FaultItem(**active, what=whats.get(active["number"], "")) for active in answer["active"]),
        events=tuple(FaultEventItem(**event) for event in answer["events"]),
        bugs=answer["bugs"],
    )


def _write_faults(context: typer.Context, item: FaultsItem, output: OutputFormat, output_file: OutputFile) -> None:
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.sandbox.faults import FAULT_COLUMNS, render_faults

    invocation = invocation_of(context)
    if output in FOR_PEOPLE:
        write_result(render_faults(item, invocation.style()), output_file)
    else:
        result = listing("sandbox-faults", "sandbox fault", invocation.now_ms(), (item,))
        write_result(render_listing(result, FAULT_COLUMNS, output), output_file)


def _list_kinds(context: typer.Context, output: OutputFormat, output_file: OutputFile) -> None:
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.sandbox.faults import KIND_COLUMNS, FaultKindItem
    from eosctl.sandbox.faults.kinds import MEANINGS, NEEDED, SETTINGS

    invocation = invocation_of(context)
    items = tuple(
        FaultKindItem(str(kind), meaning, (*SETTINGS[kind], "for"), NEEDED.get(kind, ()))
        for kind, meaning in MEANINGS.items()
    )
    result = listing("fault-kinds", "sandbox fault --kinds", invocation.now_ms(), items)
    write_result(render_listing(result, KIND_COLUMNS, output, invocation.style()), output_file)
