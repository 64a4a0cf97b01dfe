"""``eosctl sandbox simulate``: fault schedules by the thousand on virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import invocation_of, note, write_file, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import ExitCode, UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

if TYPE_CHECKING:
    from eosctl.lab.history.events import Event
    from eosctl.lab.trial import Trial, TrialPlan
    from eosctl.render.sandbox.simulations import FailedSeedItem

_CLIENTS = ("tv1", "tv2")
_NOTE_EVERY = 100
_SHOWN_ANOMALIES = 3
_ALL_REPLICAS = 3
_TRANSACTIONS = 6


def simulate(
    context: typer.Context,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many fault schedules to play.")] = 100,
    first_seed: Annotated[int, typer.Option("--first-seed", min=0, help="The seed of the first one.")] = 0,
    plan: Annotated[
        str,
        typer.Option(
            "--plan", help="Faults to draw from: all, crashes, network, nodes, clients, late-offsets, clocks or none."
        ),
    ] = "all",
    emulate: Annotated[str, typer.Option("--emulate", metavar="3.9|4.3", help="The release to behave as.")] = "4.3",
    transaction_version: Annotated[
        int | None, typer.Option("--transaction-version", min=0, max=2, help="Finalized transaction.version.")
    ] = None,
    clients: Annotated[
        str | None,
        typer.Option("--clients", metavar="tv1|tv2", help="The protocol of the clients; the cluster's by default."),
    ] = None,
    bug: Annotated[
        list[str] | None,
        typer.Option("--bug", metavar="NAME[=off]", help="Switch a known bug of the release on or off; repeatable."),
    ] = None,
    config: Annotated[
        list[str] | None, typer.Option("--config", metavar="KEY=VALUE", help="A broker setting; repeatable.")
    ] = None,
    replicas: Annotated[
        int, typer.Option("--replicas", min=1, max=3, help="Replicas of the topics that are written to.")
    ] = _ALL_REPLICAS,
    transactions: Annotated[
        int, typer.Option("--transactions", min=1, max=1_000, help="Transactions of each writer.")
    ] = _TRANSACTIONS,
    history: Annotated[
        Path | None, typer.Option("--history", help="Write the history of the last schedule played to this file.")
    ] = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Play fault schedules on a simulated cluster and check what its clients saw.

    Each seed is a cluster of its own on virtual time: transactional writers, a pipeline and readers work while brokers
    die, links fail and clocks jump. The same seed always gives the same run. The exit code is 3 when a schedule
    breaks a promise of exactly-once, or leaves the cluster stuck. The brokers have the known bugs that their release
    has unless --bug changes it; a failure that goes away without one of them is put down to it.
    """
    import time

    from eosctl.lab.history.encoding import encode_history
    from eosctl.lab.trial import run_trial
    from eosctl.lab.trials import bugs_of, fault_counts
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.sandbox.simulations import SimulationItem, render_simulations

    invocation = invocation_of(context)
    trial_plan = _trial_plan(plan, emulate, transaction_version, clients)._replace(
        bugs=_bugs(bug or (), emulate),
        replica_count=replicas,
        transaction_count=transactions,
        settings=tuple(_setting(text) for text in config or ()),
    )
    numbers = range(first_seed, first_seed + seeds)
    events, virtual_ms, elapsed_s, cpu_s = 0, 0, 0.0, 0.0
    failures, last = [], ""
    for done, seed in enumerate(numbers, 1):
        began, began_cpu = time.monotonic(), time.process_time()
        trial = run_trial(trial_plan, seed)
        # Looking for a smaller schedule is not playing one: it does not count.
        elapsed_s, cpu_s = elapsed_s + time.monotonic() - began, cpu_s + time.process_time() - began_cpu
        events, virtual_ms = events + len(trial.history), virtual_ms + trial.virtual_ms
        if trial.failed:
            note(f"seed {seed} failed; looking for the smallest schedule that does")
            smallest, failure = _failure(trial_plan, trial)
            failures.append(failure)
            trial = smallest
        if history is not None and seed == numbers[-1]:
            last = encode_history(trial.history)
        if done % _NOTE_EVERY == 0:
            note(f"{done} of {seeds} schedules played, {len(failures)} failed")
    if history is not None:
        write_file(last, history)
    item = SimulationItem(
        plan=plan,
        emulate=emulate,
        transaction_version=transaction_version,
        clients=clients or "default",
        replica_count=replicas,
        bugs=bugs_of(trial_plan),
        first_seed=first_seed,
        seed_count=seeds,
        event_count=events,
        faults=fault_counts(trial_plan, numbers),
        virtual_s=virtual_ms / 1000,
        elapsed_s=elapsed_s,
        cpu_s=cpu_s,
        schedules_per_minute=seeds * 60 / max(elapsed_s, 1e-9),
        schedules_per_cpu_minute=seeds * 60 / max(cpu_s, 1e-9),
        failures=tuple(failures),
    )
    if output in FOR_PEOPLE:
        text = render_simulations(item, _replay(trial_plan, plan, clients), invocation.style())
    else:
        result = listing("simulations", "sandbox simulate", invocation.now_ms(), (item,))
        text = render_listing(result, (), output)
    write_result(text, output_file)
    if failures:
        raise typer.Exit(ExitCode.FINDINGS)


