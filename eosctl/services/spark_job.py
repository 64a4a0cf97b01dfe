"""Jobs on Spark: the checks before any JVM starts, and the run."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl.errors import EosctlError, EvidenceIncomplete, ExitCode, UsageError
from eosctl.logs.files.urls import local_path
from eosctl.logs.topics.address import is_topic_url
from eosctl.model.client_config import Given
from eosctl.model.redaction import redact_text
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.log_engine import bar_environment, bar_settings, connect_obstacle, spark_obstacle
from eosctl.settings.clusters.profiles import is_plain_secret
from eosctl.settings.values.references import has_reference, resolve_references
from eosctl.temporary_folders import temporary_folder

if TYPE_CHECKING:
    from spark_log_analytics.archive import Shipment
    from spark_log_analytics.submission import Submission

ENVIRONMENT_FILE: Final = "eosctl_kafka_data_env.tar.gz"
DEFAULT_MASTER: Final = "local[*]"
_REFERS: Final = re.compile(r"\.secretKeyRef\.|\.secrets\.|File$|\.keytab$|\.s3a\..*\baccess\.key$")
"""Settings whose values name a secret (of Kubernetes, in a file, of AWS), and are not secrets."""


class DeployMode(StrEnum):
    """Where the driver runs."""

    CLIENT = "client"
    CLUSTER = "cluster"


class Job(NamedTuple):
    """A job to run.

    Attributes:
        submission: What is submitted; its archives are built for it.
        shipped: The code that goes along.
        result: The name of the file with its verdict.
        instead: What does the same without Spark, for when it fails; empty for nothing.
        connect: The URL of the Spark Connect server that runs it; empty for a submission to a master.
    """

    submission: Submission
    shipped: Shipment
    result: str
    instead: str
    connect: str = ""


def settings_of(master: str, deploy_mode: DeployMode, settings: list[str] | None) -> tuple[str, ...]:
    """Return the settings of a job.

    Raises:
        UsageError: They cannot work together.
    """
    settings_by_name(settings or ())
    if not re.match(r"local(\[|$)|spark://|yarn$|k8s://", master):
        raise UsageError(
            f"{master!r} is not a Spark master.", "", "Write local[2], spark://host:7077, yarn or k8s://https://host."
        )
    if deploy_mode is DeployMode.CLUSTER and master.startswith(("spark://", "local")):
        raise UsageError(
            f"--deploy-mode cluster does not go with {master}.",
            "Spark runs the driver of a Python job on a standalone cluster in client mode only.",
            "Leave --deploy-mode out.",
        )
    from spark_log_analytics.session import SAFE_PATH

    defaults = {"spark.log.level": "WARN", f"spark.executorEnv.{SAFE_PATH}": "1"}
    defaults |= {**_settings_of_machine(master), **bar_settings()}
    # Spark takes the last of each.
    return (*(f"{name}={value}" for name, value in defaults.items()), *(settings or ()))


def settings_by_name(settings: Sequence[str], jars: Sequence[str] = (), packages: Sequence[str] = ()) -> dict[str, str]:
    """Return the settings of a session, with the jars and packages that it needs.

    Raises:
        UsageError: A setting is not of the form name=value, or holds a secret in clear text.
    """
    for number, setting in enumerate(settings, start=1):
        if "=" not in setting.lstrip("="):
            # The text may be a secret whose name was forgotten: it is not repeated here.
            raise UsageError(f"--conf number {number} sets nothing.", "", "Write it as name=value.")
        _refuse_secret(setting)
    named = {"spark.jars": ",".join(jars), "spark.jars.packages": ",".join(packages)}
    given = {name.strip(): value for name, _, value in (setting.partition("=") for setting in settings)}
    return {name: value for name, value in named.items() if value} | given


def _refuse_secret(setting: str) -> None:
    """Refuse a setting that is masked where it is printed, unless it refers to the secret."""
    name, _, value = setting.partition("=")
    name = name.strip()
    is_named = not _REFERS.search(name) and value.lower() not in ("true", "false") and is_plain_secret(name, value)
    if is_named or (not has_reference(value) and not _REFERS.search(name) and redact_text(value) != value):
        raise UsageError(
            f"--conf {redact_text(name)} is or contains a secret in clear text.",
            "Other users of this computer can see the arguments of its processes, those of Spark included.",
            "Keep it in spark-defaults.conf of SPARK_CONF_DIR, or refer to a variable where Hadoop reads the setting: "
            "'spark.hadoop.NAME=${env.VARIABLE}'.",
        )


def _settings_of_machine(master: str) -> dict[str, str]:
    """Return the settings with which a Spark on this machine starts faster."""
    if not master.startswith("local"):
        return {}
    from spark_log_analytics.session import DAEMON, FAST_START, local_java

    # Another Python for the workers may lack this package until a task begins.
    daemon = {} if "PYSPARK_PYTHON" in os.environ else DAEMON
    return {"spark.driver.extraJavaOptions": local_java(os.environ), **FAST_START, **daemon}


def check_connect(url: str, master: str, deploy_mode: DeployMode, settings: Sequence[str]) -> str:
    """Return the URL of a Spark Connect server, with its references resolved; refuse what does not go with one.

    Raises:
        UsageError: It is not the URL of a server, holds a secret in clear text, or an option is set that the server has
            already decided.
        ConfigFileError: The variable or the file of a reference is missing.
    """
    if not has_reference(url) and redact_text(url) != url:
        raise UsageError(
            "--connect holds a secret in clear text.",
            "Other users of this computer can see the arguments of its processes.",
            "Keep the URL in a file or a variable: --connect '${file:/run/secrets/spark}'",
        )
    url = resolve_references(Given(url, "--connect"), os.environ)
    if not re.match(r"sc://[^/;\s]+", url):
        raise UsageError(f"{_shown_url(url)!r} is not a Spark Connect server.", "", "Write it like sc://host:15002.")
    if master != DEFAULT_MASTER or deploy_mode is not DeployMode.CLIENT:
        raise UsageError(
            "--connect cannot be combined with --master or --deploy-mode.", "The server has a master.", "Name one."
        )
    if settings:
        raise UsageError(
            "--conf, --jars and --packages do not reach a Spark Connect server.",
            "They count when the server starts.",
            "Give them to the server, or submit to a master.",
        )
    return url


def command_of(job: Job) -> str:
    """Return the command line that runs a job, without what its settings keep secret.

    Raises:
        EosctlError: There is no spark-submit.
    """
    from spark_log_analytics.submission import connect_command, submit_command

    if not job.connect:
        return _shown(submit_command(_spark_submit(), Path("eosctl_logs.zip"), job.submission))
    # Not an argument, as the URL may hold a token and arguments are there for all to see.
    return f"SPARK_REMOTE={shlex.quote(_shown_url(job.connect))} {_shown(connect_command(job.submission))}"


class Ending(NamedTuple):
    """The end of a job.

    Attributes:
        status: Its exit status.
        verdict: The content of the file of its verdict; None if it did not write one here.
        problems: What it could not read or write; empty if its driver ran elsewhere.
    """

    status: int
    verdict: Any
    problems: tuple[str, ...] = ()


def run_job(job: Job, callbacks: Callbacks = SILENT) -> Ending:
    """Pack the code and run a job, with its messages on this process's standard error.

    Raises:
        EosctlError: Spark cannot be used here.
    """
    from spark_log_analytics.archive import build_archive
    from spark_log_analytics.submission import connect_command, knows_yarn, submit_command

    if job.connect:
        # No JVM is needed here.
        if obstacle := connect_obstacle():
            raise obstacle
        callbacks.remark(command_of(job))
        environment = {**bar_environment(), **os.environ, "SPARK_REMOTE": job.connect}
        return _run(job, connect_command(job.submission), environment, callbacks)
    program = _spark_submit()
    if obstacle := spark_obstacle():
        raise obstacle
    if job.submission.master == "yarn" and not knows_yarn(program, os.environ):
        raise UsageError(
            "--master yarn needs the settings of the cluster.",
            "Neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set.",
            "Set HADOOP_CONF_DIR to the directory with yarn-site.xml.",
        )
    with temporary_folder("eosctl-submit-") as folder:
        archive = build_archive(folder / "eosctl_logs.zip", job.shipped)
        command = submit_command(program, archive, _with_environment(job.submission, folder))
        callbacks.remark(_shown(command))
        return _run(job, command, _environment(job.submission.master, os.environ), callbacks)


def _spark_submit() -> Path:
    from spark_log_analytics.submission import find_spark_submit

    if program := find_spark_submit(os.environ):
        return program
    raise spark_obstacle() or EosctlError(
        "There is no spark-submit.",
        "SPARK_HOME does not hold bin/spark-submit." if "SPARK_HOME" in os.environ else "It is not on the PATH.",
        "Install eosctl[spark], or point SPARK_HOME at a Spark.",
    )


def _run(job: Job, command: list[str], environment: Mapping[str, str], callbacks: Callbacks) -> Ending:
    from spark_log_analytics.outcome import PROBLEMS, RESULT

    with temporary_folder("eosctl-outcome-") as outcome:
        # A driver on this machine hands over the verdict of a result that lies in another file system.
        verdict = (local_path(job.submission.out) or outcome) / job.result
        problems = outcome / "problems"
        before = _written_ns(verdict)
        environment = {**environment, PROBLEMS: str(problems), RESULT: str(outcome / job.result)}
        status = _relay(job.submission.packages, command, environment, callbacks)
        found = tuple(problems.read_text("utf-8").splitlines()) if problems.exists() else ()
        # What an earlier run left there is not this one's verdict.
        is_new = _written_ns(verdict) != before
        return Ending(status, json.loads(verdict.read_text("utf-8")) if is_new else None, found)


def _relay(packages: Sequence[str], command: list[str], environment: Mapping[str, str], callbacks: Callbacks) -> int:
    """Run a program, and pass the lines of its two streams on as remarks, and its bars as progress.

    Its log lines have the texts of records and files, which must not reach a terminal as they are.

    Raises:
        EosctlError: Spark's resolver did not find the packages to fetch.
    """
    unresolved = False
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        written = io.TextIOWrapper(process.stdout or io.BytesIO(), "utf-8", "replace", newline="")
        for line in written:
            text = line.rstrip("\r\n")
            if line.endswith("\n") and text:
                callbacks.progress("")
                callbacks.remark(text)
            elif text:
                callbacks.progress(text)
            unresolved = unresolved or "unresolved dependency" in line.lower()
        callbacks.progress("")
    if process.returncode and unresolved and packages:
        raise EosctlError(
            f"Spark could not fetch {', '.join(packages)}.",
            "Its resolver uses Maven Central, and ignores Maven's settings, mirrors, and proxies.",
            "Copy the jars with Maven (mvn dependency:copy-dependencies) and name them with --jars, or set a mirror "
            "with --conf spark.jars.repositories=URL.",
        )
    return int(process.returncode)


def scan_job(
    paths: Sequence[str],
    out: str,
    master: str,
    deploy_mode: DeployMode,
    settings: Sequence[str],
    options: Sequence[str],
    jars: Sequence[str] = (),
    packages: Sequence[str] = (),
    connect: str = "",
) -> Job:
    """Return the job that scans logs."""
    from spark_log_analytics.archive import SHIPPED
    from spark_log_analytics.submission import Submission

    submission = Submission(
        master,
        deploy_mode.value,
        paths,
        out,
        settings=settings,
        job_options=options,
        jars=jars,
        packages=packages,
    )
    is_here = all(is_topic_url(path) or local_path(path) for path in paths)
    return Job(submission, SHIPPED, "incidents.json", "eosctl logs report" if is_here else "", connect)


def data_job(
    paths: Sequence[str],
    out: str,
    master: str,
    deploy_mode: DeployMode,
    settings: Sequence[str],
    options: Sequence[str],
) -> Job:
    """Return the job that reads Kafka's files."""
    from spark_log_analytics.archive import SHIPPED_FOR_DATA
    from spark_log_analytics.kafka_data.environment import NAME
    from spark_log_analytics.submission import DATA_MAIN, Submission

    archives = [f"{ENVIRONMENT_FILE}#{NAME}"]
    submission = Submission(
        master,
        deploy_mode.value,
        paths,
        out,
        settings=settings,
        job_options=options,
        main=DATA_MAIN,
        archives=archives,
    )
    return Job(submission, SHIPPED_FOR_DATA, "summary.json", "eosctl logs data")


