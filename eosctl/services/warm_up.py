"""Make later starts of the local Spark faster."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from eosctl.errors import EosctlError
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.log_engine import spark_obstacle

SAMPLE: Final = (
    "2026-11-21 09:31:14,789 INFO  [main] a.b.Relay - started\n"
    "2026-11-21 09:31:15,789 ERROR [main] a.b.Relay - failed\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer\n"
    "\tat a.b.Relay.run(Relay.java:7)\n"
)
"""Enough for a scan to take every way through Spark that larger ones take."""


def warm_up(callbacks: Callbacks = SILENT) -> Path:
    """Write the archive of Spark's classes for this Java and this pyspark; return it.

    Raises:
        EosctlError: Spark cannot be used, or did not write it.
    """
    from spark_log_analytics.archive import build_archive
    from spark_log_analytics.session import LOCAL_JAVA
    from spark_log_analytics.submission import Submission, find_spark_submit, submit_command
    from spark_log_analytics.warm import class_archive, writing_options

    if obstacle := spark_obstacle():
        raise obstacle
    program, target = find_spark_submit(os.environ), class_archive(os.environ)
    if program is None or target is None:
        raise EosctlError(
            "There is no spark-submit.", "Neither SPARK_HOME nor pyspark has it.", "Install eosctl[spark]."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    callbacks.remark("Running Spark once; this takes about half a minute.")
    with tempfile.TemporaryDirectory(prefix="eosctl-warmup-", dir=target.parent) as name:
        folder = Path(name)
        (folder / "relay.log").write_text(SAMPLE, encoding="utf-8")
        written = folder / "classes.jsa"
        settings = (
            "spark.ui.enabled=false",
            "spark.log.level=ERROR",
            f"spark.driver.extraJavaOptions={LOCAL_JAVA} {writing_options(written)}",
        )
        job = Submission("local[1]", "client", [str(folder / "relay.log")], str(folder / "result"), settings)
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        done = subprocess.run(
            submit_command(program, build_archive(folder / "eosctl_logs.zip"), job),
            env={**environment, "PYSPARK_DRIVER_PYTHON": sys.executable},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode or not written.exists():
            raise EosctlError(
                f"Spark ended with exit status {done.returncode} and wrote no archive.",
                (done.stderr.strip().splitlines() or [""])[-1],
                "Spark works without it; it only starts more slowly.",
            )
        written.replace(target)
    return target
