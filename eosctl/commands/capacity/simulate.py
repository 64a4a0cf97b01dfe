"""``eosctl capacity simulate``: commits on virtual time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.emit import emit
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import ResultOptions, parse_duration_ms
from eosctl.commands.session import perform
from eosctl.render.capacity.simulation import render_simulation
from eosctl.services.plan_capacity import CommitsRequest, simulate_workload

_duration = partial(typer.Option, metavar="DURATION", parser=parse_duration_ms)


def simulate(
    invocation: Invocation,
    workload: Annotated[Path, typer.Argument(metavar="WORKLOAD", help="A workload file; see capacity init.")],
    duration_ms: Annotated[int, _duration("--duration", help="Simulated time.")] = "20s",  # type: ignore[assignment]
    lose_broker_at_ms: Annotated[int | None, _duration("--lose-broker-at", help="Lose one broker then.")] = None,
    failover_ms: Annotated[int, _duration("--failover", help="Until others serve.")] = "10s",  # type: ignore[assignment]
    appends: Annotated[
        str | None, typer.Option("--appends", metavar="N/s", help="What one broker appends, if the file does not say.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Repeat the same choices.")] = 1,
    *,
    result: ResultOptions,
) -> None:
    """Simulate commits on virtual time: their latency while brokers queue, and while one of them is lost.

    The same seed gives the same result. Clients' own search for new leaders is not simulated: standstills are a lower
    bound.
    """
    request = CommitsRequest(workload, duration_ms, lose_broker_at_ms, failover_ms, appends, seed)
    report = perform(simulate_workload, request, invocation)
    emit(render_simulation(report, invocation.now_ms(), result.output, invocation.style()), result)
