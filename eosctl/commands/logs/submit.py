"""``eosctl logs submit`` and ``submit-data``: the scan of logs, or of Kafka's files, as a job on a Spark cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.logs.options import (
    BusinessKey,
    Jars,
    Packages,
    Pattern,
    PeriodOptions,
    Settings,
    Topics,
    TopicsOptions,
    Zone,
    cluster_option,
    reading_option,
)
from eosctl.commands.session import perform
from eosctl.errors import UsageError
from eosctl.render.escaping import lines_text
from eosctl.render.logs.job import incident_lines, topic_lines
from eosctl.services.spark_job import DEFAULT_MASTER, DeployMode
from eosctl.services.submit_job import DataJobRequest, EventFormat, JobResult, ScanJobRequest, submit_data, submit_scan

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print the command.")]


class JobOptions(NamedTuple):
    """The options of any job."""

    out: Annotated[str, typer.Option("--out", metavar="DIR", help="Directory for the result.")]
    master: Annotated[str, cluster_option("--master", help="Spark master, e.g. spark://host:7077 or yarn.")] = (
        DEFAULT_MASTER
    )
    deploy_mode: Annotated[DeployMode, cluster_option("--deploy-mode", "--deploy", help="Place of the driver.")] = (
        DeployMode.CLIENT
    )
    setting: Settings = ()


class ScanJobOptions(NamedTuple):
    """The options of a job that reads logs."""

    job: JobOptions
    connect: Annotated[
        str | None,
        cluster_option(
            "--connect", metavar="URL", help="Spark Connect server to use instead of a master, e.g. sc://host:15002."
        ),
    ] = None
    jars: Jars = ()
    packages: Packages = ()


def submit_job(
    invocation: Invocation,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Log files and directories with the same paths on every executor, URLs that Spark reads, "
            "or kafka://HOST:PORT/TOPIC.",
        ),
    ],
    scan: ScanJobOptions,
    event_format: Annotated[
        EventFormat,
        typer.Option("--format", help="Format of the tables; delta and iceberg need jars (--jars, --packages)."),
    ] = EventFormat.PARQUET,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="DIR", help="Earlier result in the same format, to report new failures only."
        ),
    ] = None,
    zone: Zone = None,
    pattern: Pattern = None,
    split_mb: Annotated[int, reading_option("--split-mb", min=1, help="MiB that each task reads.")] = 64,
    *,
    topics: TopicsOptions,
    times: PeriodOptions,
    explain: Annotated[bool, typer.Option("--explain", help="Only print the plan: tasks, slices, and tables.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Scan logs as a job on a Spark cluster.

    Packs eosctl, submits the job, and prints the incidents. Tables of events, exceptions, incidents, and what was read
    are written to DIR/run-ID; a row in DIR/published-v3 makes a complete run visible. Executors need Python 3.11,
    pyarrow, and numpy, and confluent-kafka to read topics. With a Spark Connect server (--connect), this machine does
    not need Java, and the tables are written where the server writes.

    PATH and DIR may be URLs of any file system that Spark reaches, such as s3a:, hdfs:, abfss:, and gs:, with globs in
    PATH. Spark's settings (--conf) hold the credentials, and --jars or --packages add the jars.

    Exit codes: 0 done, 1 the job failed, 2 bad input, 4 the result does not cover all of the input.

    Examples:
        eosctl logs submit /logs/2026-11 --out /reports --master spark://host:7077
        eosctl logs submit hdfs:///logs --out hdfs:///reports --master yarn --deploy-mode cluster
    """
    request = ScanJobRequest(
        tuple(paths),
        *_fixed(scan.job),
        *scan[1:],
        event_format=event_format,
        baseline=baseline,
        zone=zone,
        pattern=pattern,
        split_mb=split_mb,
        connection=topics.connection(paths),
        period=times.period(invocation.now_ms()),
        dry_run=dry_run,
        explain=explain,
    )
    _show(perform(submit_scan, request, invocation), incident_lines)


def submit_data_job(
    invocation: Invocation,
    paths: Annotated[
        list[str], typer.Argument(metavar="DIR...", help="Data directories with the same paths on every executor.")
    ],
    topic: Topics = None,
    business_key: BusinessKey = None,
    *,
    job: JobOptions,
    dry_run: DryRun = False,
) -> None:
    """Measure data files as a job on a Spark cluster.

    Does the work of logs data. Every transaction is written as Parquet; transactions, sequence gaps, key uses, and
    damage each have a directory below DIR, and the totals are in DIR/summary.json. Executors need Python 3.11, pyarrow,
    and pandas. Compiled packages are shipped from this machine, so the executors must have the same platform and Python
    release.

    Exit codes: 0 done, 1 the job failed or a file could not be read, 2 bad input.

    Examples:
        eosctl logs submit-data /data/kafka --out /reports --master spark://host:7077
        eosctl logs submit-data /data/kafka --topic orders --out /reports --dry-run
    """
    request = DataJobRequest(tuple(paths), *_fixed(job), tuple(topic or ()), business_key, dry_run)
    _show(perform(submit_data, request, invocation), topic_lines)


def _fixed(job: JobOptions) -> tuple[str, str, DeployMode, tuple[str, ...]]:
    if not job.out.strip():
        raise UsageError("--out names no directory.", "It is empty; a variable may not be set.", "Give it: --out DIR.")
    return job.out, job.master, job.deploy_mode, job.setting


def _show(result: JobResult, lines_of: Callable[[Any], Iterator[str]]) -> None:
    """Write the command of a dry run, or what the result of a job says."""
    if result.command:
        sys.stdout.write(lines_text(f"{result.command}\n"))
    if result.content is not None:
        sys.stdout.write(lines_text("".join(f"{line}\n" for line in lines_of(result.content))))
    if result.failure is not None:
        raise result.failure
