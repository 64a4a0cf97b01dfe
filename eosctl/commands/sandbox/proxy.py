"""``eosctl sandbox proxy``: faults on clients' streams in front of any cluster on this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.invocation import Invocation, note, write_result
from eosctl.commands.options import parse_duration_ms
from eosctl.commands.session import callbacks
from eosctl.services.run_proxy import ProxyRequest, run_proxy

_duration = partial(typer.Option, metavar="DURATION", parser=parse_duration_ms)


def proxy(
    invocation: Invocation,
    bootstrap: Annotated[
        str | None, typer.Option("--bootstrap-server", "-b", metavar="HOST:PORT", help="A cluster on loopback.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="A sandbox, where no address is given.")] = "default",
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", metavar="'KIND NAME=VALUE...'", help="A fault from the beginning on; repeatable."),
    ] = None,
    control: Annotated[
        Path | None,
        typer.Option("--control", metavar="SOCKET", help="Take faults while it runs: sandbox fault --socket SOCKET."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Repeat the same random choices.")] = 0,
    duration: Annotated[int | None, _duration("--for", help="End by itself after this time.")] = None,
) -> None:
    """Stand between clients and a cluster on this machine, and let their connections go wrong.

    Clients get the address that is printed, and find every broker through the proxy. Faults are those of clients'
    streams (eosctl sandbox fault --kinds): delay, drop, duplicate, reorder, disconnect, late-end-txn, late-produce. The
    cluster must speak plaintext. It runs until Ctrl-C, or for a time.
    """
    request = ProxyRequest(bootstrap, name, tuple(fault or ()), control, seed, duration)
    with callbacks(invocation.now_ms) as shown:
        run_proxy(request, _announce, shown)


def _announce(bootstrap: str) -> None:
    write_result(f"{bootstrap}\n")
    note(f"Clients connect to {bootstrap}; Ctrl-C ends the proxy.")
