"""``eosctl sandbox proxy``: faults on clients' streams in front of any cluster on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import note, write_result
from eosctl.commands.options import parse_duration_ms
from eosctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eosctl.model.client_config import ClientConfig
    from eosctl.sandbox.faults.order import FaultOrder


def proxy(
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
    duration: Annotated[
        int | None,
        typer.Option("--for", metavar="DURATION", parser=parse_duration_ms, help="End by itself after this time."),
    ] = None,
) -> None:
    """Stand between clients and a cluster on this machine, and let their connections go wrong.

    Clients get the address that is printed, and find every broker through the proxy. Faults are those of clients'
    streams (eosctl sandbox fault --kinds): delay, drop, duplicate, reorder, disconnect, late-end-txn, late-produce. The
    cluster must speak plaintext. It runs until Ctrl-C, or for a time.
    """
    import asyncio

    from eosctl.sandbox.faults.order import parse_order

    orders = [parse_order(words) for words in fault or ()]
    asyncio.run(_run(_config(bootstrap, name), orders, control, seed, duration))


def _config(bootstrap: str | None, name: str) -> ClientConfig:
    from eosctl.model.client_config import ClientConfig
    from eosctl.sandbox.process import manage
    from eosctl.settings.endpoints import parse_endpoints

    if bootstrap is not None:
        return ClientConfig(parse_endpoints(bootstrap, "--bootstrap-server"))
    sandbox = manage.require(name)
    if sandbox.spec.tls or sandbox.spec.sasl:
        raise UsageError(
            f"The sandbox {name} has a secured listener.",
            "The proxy reads plaintext.",
            "Start one without --tls, --sasl.",
        )
    return ClientConfig(parse_endpoints(sandbox.bootstrap, "the sandbox"))


async def _run(
    config: ClientConfig, orders: Sequence[FaultOrder], control: Path | None, seed: int, duration_ms: int | None
) -> None:
    import asyncio
    import contextlib

    from eosctl.lab.proxy.proxy import FaultProxy
    from eosctl.sandbox.faults.control import fault_commands
    from eosctl.sandbox.process.control import serve_control

    async with FaultProxy(config, seed=seed) as running:
        for order in orders:
            await running.faults.inject(order)
        server = None if control is None else await serve_control(control, fault_commands(running.faults))
        write_result(f"{running.bootstrap}\n")
        note(f"Clients connect to {running.bootstrap}; Ctrl-C ends the proxy.")
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if duration_ms is None else duration_ms / 1000):
                    await asyncio.Event().wait()
        finally:
            if server is not None:
                server.close()
            if control is not None:
                control.unlink(missing_ok=True)
        for event in running.faults.events:
            note(f"{event.at_ms / 1000:.3f} s  {event.order}: {event.what}")
