"""``eosctl logs submit``: the scan of logs as a job on a Spark cluster."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from eosctl.commands.invocation import note
from eosctl.commands.logs_engine import READING, Zone, spark_obstacle, zone_of
from eosctl.errors import EosctlError, UsageError

CLUSTER: Final = "Cluster"
_SECRET: Final = re.compile(r"(?i)^([^=]*(?:password|secret|token|credential|access\.?key)[^=]*)=.*", re.DOTALL)


class DeployMode(StrEnum):
    """Where the driver runs."""

    CLIENT = "client"
    CLUSTER = "cluster"


class EventFormat(StrEnum):
    """What events are written as."""

    PARQUET = "parquet"
    JSON = "json"


def submit_job(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Log files and directories, under the same names on every executor."),
    ],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="Directory of the result.")],
    master: Annotated[
        str,
        typer.Option("--master", help="Spark's master, e.g. spark://host:7077 or yarn.", rich_help_panel=CLUSTER),
    ] = "local[*]",
    deploy_mode: Annotated[
        DeployMode, typer.Option("--deploy-mode", help="Where the driver runs.", rich_help_panel=CLUSTER)
    ] = DeployMode.CLIENT,
    setting: Annotated[
        list[str] | None,
        typer.Option("--conf", metavar="NAME=VALUE", help="A Spark setting; repeatable.", rich_help_panel=CLUSTER),
    ] = None,
    event_format: Annotated[EventFormat, typer.Option("--format", help="Format of the events.")] = EventFormat.PARQUET,
    zone: Zone = None,
    split_mb: Annotated[
        int, typer.Option("--split-mb", min=1, help="How much a task reads.", rich_help_panel=READING)
    ] = 64,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the command and stop.")] = False,
) -> None:
    """Run the scan as a job on a Spark cluster: pack the code, submit, and tell what it found.

    Events go to DIR/events-v1, incidents to DIR/incidents.json. Executors need Python 3.11, pyarrow and pandas; eosctl
    is shipped along.

    Exit codes: 0 done, 1 the job failed or a file could not be read, 2 usage.
    """
    from spark_log_analytics.archive import build_archive
    from spark_log_analytics.submission import Submission, find_spark_submit, submit_command

    settings = tuple(setting or ())
    _check(master, deploy_mode, settings)
    if not any(one.startswith("spark.log.level=") for one in settings):
        settings = ("spark.log.level=WARN", *settings)
    options = ["--format", event_format.value, "--split-bytes", str(split_mb * 1024 * 1024)]
    if zone_of(zone) is not None:
        options += ["--zone", str(zone)]
    submission = Submission(master, deploy_mode.value, paths, out, settings, options)
    program = find_spark_submit(os.environ)
    if program is None:
        raise spark_obstacle() or EosctlError(
            "There is no spark-submit.",
            "SPARK_HOME does not hold bin/spark-submit." if "SPARK_HOME" in os.environ else "It is not on the PATH.",
            "Install eosctl[spark], or point SPARK_HOME at a Spark.",
        )
    if dry_run:
        sys.stdout.write(_shown(submit_command(program, Path("eosctl_logs.zip"), submission)) + "\n")
        return
    if obstacle := spark_obstacle():
        raise obstacle
    with tempfile.TemporaryDirectory(prefix="eosctl-submit-") as folder:
        command = submit_command(program, build_archive(Path(folder) / "eosctl_logs.zip"), submission)
        note(_shown(command))
        done = subprocess.run(command, env=_environment(master, os.environ), check=False)
    incidents = Path(out) / "incidents.json"
    if done.returncode in (0, 1) and incidents.is_file():
        sys.stdout.write("".join(f"{line}\n" for line in _told(json.loads(incidents.read_text("utf-8")))))
    if done.returncode:
        raise EosctlError(
            f"The job ended with exit status {done.returncode}.",
            "Its messages are above; a file that could not be read is named there.",
            "With eosctl logs report the same scan runs without Spark.",
        )


def _check(master: str, deploy_mode: DeployMode, settings: tuple[str, ...]) -> None:
    for setting in settings:
        if "=" not in setting.lstrip("="):
            raise UsageError(f"--conf {setting!r} sets nothing.", "", "Write it as name=value.")
    if not re.match(r"local(\[|$)|spark://|yarn$|k8s://", master):
        raise UsageError(
            f"{master!r} is no master of Spark.", "", "Write local[2], spark://host:7077, yarn or k8s://https://host."
        )
    if deploy_mode is DeployMode.CLUSTER and master.startswith(("spark://", "local")):
        raise UsageError(
            f"--deploy-mode cluster does not go with {master}.",
            "Spark runs the driver of a Python job on a standalone cluster in client mode only.",
            "Leave --deploy-mode out.",
        )


def _environment(master: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the job's environment: a driver of this Python, and on this machine workers of it, too."""
    defaults = {"PYSPARK_DRIVER_PYTHON": sys.executable}
    if master.startswith("local"):
        # Workers would otherwise run whatever python3 is first on the path.
        defaults |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    return {**defaults, **environment}


def _shown(command: list[str]) -> str:
    """Spell a command for people, without what its settings keep secret."""
    return shlex.join(_SECRET.sub(r"\1=[hidden]", part) for part in command)


def _told(incidents: list[dict[str, Any]]) -> Iterator[str]:
    for one in incidents:
        about = ", ".join(f"{name} {value}" for name, value in one["subject"].items())
        yield f"{one['severity'].upper()}  {one['kind']}: {one['root_cause']}  {about}"
