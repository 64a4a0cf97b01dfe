"""``eosctl logs submit`` and ``submit-data``: the scan of logs, or of Kafka's files, as a job on a Spark cluster."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Annotated, Any

import typer

from eosctl.commands.invocation import invocation_of, note
from eosctl.commands.logs.data import BusinessKey, Topics
from eosctl.commands.logs.engine import READING, From, Pattern, To, Zone, period_of
from eosctl.commands.logs.spark_options import (
    Connect,
    Deploy,
    DryRun,
    Jars,
    Master,
    Out,
    Packages,
    Settings,
)
from eosctl.commands.options import CommandConfig, Overrides, Profile
from eosctl.services.callbacks import Callbacks
from eosctl.services.log_format import find_zone, layouts_of
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


class EventFormat(StrEnum):
    """What tables are written as."""

    PARQUET = "parquet"
    JSON = "json"
    DELTA = "delta"
    ICEBERG = "iceberg"


def submit_job(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Log files and directories, under the same names on every executor, and kafka://HOST:PORT/TOPIC.",
        ),
    ],
    out: Out,
    master: Master = DEFAULT_MASTER,
    deploy_mode: Deploy = DeployMode.CLIENT,
    connect: Connect = None,
    setting: Settings = None,
    jars: Jars = None,
    packages: Packages = None,
    event_format: Annotated[
        EventFormat,
        typer.Option("--format", help="Format of the tables; delta and iceberg need jars (--jars, --packages)."),
    ] = EventFormat.PARQUET,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="DIR", help="An earlier result in the same format: what fails now and not then."
        ),
    ] = None,
    zone: Zone = None,
    pattern: Pattern = None,
    split_mb: Annotated[
        int, typer.Option("--split-mb", min=1, help="How much a task reads.", rich_help_panel=READING)
    ] = 64,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    begin: From = None,
    end: To = None,
    dry_run: DryRun = False,
) -> None:
    """Run the scan as a job on a Spark cluster: pack the code, submit, and tell what it found.

    Events go to DIR/events-v2, exceptions by the minute to DIR/exceptions-v2, incidents to DIR/incidents-v2 and
    DIR/incidents.json, and with --baseline the exceptions that are new since then to DIR/new-failures-v2. Executors
    need Python 3.11, pyarrow and pandas, and for topics confluent-kafka; eosctl is shipped along. On a Spark Connect
    server (--connect) nothing here needs Java; events lie where the server writes.

    Exit codes: 0 done, 1 the job failed or a file could not be read, 2 usage.
    """
    from eosctl.services.log_places import connection_of, handed_over

    if connect is not None:
        check_connect(connect, master, deploy_mode, [*(setting or ()), *(jars or ()), *(packages or ())])
    connection = connection_of(paths, command_config, overrides, profile)
    settings = settings_of(master, deploy_mode, setting)
    options = ["--format", event_format.value, "--split-bytes", str(split_mb * 1024 * 1024)]
    if baseline is not None:
        options += ["--baseline", baseline]
    if find_zone(zone) is not None:
        options += ["--zone", str(zone)]
    period = period_of(begin, end, invocation_of(context).now_ms())
    options += [] if period.from_ms is None else ["--from-ms", str(period.from_ms)]
    options += [] if period.until_ms is None else ["--until-ms", str(period.until_ms)]
    if layouts_of(pattern):
        options += ["--pattern", str(pattern)]
    with handed_over(paths, connection, note, is_far=deploy_mode is DeployMode.CLUSTER, is_shown_only=dry_run) as told:
        job = scan_job(told, out, master, deploy_mode, settings, options, jars or (), packages or (), connect or "")
        _run(context, job, _incident_lines, dry_run=dry_run)


def submit_data_job(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="DIR...", help="Data directories, under the same names on every executor."),
    ],
    out: Out,
    topic: Topics = None,
    business_key: BusinessKey = None,
    master: Master = DEFAULT_MASTER,
    deploy_mode: Deploy = DeployMode.CLIENT,
    setting: Settings = None,
    dry_run: DryRun = False,
) -> None:
    """Run ``logs data`` as a job on a Spark cluster: every transaction as Parquet, the sums as JSON.

    Transactions, sequence breaks, key uses and damages go to one directory each below DIR, the sums to
    DIR/summary.json. Executors need Python 3.11, pyarrow and pandas; eosctl is shipped along, and of compiled packages
    those of this machine: platform and Python release must be the same.

    Exit codes: 0 done, 1 the job failed or a file could not be read, 2 usage.
    """
    from eosctl.services.mine_data import check_business_key

    settings = settings_of(master, deploy_mode, setting)
    check_business_key(business_key)
    options = [part for name in topic or () for part in ("--topic", name)]
    if business_key is not None:
        options += ["--business-key", business_key]
    _run(context, data_job(paths, out, master, deploy_mode, settings, options), _topic_lines, dry_run=dry_run)


def _run(context: typer.Context, job: Job, lines_of: Callable[[Any], Iterator[str]], *, dry_run: bool) -> None:
    """Run a job and write what its result says; a dry run writes the command."""
    if dry_run:
        sys.stdout.write(f"{command_of(job)}\n")
        return
    status, result = run_job(job, Callbacks(invocation_of(context).now_ms, note))
    if result is not None:
        sys.stdout.write("".join(f"{line}\n" for line in lines_of(json.loads(result.read_text("utf-8")))))
    if status:
        raise failure_of(job, status)


def _incident_lines(incidents: list[dict[str, Any]]) -> Iterator[str]:
    for one in incidents:
        about = ", ".join(f"{name} {value}" for name, value in one["subject"].items())
        yield f"{one['severity'].upper()}  {one['kind']}: {one['root_cause']}  {about}"


def _topic_lines(summary: dict[str, Any]) -> Iterator[str]:
    for one in summary["topics"]:
        yield (
            f"{one['topic']}: {one['record_count']} records, {one['committed_count']} committed, "
            f"{one['aborted_count']} aborted, {one['open_count']} open, {one['sequence_gap_count']} sequence gaps"
        )
    if summary["duplicate_key_count"]:
        yield f"{summary['duplicate_key_count']} business keys are there more than once"
