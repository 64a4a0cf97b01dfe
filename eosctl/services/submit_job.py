"""Run the scan of logs, or of Kafka's files, as a job on a Spark cluster."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec

from eosctl.errors import EosctlError, EvidenceIncomplete, UsageError
from eosctl.logs.files.urls import local_path, scheme_of
from eosctl.logs.topics.address import is_topic_url
from eosctl.model.period import ALL_TIME, Period
from eosctl.model.redaction import redact_text
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connection import Connection
from eosctl.services.log_format import find_zone, layouts_of
from eosctl.services.log_places import handed_over, on_this_machine
from eosctl.services.mine_data import check_business_key
from eosctl.services.spark_job import (
    DEFAULT_MASTER,
    DeployMode,
    Job,
    check_connect,
    command_of,
    data_job,
    failure_of,
    run_job,
    scan_job,
    settings_of,
)

_INCIDENTS: Final = 'eosctl logs sql "SELECT * FROM incidents"'


class EventFormat(StrEnum):
    """What tables are written as."""

    PARQUET = "parquet"
    JSON = "json"
    DELTA = "delta"
    ICEBERG = "iceberg"


class ScanJobRequest(msgspec.Struct, frozen=True):
    """A scan of logs on Spark.

    Attributes:
        paths: Log files and directories, under the same names on every executor, URLs of file systems that Spark
            reaches, and ``kafka://HOST:PORT/TOPIC``.
        out: The directory of the result, or its URL.
        master: Spark's master.
        deploy_mode: Where the driver runs.
        settings: Settings of Spark, ``name=value``.
        connect: The URL of a Spark Connect server to run on instead of a master.
        jars: Jars that the job needs.
        packages: Packages that Spark's own resolver fetches.
        event_format: The format of the tables.
        baseline: An earlier result in the same format.
        zone: The zone of time stamps that have none.
        pattern: The log4j or logback pattern of the files.
        split_mb: How much a task reads, in MiB.
        connection: How topics are reached.
        period: The time that matters.
        dry_run: Whether the job is only shown.
        explain: Whether only its plan is shown.
    """

    paths: tuple[str, ...]
    out: str
    master: str = DEFAULT_MASTER
    deploy_mode: DeployMode = DeployMode.CLIENT
    settings: tuple[str, ...] = ()
    connect: str | None = None
    jars: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    event_format: EventFormat = EventFormat.PARQUET
    baseline: str | None = None
    zone: str | None = None
    pattern: str | None = None
    split_mb: int = 64
    connection: Connection = Connection()
    period: Period = ALL_TIME
    dry_run: bool = False
    explain: bool = False


class DataJobRequest(msgspec.Struct, frozen=True):
    """A reading of Kafka's files on Spark; the attributes are those of `ScanJobRequest` and `DataRequest`."""

    paths: tuple[str, ...]
    out: str
    master: str = DEFAULT_MASTER
    deploy_mode: DeployMode = DeployMode.CLIENT
    settings: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    business_key: str | None = None
    dry_run: bool = False


class JobResult(NamedTuple):
    """The result of a job.

    Attributes:
        command: The command line of a dry run, or the lines of a plan; else empty.
        content: The verdict of the job; None if its driver did not hand it over.
        failure: The error of a job that failed; None otherwise.
    """

    command: str = ""
    content: Any = None
    failure: EosctlError | None = None


def submit_scan(request: ScanJobRequest, callbacks: Callbacks = SILENT) -> JobResult:
    """Run the scan of logs as a job on a Spark cluster.

    Raises:
        UsageError: The request contradicts itself.
        EosctlError: Spark cannot be used here.
    """
    given = (*request.settings, *request.jars, *request.packages)
    connect = ""
    if request.connect is not None:
        connect = check_connect(request.connect, request.master, request.deploy_mode, given)
    settings = settings_of(request.master, request.deploy_mode, list(request.settings))
    if request.explain:
        return _planned(request)
    options = [f"format={request.event_format.value}", f"split-bytes={request.split_mb * 1024 * 1024}"]
    options += [] if request.baseline is None else [f"baseline={request.baseline}"]
    options += [] if find_zone(request.zone) is None else [f"zone={request.zone}"]
    options += [] if request.period.from_ms is None else [f"from-ms={request.period.from_ms}"]
    options += [] if request.period.until_ms is None else [f"until-ms={request.period.until_ms}"]
    options += [f"pattern={request.pattern}"] if layouts_of(request.pattern) else []
    is_far = request.deploy_mode is DeployMode.CLUSTER
    files = (list(request.paths), request.connection, callbacks.remark)
    with handed_over(*files, is_far=is_far, is_shown_only=request.dry_run) as paths:
        job = scan_job(
            paths,
            request.out,
            request.master,
            request.deploy_mode,
            settings,
            options,
            request.jars,
            request.packages,
            connect,
        )
        done = _run(job, callbacks, dry_run=request.dry_run)
    if is_far and done == JobResult():
        out = shlex.quote(redact_text(request.out))
        callbacks.remark(f"The driver ran in the cluster. Read its incidents with: {_INCIDENTS} {out}")
    return done


def _planned(request: ScanJobRequest) -> JobResult:
    """Return the plan of a job; this reads the start of each file, and does not start Spark."""
    from spark_log_analytics.job import plan_reading
    from spark_log_analytics.job_plan import Wanted, explain_plan

    here = [path for path in request.paths if not is_topic_url(path) and local_path(path)]
    elsewhere = [path for path in request.paths if path not in here]
    reading = plan_reading(
        [local_path(path) or path for path in here], find_zone(request.zone), layouts_of(request.pattern)
    )
    out = str(local_path(request.out) or request.out)
    is_compared = request.baseline is not None
    wanted = Wanted(out, request.event_format.value, request.split_mb * 1024 * 1024, with_baseline=is_compared)
    if not (reading.sources or elsewhere):
        raise UsageError("The input holds no file to read.", "", "Name log files, or directories with log files.")
    failed = [one for one in reading.unread if one.is_failure]
    failure = EvidenceIncomplete(
        "The plan does not cover all of the input.",
        f"Not read: {redact_text(failed[0].name)}: {failed[0].reason}." if failed else "",
        "Correct the paths, or accept that the result is not complete.",
    )
    return JobResult("\n".join(explain_plan(reading, elsewhere, wanted)), None, failure if failed else None)


def submit_data(request: DataJobRequest, callbacks: Callbacks = SILENT) -> JobResult:
    """Run the reading of Kafka's files as a job on a Spark cluster; raises as `submit_scan`."""
    out = local_path(request.out)
    if out is None:
        raise UsageError(
            f"The result cannot be written to a URL of {scheme_of(request.out)}.",
            "The driver writes its summary as a file.",
            "Name a directory: --out DIR.",
        )
    paths = [str(on_this_machine(path)) for path in request.paths]
    settings = settings_of(request.master, request.deploy_mode, list(request.settings))
    check_business_key(request.business_key)
    options = [f"topic={name}" for name in request.topics]
    options += [] if request.business_key is None else [f"business-key={request.business_key}"]
    job = data_job(paths, str(out), request.master, request.deploy_mode, settings, options)
    return _run(job, callbacks, dry_run=request.dry_run)


def _run(job: Job, callbacks: Callbacks, *, dry_run: bool) -> JobResult:
    if dry_run:
        return JobResult(command_of(job))
    ending = run_job(job, callbacks)
    failure = failure_of(job, ending.status, ending.problems) if ending.status else None
    return JobResult("", ending.verdict, failure)