def failure_of(job: Job, status: int, problems: Sequence[str] = ()) -> EosctlError:
    """Return the error of a job that ended with a status other than 0, also of one that did not read all input."""
    why = "Its messages are above; a file that could not be read is named there."
    if problems:
        first, further = problems[0].rstrip("."), len(problems) - 1
        # The name of a file stays as it is.
        is_word = first.partition(" ")[0].isalpha()
        why = f"{first[:1].upper() if is_word else first[:1]}{first[1:]}." + (
            f" Further problems are listed above: {further}." if further else ""
        )
    if status == ExitCode.INCOMPLETE:
        return EvidenceIncomplete(
            "The result is written, but it does not cover all of the input.",
            why,
            "The table coverage names each input and its status.",
        )
    return EosctlError(
        f"The job ended with exit status {status}.",
        why,
        f"{job.instead} does the same without Spark." if job.instead else "",
    )


def _with_environment(submission: Submission, folder: Path) -> Submission:
    if not submission.archives:
        return submission
    from spark_log_analytics.kafka_data.environment import NAME, build_environment

    return submission._replace(archives=[f"{build_environment(folder / ENVIRONMENT_FILE)}#{NAME}"])


def _written_ns(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _environment(master: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the job's environment: this Python for the driver and, on this machine, for the workers, too."""
    from spark_log_analytics.session import SAFE_PATH

    # Spark starts workers with `python -m`: modules of the current directory would take the place of Python's own.
    defaults = {"PYSPARK_DRIVER_PYTHON": sys.executable, SAFE_PATH: "1"}
    if master.startswith("local"):
        # Workers would otherwise run the first python3 on the path.
        defaults |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    return {**defaults, **environment}


def _shown_url(url: str) -> str:
    """Spell the URL of a Connect server without what it keeps secret."""
    return ";".join(map(redact_text, url.split(";")))


def _shown(command: list[str]) -> str:
    """Spell a command for people, without what its settings keep secret."""
    return shlex.join(map(redact_text, command))
