"""``eosctl verify run``: is this deployment really exactly-once?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from eosctl.commands.diagnosis_output import FindingResultOptions
from eosctl.commands.gate import GateOfVerdict
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import ClusterOptions, parse_duration_ms
from eosctl.commands.session import callbacks
from eosctl.commands.verify.options import FAULTS, OwnedCluster
from eosctl.commands.verify.result import write_run
from eosctl.errors import UsageError
from eosctl.lab.verify.plan import ClientKind, VerifyPlan, Workload
from eosctl.lab.verify.play import NemesisKind, Order
from eosctl.lab.verify.targets import EngineOrder
from eosctl.sandbox.faults.bugs import parse_switch
from eosctl.sandbox.faults.kinds import WORDS
from eosctl.services.verify_deployment import VerifyRequest, refuse_two_clusters, verify

WORK: Final = "Work"
CLUSTER: Final = "A cluster of the run's own"
K = TypeVar("K", bound=Enum)
_cluster = partial(typer.Option, rich_help_panel=CLUSTER)
_faults = partial(typer.Option, rich_help_panel=FAULTS)
_work = partial(typer.Option, rich_help_panel=WORK)


def verify_run(
    invocation: Invocation,
    cluster: ClusterOptions,
    engine: Annotated[
        str | None,
        _cluster(
            "--engine",
            metavar="embedded|4.3.1|3.9.2",
            help="Start a cluster for this run: a sandbox, or a release of Apache Kafka.",
        ),
    ] = None,
    brokers: Annotated[int, _cluster("--brokers", min=1, max=16, help="How many brokers it has.")] = 3,
    emulate: Annotated[
        str, _cluster("--emulate", metavar="3.9|4.3", help="The release that a sandbox behaves as.")
    ] = "4.3",
    transaction_version: Annotated[
        int | None, _cluster("--transaction-version", min=0, max=2, help="Finalized transaction.version.")
    ] = None,
    bug: Annotated[
        list[str] | None,
        _cluster("--bug", metavar="NAME[=off]", help="A known bug that a sandbox has, or lacks; repeatable."),
    ] = None,
    workload: Annotated[
        list[str] | None,
        _work(
            "--workload",
            metavar="NAME",
            help="appends, chain, bank, lists, zombies, aborts or mixed; repeatable, all by default.",
        ),
    ] = None,
    clients: Annotated[
        str,
        _work(
            "--clients",
            metavar="auto|tv0|tv1|tv2|librdkafka|java|java-3.9|franz-go",
            help="Whose protocol producers speak: what Java's client would by default; or the clients themselves.",
        ),
    ] = "auto",
    duration_ms: Annotated[
        int, _work("--duration", metavar="DURATION", parser=parse_duration_ms, help="How long to work.")
    ] = "30s",  # type: ignore[assignment]
    rate: Annotated[
        float, _work("--rate", min=0.01, max=5_000, help="Transactions per second of each workload.")
    ] = 20.0,
    ids: Annotated[int, _work("--ids", min=1, max=500, help="Transactional ids of each workload.")] = 3,
    partitions: Annotated[int, _work("--partitions", min=1, max=100, help="Partitions of each topic.")] = 3,
    replicas: Annotated[int | None, _work("--replicas", min=1, help="Replicas; 3 or as many as brokers.")] = None,
    record_bytes: Annotated[int, _work("--record-bytes", min=0, max=900_000, help="Size of a value.")] = 100,
    skew: Annotated[float, _work("--skew", min=0.0, max=10.0, help="Choose partition n with weight 1 / n^SKEW.")] = 0.0,
    hops: Annotated[int, _work("--hops", min=1, max=4, help="Steps of a chain.")] = 2,
    seed: Annotated[int | None, _work("--seed", min=0, help="Repeat the same choices.")] = None,
    prefix: Annotated[
        str | None, _work("--prefix", help="Begins every topic, group and id; a new one by default.")
    ] = None,
    keep: Annotated[bool, _work("--keep", help="Leave the topics.")] = False,
    nemesis: Annotated[
        list[str] | None,
        _faults(
            "--nemesis",
            metavar="KIND",
            help="brokers (kill, stop, part, slow them), links (of the run's own clients), proxy (a TCP proxy before "
            "the cluster) or none; repeatable.",
        ),
    ] = None,
    fault: Annotated[
        list[str] | None,
        _faults(
            "--fault",
            metavar="KIND",
            help="Of the faults that --nemesis can make, only this one; repeatable. Kinds are those of sandbox fault, "
            f"after a place where several can make one (links:cut, proxy:cut, controllers:kill): {WORDS}.",
        ),
    ] = None,
    program: Annotated[
        Path | None,
        _faults(
            "--command-nemesis", metavar="PROGRAM", help="Called as PROGRAM begin|end BROKER to stop and start brokers."
        ),
    ] = None,
    gap_ms: Annotated[
        int,
        _faults(
            "--fault-gap", metavar="DURATION", parser=parse_duration_ms, help="Pause between two faults, on average."
        ),
    ] = "2s",  # type: ignore[assignment]
    guided: Annotated[
        bool,
        _faults(
            "--guided",
            help="Choose each fault by what has been tried: the kind that met the fewest states of transactions.",
        ),
    ] = False,
    min_coverage: Annotated[
        float,
        _faults(
            "--min-coverage",
            metavar="PERCENT",
            min=0,
            max=100,
            help="The run decides nothing when fewer combinations of state and fault were met.",
        ),
    ] = 0.0,
    owned: OwnedCluster = None,
    *,
    result: FindingResultOptions,
    gate: GateOfVerdict,
) -> None:
    """Run transactional applications on a cluster, disturb it, and check what they did and saw.

    Nothing is written but to topics of the run's own, which are removed afterwards. An anomaly is a finding (critical).
    Exit codes: 0 no anomaly was found, 2 usage, 3 one was, 4 the run decides nothing.
    """
    switches = tuple(parse_switch(text) for text in bug or ())
    if switches and engine is None:
        raise UsageError("--bug goes with --engine embedded.", "A cluster that runs has its own.", "Leave it out.")
    own = EngineOrder(engine, brokers, emulate, transaction_version, switches) if engine is not None else None
    refuse_two_clusters(own, cluster.connection)
    plan = VerifyPlan(
        prefix=prefix or f"eosctl-verify-{invocation.now_ms()}",
        seed=seed if seed is not None else invocation.now_ms() % 1_000_000,
        workloads=tuple(_choose(Workload, name, "--workload") for name in workload or ()) or tuple(Workload),
        clients=_choose(ClientKind, clients, "--clients"),
        duration_ms=duration_ms,
        rate_per_s=rate,
        id_count=ids,
        partition_count=partitions,
        replica_count=replicas,
        record_bytes=record_bytes,
        skew=skew,
        hops=hops,
    )
    order = Order(
        plan,
        _nemeses(nemesis or ()),
        program,
        gap_ms,
        keep,
        kinds=tuple(fault or ()),
        guided=guided,
        arguments=() if cluster.overrides else tuple(sys.argv[1:]),
    )
    with callbacks(invocation.now_ms) as shown:
        verified = verify(VerifyRequest(order, own, cluster.connection, owned, min_coverage / 100, gate.options), shown)
    write_run(verified, result, invocation)


def _choose(kind: type[K], name: str, option: str) -> K:
    try:
        return kind(name)
    except ValueError:
        known = ", ".join(str(one) for one in kind)
        raise UsageError(f"{option} {name!r} is not known.", f"It is one of {known}.", "Choose one.") from None


def _nemeses(names: Sequence[str]) -> tuple[NemesisKind, ...]:
    chosen = tuple(dict.fromkeys(_choose(NemesisKind, name, "--nemesis") for name in names))
    if NemesisKind.NONE in chosen and len(chosen) > 1:
        raise UsageError("--nemesis none goes with no other.", "It means that there are no faults.", "Leave it out.")
    return chosen
