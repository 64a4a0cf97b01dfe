"""``eosctl verify canary``: a tiny workload that never ends, with its numbers for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.exporter import parse_listen
from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import Bootstrap, CommandConfig, Overrides, Profile, Timeout, parse_duration_ms
from eosctl.commands.session import resolve_connection
from eosctl.errors import ExitCode
from eosctl.render.page import Line, render_page
from eosctl.render.verify.items import anomaly_item
from eosctl.render.verify.run import anomaly_blocks
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from eosctl.client.client import Client
    from eosctl.lab.history.anomaly import Anomaly
    from eosctl.monitoring.cluster_gauges import Gauge

LIMITS = "Limits"


def verify_canary(
    context: typer.Context,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    listen: Annotated[
        str | None, typer.Option("--listen", metavar="HOST:PORT", help="Where Prometheus scrapes /metrics.")
    ] = None,
    duration_ms: Annotated[
        int | None,
        typer.Option(
            "--duration", metavar="DURATION", parser=parse_duration_ms, help="End after this time; never by default."
        ),
    ] = None,
    topic: Annotated[
        str, typer.Option("--topic", help="A topic of its own: eosctl-canary, or a name that begins so.")
    ] = "eosctl-canary",
    rate: Annotated[
        float, typer.Option("--rate", help="Transactions per second, at most 10.", rich_help_panel=LIMITS)
    ] = 1.0,
    record_bytes: Annotated[
        int, typer.Option("--record-bytes", help="Size of a value, at most 10,000.", rich_help_panel=LIMITS)
    ] = 100,
    partitions: Annotated[
        int, typer.Option("--partitions", help="Partitions of a new topic, at most 12.", rich_help_panel=LIMITS)
    ] = 3,
    round_size: Annotated[
        int, typer.Option("--round", min=1, max=1_000, help="Transactions between two checks.", rich_help_panel=LIMITS)
    ] = 20,
) -> None:
    """Write, read and check a few small transactions for ever; end with exit code 3 at the first anomaly.

    It writes to a topic of its own, which is created with a retention of one hour and stays. Ctrl-C ends it.
    """
    import asyncio
    import random
    import time

    from eosctl.client.client import connect
    from eosctl.lab.verify.canary import Canary, CanaryPlan
    from eosctl.monitoring.exporter import serve_page

    invocation = invocation_of(context)
    address = parse_listen(listen) if listen is not None else None
    plan = CanaryPlan(str(invocation.now_ms()), topic, rate, partitions, record_bytes, round_size)
    plan.check()
    resolved = resolve_connection(Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout))
    chance, began = random.Random(plan.run), time.monotonic()

    def open_client() -> AbstractAsyncContextManager[Client]:
        return connect(resolved.config, chance=random.Random(chance.getrandbits(64)))

    canary = Canary(
        plan,
        open_client,
        now_ms=invocation.now_ms,
        elapsed_ms=lambda: int((time.monotonic() - began) * 1_000),
        seed=chance.getrandbits(64),
    )

    async def run() -> tuple[Anomaly, ...]:
        stop = asyncio.Event()
        timer = None
        if duration_ms is not None:
            timer = asyncio.get_running_loop().call_later(duration_ms / 1_000, stop.set)
        try:
            if address is None:
                return await canary.run(stop)
            async with await serve_page(*address, lambda: _render(canary.numbers.gauges())):
                note(f"serving http://{listen}/metrics")
                return await canary.run(stop)
        finally:
            if timer is not None:
                timer.cancel()

    anomalies = asyncio.run(run())
    numbers = canary.numbers
    seen = numbers.visible.percentiles()
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(numbers.outcomes.items())) or "nothing"
    verdict = "anomalies" if anomalies else "clean" if numbers.outcomes["committed"] else "undecided"
    blocks = [
        Line(f"{verdict}: {numbers.round_count:,} rounds, transactions {told}"),
        Line(f"visible after {seen.p50_ms:,.0f} ms (P50), {seen.p99_ms:,.0f} ms (P99), {seen.max_ms:,.0f} ms at most"),
        *anomaly_blocks(tuple(map(anomaly_item, anomalies)), numbers.anomalies),
    ]
    write_result(render_page(blocks, invocation.style()))
    if anomalies:
        raise typer.Exit(ExitCode.FINDINGS)
    if verdict == "undecided":
        raise typer.Exit(1)


def _render(gauges: tuple[Gauge, ...]) -> str:
    from eosctl.render.prometheus import Sample, counter, gauge

    return "".join(
        (counter if one.is_counter else gauge)(one.name, one.help, [Sample(*sample) for sample in one.samples])
        for one in gauges
    )
