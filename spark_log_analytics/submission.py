"""Build the command lines that run the job from the installed code, with spark-submit or Connect."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

MAIN: Final = Path(__file__).with_name("main.py")
DATA_MAIN: Final = Path(__file__).parent / "kafka_data" / "main.py"


class Submission(NamedTuple):
    """A job to submit.

    Attributes:
        master: Spark's master URL, e.g. ``spark://host:7077``, ``yarn``, ``k8s://https://host``, ``local[2]``.
        deploy_mode: ``client`` or ``cluster``.
        paths: The inputs, under the same names on every executor.
        out: Directory of the result.
        settings: Spark settings as ``name=value``.
        job_options: Further options of the job, as ``name=value``.
        main: The job's program.
        archives: Archives that each executor unpacks, as ``FILE#NAME``.
        jars: Jar files for the driver and the executors.
        packages: Maven coordinates that Spark's own resolver fetches with their dependencies.
    """

    master: str
    deploy_mode: str
    paths: Sequence[str]
    out: str
    settings: Sequence[str] = ()
    job_options: Sequence[str] = ()
    main: Path = MAIN
    archives: Sequence[str] = ()
    jars: Sequence[str] = ()
    packages: Sequence[str] = ()


def find_spark_submit(environment: Mapping[str, str]) -> Path | None:
    """Return spark-submit from ``SPARK_HOME``, from the path, or from pip's pyspark."""
    if home := environment.get("SPARK_HOME"):
        return _program(Path(home) / "bin" / "spark-submit")
    if found := shutil.which("spark-submit", path=environment.get("PATH")):
        return Path(found)
    package = find_spec("pyspark")
    if package is None or package.origin is None:
        return None
    return _program(Path(package.origin).parent / "bin" / "spark-submit")


def knows_yarn(program: Path, environment: Mapping[str, str]) -> bool:
    """Return whether spark-submit learns where YARN is: from a variable, or from Spark's own ``spark-env.sh``."""
    settings = environment.get("SPARK_CONF_DIR") or program.parents[1] / "conf"
    is_named = any(environment.get(name) for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"))
    return is_named or Path(settings, "spark-env.sh").exists()


def submit_command(program: Path, archive: Path, submission: Submission) -> list[str]:
    """Return the command line, without shell syntax."""
    command = [str(program), "--master", submission.master, "--deploy-mode", submission.deploy_mode]
    command += ["--name", "eosctl logs", "--py-files", str(archive)]
    if submission.archives:
        command += ["--archives", ",".join(submission.archives)]
    if submission.jars:
        command += ["--jars", ",".join(submission.jars)]
    if submission.packages:
        command += ["--packages", ",".join(submission.packages)]
    for setting in submission.settings:
        command += ["--conf", setting]
    return [*command, str(submission.main), *_job_words(submission)]


def connect_command(submission: Submission) -> list[str]:
    """Return the command line of a job on the Spark Connect server that ``SPARK_REMOTE`` names.

    Modules of the current directory do not take the place of its own (``-P``).
    """
    return [sys.executable, "-P", "-m", "spark_log_analytics.main", *_job_words(submission)]


def _job_words(submission: Submission) -> list[str]:
    options = (f"out={submission.out}", *submission.job_options)
    # An input or a value is not taken for an option, also if it begins with a dash.
    return [*(f"--{option}" for option in options), "--", *submission.paths]


def _program(path: Path) -> Path | None:
    return path if os.access(path, os.X_OK) else None