def _trial_plan(plan: str, emulate: str, transaction_version: int | None, clients: str | None) -> TrialPlan:
    from eosctl.client.transactions import TV1, TV2
    from eosctl.lab.schedule import find_plan
    from eosctl.lab.trial import TrialPlan

    if emulate not in ("3.9", "4.3"):
        raise UsageError(f"--emulate {emulate!r} is not known.", "The sandbox behaves as 3.9 or as 4.3.", "Choose one.")
    if clients is not None and clients not in _CLIENTS:
        raise UsageError(f"--clients {clients!r} is not known.", "Clients speak tv1 or tv2.", "Choose one.")
    if emulate == "3.9" and (clients == "tv2" or transaction_version == 2):
        raise UsageError(
            "Kafka 3.9 has no transaction version 2.", "KIP-890 came with 4.0.", "Use --emulate 4.3 for it."
        )
    dialect = None if clients is None else {"tv1": TV1, "tv2": TV2}[clients]
    return TrialPlan(find_plan(plan), emulate, transaction_version, dialect=dialect)


def _bugs(words: Sequence[str], release: str) -> tuple[tuple[str, bool], ...]:
    from eosctl.sandbox.faults.bugs import find_bug, parse_switch

    switches = [parse_switch(text) for text in words]
    return tuple((find_bug(name, release).name, on) for name, on in switches)


def _setting(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name:
        raise UsageError(f"--config {text!r} is not KEY=VALUE.", "A broker setting has a name and a value.", "Mend it.")
    return name, value


def _failure(plan: TrialPlan, trial: Trial) -> tuple[Trial, FailedSeedItem]:
    from eosctl.lab.history.anomaly import MEANING
    from eosctl.lab.trials import find_remedies, minimise
    from eosctl.render.sandbox.simulations import AnomalyItem, FailedSeedItem

    smallest = minimise(plan, trial)
    anomalies = {anomaly.kind: anomaly for anomaly in reversed(smallest.anomalies)}  # the first of each kind
    return smallest, FailedSeedItem(
        seed=trial.seed,
        symptoms=tuple(sorted(trial.symptoms)),
        stuck=smallest.stuck,
        crashes=smallest.crashes,
        schedule=tuple(map(str, trial.schedule)),
        minimised=tuple(map(str, smallest.schedule)),
        passes_with=find_remedies(plan, smallest),
        anomalies=tuple(
            AnomalyItem(str(one.kind), one.subject, MEANING[one.kind], tuple(map(_event_text, one.witness)))
            for one in list(anomalies.values())[:_SHOWN_ANOMALIES]
        ),
    )


def _event_text(event: Event) -> str:
    fields = event._asdict()
    at_ms = fields.pop("at_ms")
    return f"{at_ms} ms: {type(event).__name__} " + ", ".join(f"{name} {value}" for name, value in fields.items())


def _replay(trial_plan: TrialPlan, plan: str, clients: str | None) -> str:
    options = [f"--plan {plan}", f"--emulate {trial_plan.emulate}"]
    if trial_plan.transaction_version is not None:
        options.append(f"--transaction-version {trial_plan.transaction_version}")
    if clients is not None:
        options.append(f"--clients {clients}")
    if trial_plan.replica_count != _ALL_REPLICAS:
        options.append(f"--replicas {trial_plan.replica_count}")
    if trial_plan.transaction_count != _TRANSACTIONS:
        options.append(f"--transactions {trial_plan.transaction_count}")
    options += [f"--bug {name}={'on' if on else 'off'}" for name, on in trial_plan.bugs]
    options += [f"--config {name}={value}" for name, value in trial_plan.settings]
    return " ".join(["eosctl sandbox simulate", *options])
