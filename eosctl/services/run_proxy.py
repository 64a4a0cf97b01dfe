"""Run a proxy between clients and a cluster on this machine that makes their connections fail."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from eosctl.errors import UsageError
from eosctl.lab.proxy.proxy import FaultProxy
from eosctl.model.client_config import ClientConfig
from eosctl.sandbox.faults.control import fault_commands
from eosctl.sandbox.faults.order import FaultOrder, parse_order
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.control import serve_control
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.sandboxes import DEFAULT_NAME
from eosctl.settings.clusters.endpoints import DEFAULT_PORT, parse_endpoints


class ProxyRequest(NamedTuple):
    """A proxy.

    Attributes:
        bootstrap: A cluster on loopback; None for the sandbox.
        name: The sandbox.
        faults: Faults from the beginning on, each as words.
        control: A socket that takes faults while the proxy runs; None for none.
        seed: Repeats the same random choices.
        duration_ms: The time after which it ends; None for never.
    """

    bootstrap: str | None = None
    name: str = DEFAULT_NAME
    faults: tuple[str, ...] = ()
    control: Path | None = None
    seed: int = 0
    duration_ms: int | None = None


def run_proxy(request: ProxyRequest, announce: Callable[[str], None], callbacks: Callbacks = SILENT) -> None:
    """Run a proxy to its end.

    Args:
        request: The proxy.
        announce: Called with the address that clients connect to.
        callbacks: Called with each fault at the end.

    Raises:
        UsageError: A fault or an address is not valid, or the sandbox is secured.
        EosctlError: The cluster cannot be reached.
    """
    orders = tuple(map(parse_order, request.faults))
    asyncio.run(_run(request, _config(request), orders, announce, callbacks))


def _config(request: ProxyRequest) -> ClientConfig:
    if request.bootstrap is not None:
        return ClientConfig(parse_endpoints(request.bootstrap, "--bootstrap-server", DEFAULT_PORT))
    sandbox = manage.require(request.name)
    if sandbox.spec.tls or sandbox.spec.sasl:
        raise UsageError(
            f"The sandbox {request.name} has a secured listener.",
            "The proxy reads plaintext.",
            "Start one without --tls, --sasl.",
        )
    return ClientConfig(parse_endpoints(sandbox.bootstrap, "the sandbox"))


async def _run(
    request: ProxyRequest,
    config: ClientConfig,
    orders: tuple[FaultOrder, ...],
    announce: Callable[[str], None],
    callbacks: Callbacks,
) -> None:
    control, duration_ms = request.control, request.duration_ms
    async with FaultProxy(config, seed=request.seed) as running:
        for order in orders:
            await running.faults.inject(order)
        server = None if control is None else await serve_control(control, fault_commands(running.faults))
        announce(running.bootstrap)
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
            callbacks.remark(f"{event.at_ms / 1000:.3f} s  {event.order}: {event.what}")
