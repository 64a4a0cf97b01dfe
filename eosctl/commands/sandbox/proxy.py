"""``eosctl sandbox proxy``: faults on clients' streams in front of any cluster on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, note, write_result
from eosctl.command_line.option_groups import options
from eosctl.commands.options import duration_option
from eosctl.commands.session import callbacks
from eosctl.services.run_proxy import ProxyRequest, run_proxy

ProxyOptions = Annotated[
    ProxyRequest,
    options(
        bootstrap=typer.Option("--bootstrap-server", "-b", metavar="HOST:PORT", help="Cluster on this machine."),
        name=typer.Option("--name", help="Sandbox to use, if no address is given."),
        faults=typer.Option(
            "--fault", metavar="'KIND NAME=VALUE...'", help="Fault that is active from the start; repeatable."
        ),
        control=typer.Option(
            "--control", metavar="SOCKET", help="Socket that accepts faults at runtime (sandbox fault --socket)."
        ),
        seed=typer.Option("--seed", help="Seed of the random choices, to repeat a run."),
        duration_ms=duration_option("--duration", help="Time to run; unlimited by default."),
    ),
]


def proxy(invocation: Invocation, request: ProxyOptions) -> None:
    """Run a faulty proxy between clients and a cluster.

    The proxy prints the address for clients and routes them to every broker. It can delay, drop, duplicate, and reorder
    requests, disconnect clients, and hold back EndTxn or Produce requests, see eosctl sandbox fault --kinds. The
    cluster must be on this machine and use plaintext. Runs until Ctrl-C, or for the time of --duration.

    Examples:
        eosctl sandbox proxy --fault 'delay ms=200'
        eosctl sandbox proxy -b localhost:9092 --control proxy.sock
    """
    with callbacks(invocation.now_ms) as shown:
        run_proxy(request, _announce, shown)


def _announce(bootstrap: str) -> None:
    write_result(f"{bootstrap}\n")
    note(f"Clients connect to {bootstrap}; Ctrl-C ends the proxy.")
