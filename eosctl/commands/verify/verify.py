"""``eosctl verify run``: is this deployment really exactly-once?"""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated, Final

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import options
from eosctl.command_line.values import parse_duration_ms
from eosctl.commands.diagnosis_output import FindingResultOptions
from eosctl.commands.gate import VerdictGate
from eosctl.commands.options import ClusterOptions
from eosctl.commands.session import perform
from eosctl.commands.verify.shared import FAULTS, OwnedCluster, faults_option, write_run
from eosctl.errors import UsageError
from eosctl.model.emulation import CHOICES
from eosctl.services.verify_deployment import COMPLETE, VerifyRequest, verify
from eosctl.services.verify_order import FAULT_KINDS, Faults, OwnCluster, Work

WORK: Final = "Work"
CLUSTER: Final = "Cluster of the run"
_cluster = partial(typer.Option, rich_help_panel=CLUSTER)
_work = partial(typer.Option, rich_help_panel=WORK)


_duration = partial(typer.Option, metavar="DURATION", parser=parse_duration_ms)

OwnClusterOptions = Annotated[
    OwnCluster,
    options(
        brokers=_cluster("--brokers", min=1, max=16, help="Number of brokers."),
        emulate=_cluster("--emulate", metavar=CHOICES, help="Release that the sandbox emulates."),
        transaction_version=_cluster("--transaction-version", min=0, max=2, help="Finalized transaction.version."),
        bugs=_cluster("--bug", metavar="NAME[=off]", help="Known bug to switch on or off in the sandbox; repeatable."),
    ),
]
WorkOptions = Annotated[
    Work,
    options(
        workloads=_work(
            "--workload",
            metavar="NAME",
            help=(
                "Workload: appends, chain, bank, lists, zombies, aborts, mixed, or streams; repeatable, all by default."
            ),
        ),
        clients=_work(
            "--clients",
            metavar="auto|tv0|tv1|tv2|librdkafka|java|java-3.9|franz-go",
            help="Transaction protocol of the producers, or the client library to use.",
        ),
        duration_ms=_duration("--duration", help="Time to run.", rich_help_panel=WORK),
        rate_per_s=_work("--rate", min=0.01, max=5_000, help="Transactions per second of each workload."),
        id_count=_work("--ids", min=1, max=500, help="Transactional ids of each workload."),
        partition_count=_work("--partitions", min=1, max=100, help="Partitions of each topic."),
        replica_count=_work(
            "--replicas", min=1, help="Replicas of each topic; 3 by default, or the number of brokers if lower."
        ),
        record_bytes=_work("--record-bytes", min=0, max=900_000, help="Size of a value in bytes."),
        skew=_work(
            "--skew", min=0.0, max=10.0, help="Skew of the choice of partitions: partition n has weight 1 / n^SKEW."
        ),
        hops=_work("--hops", min=1, max=4, help="Steps of a chain."),
        seed=_work("--seed", min=0, help="Seed of the random choices, to repeat a run."),
        prefix=_work("--prefix", help="Prefix of every topic, group, and id; a new one by default."),
        keep=_work("--keep", help="Keep the topics."),
    ),
]
FaultsOptions = Annotated[
    Faults,
    options(
        nemeses=faults_option(
            "--nemesis",
            metavar="KIND",
            help="Source of faults: brokers (kill, stop, partition, slow down), links (of the run's own clients), "
            "proxy (a TCP proxy in front of the cluster), or none; repeatable.",
        ),
        kinds=faults_option(
            "--fault",
            metavar="KIND",
            help="Fault to inject, of those that --nemesis can inject; repeatable. Kinds are those of sandbox fault, "
            f"with a prefix if several sources can inject one (links:cut, proxy:cut, controllers:kill): {FAULT_KINDS}.",
        ),
        program=faults_option(
            "--command-nemesis",
            metavar="PROGRAM",
            help="Program that stops and starts brokers, called as PROGRAM begin|end BROKER.",
        ),
        gap_ms=_duration("--fault-gap", help="Average time between two faults.", rich_help_panel=FAULTS),
        guided=faults_option("--guided", help="Choose the fault kind with the lowest coverage of transaction states."),
    ),
]


def verify_run(
    invocation: Invocation,
    cluster: ClusterOptions,
    engine: Annotated[
        str | None,
        _cluster(
            "--engine",
            metavar="embedded|4.3.1|3.9.2",
            help="Cluster to start for this run: a sandbox, or a release of Apache Kafka.",
        ),
    ] = None,
    *,
    own: OwnClusterOptions,
    work: WorkOptions,
    faults: FaultsOptions,
    min_coverage: Annotated[
        float,
        faults_option(
            "--min-coverage",
            metavar="PERCENT",
            min=0,
            max=100,
            help="Minimum coverage of combinations of state and fault; below it, the run is inconclusive.",
        ),
    ] = 0.0,
    owned: OwnedCluster = None,
    result: FindingResultOptions,
    gate: VerdictGate = COMPLETE,
) -> None:
    """Test that a cluster is exactly-once under faults.

    Runs transactional workloads, injects faults, and checks the recorded history. Writes only to topics of the run,
    which are removed afterwards. An anomaly is a critical finding. Exit codes: 0 no anomaly, 2 bad input, 3 anomalies,
    4 inconclusive.

    Examples:
        eosctl verify run --engine embedded --nemesis brokers --duration 30s
        eosctl verify run -b kafka-1:9092 --nemesis links
        eosctl verify run --engine 4.3.1 --workload bank --clients java
    """
    if own.bugs and engine is None:
        raise UsageError("--bug goes with --engine embedded.", "A cluster that runs has its own.", "Leave it out.")
    request = VerifyRequest(
        work=work,
        faults=faults,
        own=None if engine is None else own._replace(engine=engine),
        connection=cluster.connection,
        owned_id=owned,
        min_coverage=min_coverage / 100,
        gate=gate,
        arguments=() if cluster.connection.overrides else tuple(sys.argv[1:]),
    )
    write_run(perform(verify, request, invocation), result, invocation)
