"""Measure the sandbox, real Kafka, and kfake alternately: CPU per transaction, rate, and latency.

    python -m benchmarks.side_by_side --rate 2000 --save result.json
    python -m benchmarks.side_by_side --engine sandbox --profile tv2 --shape 16x16 --rounds 5

Each is a cluster of one broker on this machine, with one record of 100 bytes in a transaction and one replica. In an
open loop (--rate) transactions begin on schedule even if earlier ones are open, so a stall shows in every wait
that it causes. The CPU time is the server's. Exits with 1 when an engine failed under a load.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from statistics import median

import msgspec

from benchmarks.peers import rivals
from benchmarks.peers.measuring import OPEN_CONNECTIONS, OPEN_IDS, Clocks, Sample, Shape, alternate, spread
from benchmarks.peers.report import BenchItem, BenchRun, LatencyItem, SpreadItem, render_bench
from eosctl import __version__
from eosctl.errors import EosctlError, UsageError, unknown_name
from eosctl.lab.workloads.latency import Percentiles
from eosctl.lab.workloads.load import Profile
from eosctl.services.callbacks import system_now_ms
from eosctl.wire import frames

_PROFILES = ("TV1", "TV2", "CTP1", "CTP2")


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", help="sandbox, apache, or kfake; repeatable [all that can run]")
    parser.add_argument("--profile", action="append", help="TV1, TV2, CTP1, or CTP2; repeatable [TV1 and TV2]")
    parser.add_argument("--shape", action="append", help="connections x ids on each; repeatable [16x1 and 16x16]")
    parser.add_argument("--rate", action="append", type=float, help="transactions a second in an open loop; repeatable")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each load on each engine [3]")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of each run [5]")
    parser.add_argument("--kafka", default="4.3.1", help="release of the engine apache [4.3.1]")
    parser.add_argument("--save", type=Path, help="file for the result as JSON")
    return parser.parse_args(arguments)


def note(text: str) -> None:
    print(text, file=sys.stderr)


def measure(options: argparse.Namespace) -> BenchRun:
    """Measure the selected engines.

    Raises:
        EosctlError: An option is invalid, or a named engine cannot run.
    """
    rivals.check_engines(options.engine or ())
    shapes = _shapes(options.profile or _PROFILES[:2], options.shape or ("16x1", "16x16"), options.rate or ())
    missing = {name: rivals.missing_for(name) for name in rivals.ENGINES}
    left_out = {} if options.engine else {name: f"there is no {tool}" for name, tool in missing.items() if tool}
    chosen = options.engine or [name for name in rivals.ENGINES if name not in left_out]
    load_before = os.getloadavg()[0]
    clocks = Clocks(system_now_ms, time.process_time)
    with rivals.workplace() as directory, ExitStack() as stack:
        running = []
        for name in dict.fromkeys(chosen):
            note(f"starting {name}")
            try:
                running.append(stack.enter_context(rivals.running(name, directory / name, options.kafka, Random())))
            except EosctlError as error:
                if options.engine:
                    raise
                left_out[name] = error.what  # Not requested by name.
        samples = alternate(running, shapes, options.rounds, int(options.seconds * 1000), clocks, note)
    results = tuple(_item(rival.name, load, samples[rival.name, load]) for load in shapes for rival in running)
    return _run(results, left_out, options.rounds, options.seconds, load_before)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_options(sys.argv[1:] if arguments is None else arguments)
    try:
        run = measure(options)
    except EosctlError as error:
        print(error.what, error.why, error.next_step, sep="\n", file=sys.stderr)
        return error.exit_code
    if options.save is not None:
        options.save.write_bytes(msgspec.json.format(msgspec.json.encode(run)) + b"\n")
    print(render_bench(run), end="")
    return 1 if any(item.server_cpu_us is None for item in run.results) else 0


def _shapes(profiles: Sequence[str], shapes: Sequence[str], rates: Sequence[float]) -> list[Shape]:
    found = []
    for name in profiles:
        if name.upper() not in _PROFILES:
            raise unknown_name("profile", name, _PROFILES, "Choose from them")
        profile = Profile[name.upper()]
        for text in shapes:
            connections, times, ids = text.partition("x")
            if not (times and connections.isdecimal() and ids.isdecimal() and int(connections) and int(ids)):
                raise UsageError(f"--shape {text} is not CxI.", "C connections, I ids on each.", "As in 16x4.")
            found.append(Shape(profile, int(connections), int(ids)))
        found += [Shape(profile, OPEN_CONNECTIONS, OPEN_IDS, rate) for rate in rates]
    return found


def _item(engine: str, shape: Shape, samples: Sequence[Sample]) -> BenchItem:
    counted = [(sample, sample.report) for sample in samples if sample.report is not None and not sample.error]

    def over(values: Sequence[float]) -> SpreadItem | None:
        return SpreadItem(*spread(values)) if values else None

    def latency(found: Sequence[Percentiles]) -> LatencyItem | None:
        if not found:
            return None
        return LatencyItem(
            median([each.p50_ms for each in found]),
            median([each.p99_ms for each in found]),
            median([each.p999_ms for each in found]),
        )

    return BenchItem(
        engine=engine,
        load=shape.name,
        profile=shape.profile.name,
        connections=shape.connections,
        ids_per_connection=shape.ids,
        wanted_rate_per_s=shape.rate_per_s,
        runs=len(counted),
        held_runs=None if shape.rate_per_s is None else sum(bool(sample.is_held) for sample, _ in counted),
        errors=tuple(dict.fromkeys(sample.error for sample in samples if sample.error)),
        server_cpu_us=over([sample.server_cpu_us for sample, _ in counted]),
        client_cpu_us=over([report.client_cpu_us for _, report in counted]),
        rate_per_s=over([report.rate_per_s for _, report in counted]),
        commit=latency([report.commit for _, report in counted]),
        whole=latency([report.whole for _, report in counted]),
    )


def _run(
    results: tuple[BenchItem, ...], left_out: dict[str, str], rounds: int, seconds: float, load_before: float
) -> BenchRun:
    return BenchRun(
        version=__version__,
        commit=_commit(),
        compiled=not str(frames.__file__).endswith(".py"),
        python=platform.python_version(),
        machine=f"{platform.system()} {platform.machine()}",
        core_count=os.cpu_count() or 1,
        load_before=round(load_before, 2),
        load_after=round(os.getloadavg()[0], 2),
        rounds=rounds,
        seconds=seconds,
        left_out=left_out,
        results=results,
    )


def _commit() -> str:
    """Return the commit of the running sources; empty for an installed package."""
    root = Path(__file__).resolve().parents[1]
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return ""
    done = subprocess.run([git, "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if not done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
