"""Measure the start of eosctl, and of a bare Typer app with the same commands and options.

    python -m benchmarks.cli_startup

Processor time of the whole process (user and system), the median of alternating runs; then the time that `doctor` takes
on a sandbox of three brokers.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer.main

from benchmarks import as_installed
from eosctl.cli import app

HELP_TARGET_S = 0.25
HELP_TARGET_RATIO = 1.2
DOCTOR_TARGET_S = 2.0
INSTALLED = as_installed()


class Cost(NamedTuple):
    """The cost of one run of a program."""

    cpu_s: float
    wall_s: float


def run(command: Sequence[str], environment: dict[str, str] | None = None, accepted: Sequence[int] = (0,)) -> Cost:
    """Run a program and measure it; raise an error for another exit code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment or INSTALLED, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in accepted:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return Cost(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall_s)


def bare_app(command: Any, indent: str = "app") -> Iterator[str]:
    """Write the program of an app with the same tree of commands and options and no function."""
    for number, child in enumerate(command.commands.values()):
        name = f"{indent}_{number}"
        if hasattr(child, "commands"):
            yield f"{name} = typer.Typer(help={child.name!r})"
            yield f"{indent}.add_typer({name}, name={child.name!r})"
            yield from bare_app(child, name)
        else:
            options = ", ".join(f"o{i}: Annotated[str, typer.Option(help='x')] = ''" for i in range(len(child.params)))
            yield f"@{indent}.command({child.name!r})"
            yield f"def {name}({options}) -> None:"
            yield "    'Do nothing.'"


def bare_program() -> str:
    lines = ["from typing import Annotated", "import typer", "app = typer.Typer()"]
    return "\n".join([*lines, *bare_app(typer.main.get_command(app)), "app()", ""])


def median(costs: Sequence[Cost]) -> Cost:
    return Cost(statistics.median(c.cpu_s for c in costs), statistics.median(c.wall_s for c in costs))


def measure_help(rounds: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as directory:
        bare = Path(directory) / "bare.py"
        bare.write_text(bare_program())
        programs = {"bare": [sys.executable, str(bare), "--help"], "eosctl": [sys.executable, "-m", "eosctl", "--help"]}
        costs: dict[str, list[Cost]] = {name: [] for name in programs}
        for _ in range(rounds + 1):
            for name, command in programs.items():
                costs[name].append(run(command))
    theirs, ours = median(costs["bare"][1:]), median(costs["eosctl"][1:])
    ratio = ours.cpu_s / theirs.cpu_s
    met = ours.cpu_s < HELP_TARGET_S and ratio <= HELP_TARGET_RATIO
    yield row("bare Typer app --help", f"{theirs.cpu_s:.2f} s CPU, {theirs.wall_s:.2f} s", "", None)
    measured = f"{ours.cpu_s:.2f} s CPU, {ours.wall_s:.2f} s; {ratio:.2f} x bare"
    yield row("eosctl --help", measured, f"< {HELP_TARGET_S} s CPU and <= {HELP_TARGET_RATIO} x bare", met)


def measure_doctor(rounds: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as directory:
        environment = INSTALLED | {"XDG_STATE_HOME": directory}
        eosctl = [sys.executable, "-m", "eosctl"]
        off = "transaction.partition.verification.enable=false"
        run([*eosctl, "sandbox", "up", "--name", "bench", "--ephemeral", "--config", off], environment)
        try:
            run([*eosctl, "sandbox", "scenario", "hanging", "--name", "bench"], environment)
            doctor = [*eosctl, "sandbox", "exec", "--name", "bench", "--", *eosctl, "doctor"]
            cost = median([run(doctor, environment, accepted=(0, 3)) for _ in range(rounds)])
        finally:
            run([*eosctl, "sandbox", "down", "--name", "bench"], environment)
    what = "eosctl doctor, 3 brokers, a transaction that hangs"
    measured = f"{cost.wall_s:.2f} s, {cost.cpu_s:.2f} s CPU"
    yield row(what, measured, f"< {DOCTOR_TARGET_S:.0f} s", cost.wall_s < DOCTOR_TARGET_S)


def row(what: str, measured: str, target: str, met: bool | None) -> str:
    verdict = {True: "yes", False: "NO", None: ""}[met]
    return f"| {what} | {measured} | {target} | {verdict} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}\n")
    print("| What | Measured | Target | Met |\n|---|---|---|---|")
    for source in (measure_help, measure_doctor):
        for line in source(options.rounds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
