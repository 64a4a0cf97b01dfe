"""The last step: find both faults in the logs alone, with Spark if installed, else with eosctl itself."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Final

from eosctl.demo.steps import Background, Steps, unexpected_end
from eosctl.errors import EosctlError

LOGS: Final = "logs"
MINING: Final = "mining.log"
SPARK: Final = "spark"
PYTHON: Final = "python"
_FAULTS: Final = (("producer_fenced", "payment-service"), ("hanging_transaction", "orders-"))
_LAST_LINES: Final = 5


def _choose_engine(steps: Steps) -> str:
    """Return the engine for the logs: Spark if Java and pyspark are installed, else eosctl with the same result."""
    has_java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
    if has_java and importlib.util.find_spec("pyspark") is not None:
        return SPARK
    missing = "the extra eosctl[spark]" if has_java else "Java"
    steps.show(f"(Spark needs {missing}, which is not here: eosctl reads the logs itself, with the same result.)\n")
    return PYTHON


def begin_mining(steps: Steps, data_dir: Path, temporary: Path) -> Background:
    """Copy the brokers' logs to those of the applications, and start to read them.

    Args:
        steps: Runs the command.
        data_dir: The data directory of the cluster.
        temporary: A directory for temporary files, since a stopped Spark leaves sockets and jars.
    """
    shutil.copytree(data_dir / "logs", steps.folder / LOGS, dirs_exist_ok=True)
    return steps.begin(f"eosctl logs report {LOGS} --engine {_choose_engine(steps)}", MINING, temporary)


def show_mining(steps: Steps, mining: Background) -> None:
    """Print the report, and check that it names both faults; if Spark has failed, eosctl reads the logs itself.

    Raises:
        EosctlError: The report could not be made, or misses a fault.
    """
    status, report = mining.wait()
    if status and mining.line.endswith(SPARK):
        last = mining.errors.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST_LINES:]
        shortfall = f"{mining.line!r} ended with exit code {status}; see {mining.errors}."
        steps.shortfalls.append(shortfall)
        steps.show(f"{shortfall} Its last lines:\n" + "".join(f"  {line}\n" for line in last))
        report = steps.run(f"eosctl logs report {LOGS} --engine {PYTHON}", show=False)
    elif status:
        raise unexpected_end(mining.line, status, 0, f"See {mining.errors}.")
    steps.show(report)
    for fault, subject in _FAULTS:
        if fault not in report or subject not in report:
            raise EosctlError(
                f"The demo stopped: the report from logs does not name {fault} of {subject}.",
                "Both were really made, so this is a defect in eosctl.",
                f"Keep the folder {steps.folder} and report it.",
            )
