"""``eosctl verify run``: is this deployment really exactly-once?"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.values import parse_duration_ms
from eosctl.commands.diagnosis_output import FindingResultOptions
from eosctl.commands.gate import GateOfVerdict
from eosctl.commands.options import ClusterOptions
from eosctl.commands.session import perform
from eosctl.commands.verify.shared import OwnedCluster, faults_option, write_run
from eosctl.errors import UsageError
from eosctl.model.emulation import CHOICES, NEWEST
from eosctl.services.verify_deployment import VerifyRequest, verify
from eosctl.services.verify_order import FAULT_KINDS, Faults, OwnCluster, Work

WORK: Final = "Work"
CLUSTER: Final = "Cluster of the run"
_cluster = partial(typer.Option, rich_help_panel=CLUSTER)
_work = partial(typer.Option, rich_help_panel=WORK)


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
    brokers: Annotated[int, _cluster("--brokers", min=1, max=16, help="Number of brokers.")] = 3,
    emulate: Annotated[str, _cluster("--emulate", metavar=CHOICES, help="Release that the sandbox emulates.")] = NEWEST,
    transaction_version: Annotated[
        int | None, _cluster("--transaction-version", min=0, max=2, help="Finalized transaction.version.")
    ] = None,
    bug: Annotated[
        list[str] | None,
        _cluster("--bug", metavar="NAME[=off]", help="Known bug to switch on or off in the sandbox; repeatable."),
    ] = None,
    workload: Annotated[
        list[str] | None,
        _work(
            "--workload",
            metavar="NAME",
            help="Workload: appends, chain, bank, lists, zombies, aborts, or mixed; repeatable, all by default.",
        ),
    ] = None,
    clients: Annotated[
        str,
        _work(
            "--clients",
            metavar="auto|tv0|tv1|tv2|librdkafka|java|java-3.9|franz-go",
            help="Transaction protocol of the producers, or the client library to use.",
        ),
    ] = "auto",
    duration_ms: Annotated[
        int, _work("--duration", metavar="DURATION", parser=parse_duration_ms, help="Time to run.")
    ] = "30s",  # type: ignore[assignment]
    rate: Annotated[
        float, _work("--rate", min=0.01, max=5_000, help="Transactions per second of each workload.")
    ] = 20.0,
    ids: Annotated[int, _work("--ids", min=1, max=500, help="Transactional ids of each workload.")] = 3,
    partitions: Annotated[int, _work("--partitions", min=1, max=100, help="Partitions of each topic.")] = 3,
    replicas: Annotated[
        int | None,
        _work("--replicas", min=1, help="Replicas of each topic; 3 by default, or the number of brokers if lower."),
    ] = None,
    record_bytes: Annotated[int, _work("--record-bytes", min=0, max=900_000, help="Size of a value in bytes.")] = 100,
    skew: Annotated[
        float,
        _work("--skew", min=0.0, max=10.0, help="Skew of the choice of partitions: partition n has weight 1 / n^SKEW."),
    ] = 0.0,
    hops: Annotated[int, _work("--hops", min=1, max=4, help="Steps of a chain.")] = 2,
    seed: Annotated[int | None, _work("--seed", min=0, help="Seed of the random choices, to repeat a run.")] = None,
    prefix: Annotated[
        str | None, _work("--prefix", help="Prefix of every topic, group, and id; a new one by default.")
    ] = None,
    keep: Annotated[bool, _work("--keep", help="Keep the topics.")] = False,
    nemesis: Annotated[
        list[str] | None,
        faults_option(
            "--nemesis",
            metavar="KIND",
            help="Source of faults: brokers (kill, stop, partition, slow down), links (of the run's own clients), "
            "proxy (a TCP proxy in front of the cluster), or none; repeatable.",
        ),
    ] = None,
    fault: Annotated[
        list[str] | None,
        faults_option(
            "--fault",
            metavar="KIND",
            help="Fault to inject, of those that --nemesis can inject; repeatable. Kinds are those of sandbox fault, "
            f"with a prefix if several sources can inject one (links:cut, proxy:cut, controllers:kill): {FAULT_KINDS}.",
        ),
    ] = None,
    program: Annotated[
        Path | None,
        faults_option(
            "--command-nemesis",
            metavar="PROGRAM",
            help="Program that stops and starts brokers, called as PROGRAM begin|end BROKER.",
        ),
    ] = None,
    gap_ms: Annotated[
        int,
        faults_option(
            "--fault-gap", metavar="DURATION", parser=parse_duration_ms, help="Average time between two faults."
        ),
    ] = "2s",  # type: ignore[assignment]
    guided: Annotated[
        bool,
        faults_option(
            "--guided",
            help="Choose the fault kind with the lowest coverage of transaction states.",
        ),
    ] = False,
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
    *,
    result: FindingResultOptions,
    gate: GateOfVerdict,
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
    own = None if engine is None else OwnCluster(engine, brokers, emulate, transaction_version, tuple(bug or ()))
    if bug and own is None:
        raise UsageError("--bug goes with --engine embedded.", "A cluster that runs has its own.", "Leave it out.")
    work = Work(
        workloads=tuple(workload or ()),
        clients=clients,
        duration_ms=duration_ms,
        rate_per_s=rate,
        id_count=ids,
        partition_count=partitions,
        replica_count=replicas,
        record_bytes=record_bytes,
        skew=skew,
        hops=hops,
        seed=seed,
        prefix=prefix,
        keep=keep,
    )
    faults = Faults(tuple(nemesis or ()), tuple(fault or ()), program, gap_ms, guided)
    arguments = () if cluster.overrides else tuple(sys.argv[1:])
    coverage = min_coverage / 100
    request = VerifyRequest(
        work=work,
        faults=faults,
        own=own,
        connection=cluster.connection,
        owned_id=owned,
        min_coverage=coverage,
        gate=gate.options,
        arguments=arguments,
    )
    write_run(perform(verify, request, invocation), result, invocation)
