"""``eosctl capacity simulate``: commits on virtual time."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import options
from eosctl.commands.emit import emit
from eosctl.commands.options import ResultOptions, duration_option
from eosctl.commands.session import perform
from eosctl.render.capacity.simulation import render_simulation
from eosctl.services.plan_capacity import CommitsRequest, simulate_workload

CommitsOptions = Annotated[
    CommitsRequest,
    options(
        path=typer.Argument(metavar="WORKLOAD", help="Workload file, see capacity init."),
        duration_ms=duration_option("--duration", help="Simulated time."),
        lose_broker_at_ms=duration_option("--lose-broker-at", help="Time at which one broker is lost."),
        failover_ms=duration_option("--failover", help="Time until the other brokers take over."),
        appends=typer.Option(
            "--appends", metavar="N/s", help="Append rate of one broker, if the file does not set it."
        ),
        seed=typer.Option("--seed", help="Seed of the random choices, to repeat a run."),
    ),
]


def simulate(invocation: Invocation, request: CommitsOptions, result: ResultOptions) -> None:
    """Simulate commit latency under load and broker loss.

    Time is virtual, and the same seed gives the same result. The search of clients for new leaders is not simulated, so
    outages are a lower bound.

    Examples:
        eosctl capacity simulate workload.yaml
        eosctl capacity simulate workload.yaml --lose-broker-at 5s --failover 10s
    """
    report = perform(simulate_workload, request, invocation)
    emit(render_simulation(report, invocation.now_ms(), result.output, invocation.style()), result)
