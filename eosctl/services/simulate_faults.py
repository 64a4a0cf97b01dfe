"""Play fault schedules on simulated clusters, and check what their clients saw."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple

from eosctl.client.transactions import TV1, TV2
from eosctl.errors import UsageError
from eosctl.lab.history.anomaly import MEANING
from eosctl.lab.history.encoding import encode_history
from eosctl.lab.history.events import Event
from eosctl.lab.schedule import find_plan
from eosctl.lab.trial import Trial, TrialPlan, run_trial
from eosctl.lab.trials import bugs_of, fault_counts, find_remedies, minimise
from eosctl.model.emulation import NEWEST
from eosctl.model.fault_simulation import FailedSeed, FaultSimulation, SeedAnomaly
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.sandboxes import check_release, parse_bugs, parse_setting
from eosctl.text import count_text

REPLICAS: Final = 3
TRANSACTIONS: Final = 6
_DIALECTS: Final = {"tv1": TV1, "tv2": TV2}
_NOTE_EVERY: Final = 100
_ANOMALIES_SHOWN: Final = 3


class SimulationRequest(NamedTuple):
    """Schedules to play.

    Attributes:
        seed_count: How many schedules.
        first_seed: The seed of the first one.
        plan: The faults to draw from.
        emulate: The release to behave as.
        transaction_version: The finalized level; None for the release's default.
        clients: ``tv1`` or ``tv2``; None for what the cluster has.
        bugs: Known bugs to switch on or off: ``NAME`` or ``NAME=off``.
        settings: Broker settings: ``KEY=VALUE``.
        replica_count: Replicas of the topics that are written to.
        transaction_count: Transactions of each writer.
        keep_history: Whether the history of the last schedule is part of the result.
    """

    seed_count: int = 100
    first_seed: int = 0
    plan: str = "all"
    emulate: str = NEWEST
    transaction_version: int | None = None
    clients: str | None = None
    bugs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    replica_count: int = REPLICAS
    transaction_count: int = TRANSACTIONS
    keep_history: bool = False


class Simulated(NamedTuple):
    """The result of many schedules.

    Attributes:
        simulation: The numbers, and the schedules that failed.
        replay: The command that plays a seed again, without the seed.
        history: The history of the last schedule; empty unless asked for.
    """

    simulation: FaultSimulation
    replay: str
    history: str


def simulate_faults(
    request: SimulationRequest,
    callbacks: Callbacks = SILENT,
    clocks: tuple[Callable[[], float], Callable[[], float]] = (time.monotonic, time.process_time),
) -> Simulated:
    """Play fault schedules; the same seed always gives the same run.

    Args:
        request: The schedules.
        callbacks: Called with what failed, and with the number of schedules that were played.
        clocks: Measure elapsed time and CPU time, in seconds.

    Raises:
        UsageError: The plan, the release, a bug, or a setting is not valid.
    """
    wall_s, cpu_clock_s = clocks
    plan = _trial_plan(request)
    numbers = range(request.first_seed, request.first_seed + request.seed_count)
    events, virtual_ms, elapsed_s, cpu_s = 0, 0, 0.0, 0.0
    failures: list[FailedSeed] = []
    history = ""
    for done, seed in enumerate(numbers, 1):
        began, began_cpu = wall_s(), cpu_clock_s()
        trial = run_trial(plan, seed)
        # The search for a smaller schedule does not count.
        elapsed_s, cpu_s = elapsed_s + wall_s() - began, cpu_s + cpu_clock_s() - began_cpu
        events, virtual_ms = events + len(trial.history), virtual_ms + trial.virtual_ms
        if trial.failed:
            callbacks.remark(f"seed {seed} failed; looking for the smallest schedule that does")
            smallest = minimise(plan, trial)
            failures.append(_failed(plan, trial, smallest))
            trial = smallest
        if request.keep_history and seed == numbers[-1]:
            history = encode_history(trial.history)
        if done % _NOTE_EVERY == 0:
            callbacks.remark(f"{done} of {count_text(request.seed_count, 'schedule')} played, {len(failures)} failed")
    count = request.seed_count
    simulation = FaultSimulation(
        plan=request.plan,
        emulate=request.emulate,
        transaction_version=request.transaction_version,
        clients=request.clients or "default",
        replica_count=request.replica_count,
        bugs=bugs_of(plan),
        first_seed=request.first_seed,
        seed_count=count,
        event_count=events,
        faults=fault_counts(plan, numbers),
        virtual_s=virtual_ms / 1000,
        elapsed_s=elapsed_s,
        cpu_s=cpu_s,
        schedules_per_minute=count * 60 / max(elapsed_s, 1e-9),
        schedules_per_cpu_minute=count * 60 / max(cpu_s, 1e-9),
        failures=tuple(failures),
    )
    return Simulated(simulation, _replay(request, plan), history)


def _failed(plan: TrialPlan, trial: Trial, smallest: Trial) -> FailedSeed:
    first_of_kind = {anomaly.kind: anomaly for anomaly in reversed(smallest.anomalies)}
    return FailedSeed(
        seed=trial.seed,
        symptoms=tuple(sorted(trial.symptoms)),
        stuck=smallest.stuck,
        crashes=smallest.crashes,
        schedule=tuple(map(str, trial.schedule)),
        minimised=tuple(map(str, smallest.schedule)),
        passes_with=find_remedies(plan, smallest),
        anomalies=tuple(
            SeedAnomaly(str(one.kind), one.subject, MEANING[one.kind], tuple(map(_event_text, one.witness)))
            for one in list(first_of_kind.values())[:_ANOMALIES_SHOWN]
        ),
    )


def _event_text(event: Event) -> str:
    fields = event._asdict()
    at_ms = fields.pop("at_ms")
    return f"{at_ms} ms: {type(event).__name__} " + ", ".join(f"{name} {value}" for name, value in fields.items())


def _trial_plan(request: SimulationRequest) -> TrialPlan:
    emulate, clients = request.emulate, request.clients
    check_release(emulate)
    if clients is not None and clients not in _DIALECTS:
        raise UsageError(f"--clients {clients!r} is not known.", "Clients speak tv1 or tv2.", "Choose one.")
    if emulate == "3.9" and (clients == "tv2" or request.transaction_version == 2):
        raise UsageError(
            "Kafka 3.9 has no transaction version 2.", "KIP-890 came with 4.0.", f"Use --emulate {NEWEST} for it."
        )
    dialect = None if clients is None else _DIALECTS[clients]
    plan = TrialPlan(find_plan(request.plan), emulate, request.transaction_version, dialect=dialect)
    return plan._replace(
        bugs=parse_bugs(request.bugs, emulate),
        replica_count=request.replica_count,
        transaction_count=request.transaction_count,
        settings=tuple(map(parse_setting, request.settings)),
    )


def _replay(request: SimulationRequest, plan: TrialPlan) -> str:
    options = [f"--plan {request.plan}", f"--emulate {request.emulate}"]
    if request.transaction_version is not None:
        options.append(f"--transaction-version {request.transaction_version}")
    if request.clients is not None:
        options.append(f"--clients {request.clients}")
    if request.replica_count != REPLICAS:
        options.append(f"--replicas {request.replica_count}")
    if request.transaction_count != TRANSACTIONS:
        options.append(f"--transactions {request.transaction_count}")
    options += [f"--bug {name}={'on' if on else 'off'}" for name, on in plan.bugs]
    options += [f"--config {name}={value}" for name, value in plan.settings]
    return " ".join(["eosctl sandbox simulate", *options])
