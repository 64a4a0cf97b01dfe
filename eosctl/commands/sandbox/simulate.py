"""``eosctl sandbox simulate``: fault schedules by the thousand on virtual time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_file
from eosctl.command_line.option_groups import options
from eosctl.commands.emit import emit_list
from eosctl.commands.options import ResultOptions
from eosctl.commands.sandbox.options import BrokerSettings, Bugs, Emulate, TransactionVersion
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.sandbox.simulations import render_simulations
from eosctl.services.simulate_faults import SimulationRequest, simulate_faults

SimulationOptions = Annotated[
    SimulationRequest,
    options(
        seed_count=typer.Option("--seeds", min=1, help="Number of fault schedules to run."),
        first_seed=typer.Option("--first-seed", min=0, help="Seed of the first schedule."),
        plan=typer.Option(
            "--plan", help="Kinds of faults: all, crashes, network, nodes, clients, late-offsets, clocks, or none."
        ),
        emulate=Emulate,
        transaction_version=TransactionVersion,
        clients=typer.Option(
            "--clients", metavar="tv1|tv2", help="Transaction protocol of the clients; the cluster's by default."
        ),
        bugs=Bugs,
        settings=BrokerSettings,
        replica_count=typer.Option("--replicas", min=1, max=3, help="Replicas of the topics."),
        transaction_count=typer.Option("--transactions", min=1, max=1_000, help="Transactions of each writer."),
    ),
]


def simulate(
    invocation: Invocation,
    request: SimulationOptions,
    history: Annotated[
        Path | None, typer.Option("--history", help="File for the history of the last schedule.")
    ] = None,
    *,
    result: ResultOptions,
) -> None:
    """Run random fault schedules on simulated clusters.

    Each seed is its own cluster on virtual time: transactional writers, a pipeline, and readers run while brokers
    crash, links fail, and clocks jump. The same seed always gives the same run. The brokers have the known bugs of
    their release unless --bug changes that; a failure that disappears without a bug is attributed to it. Exit code 3
    when a schedule violates exactly-once or leaves the cluster stuck.

    Examples:
        eosctl sandbox simulate --seeds 100
        eosctl sandbox simulate --first-seed 42 --seeds 1 --history history.jsonl
    """
    simulated = perform(simulate_faults, request._replace(keep_history=history is not None), invocation)
    if history is not None:
        write_file(simulated.history, history)
    item = simulated.simulation
    code = ExitCode.FINDINGS if item.failures else ExitCode.DONE
    page = partial(render_simulations, item, simulated.replay)
    emit_list(("simulations", "sandbox simulate"), (item,), (), result, invocation, page=page, code=code)
