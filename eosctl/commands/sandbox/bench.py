"""``eosctl sandbox bench``: the sandbox beside real Kafka and kfake, measured with one generator in turn."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import invocation_of, note, write_file, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import EosctlError, UsageError, unknown_name
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

if TYPE_CHECKING:
    from eosctl.lab.bench.measuring import Sample, Shape
    from eosctl.render.sandbox.bench import BenchItem, BenchRun

_PROFILES = ("TV1", "TV2", "CTP1", "CTP2")
_DONE, _OPERATION_FAILED = 0, 1


def bench(
    context: typer.Context,
    engine: Annotated[
        list[str] | None,
        typer.Option("--engine", metavar="NAME", help="sandbox, apache or kfake; repeatable. All that can run here."),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option("--profile", metavar="NAME", help="TV1, TV2, CTP1 or CTP2; repeatable. TV1 and TV2."),
    ] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option("--shape", metavar="CxI", help="Connections times ids on each; repeatable. 16x1 and 16x16."),
    ] = None,
    rate: Annotated[
        list[float] | None,
        typer.Option("--rate", min=1, help="Also begin so many transactions a second (open loop); repeatable."),
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How often each load runs on each engine.")] = 3,
    seconds: Annotated[float, typer.Option("--seconds", min=0.2, help="How long each run is counted.")] = 5.0,
    kafka: Annotated[str, typer.Option("--kafka", metavar="VERSION", help="The release of --engine apache.")] = "4.3.1",
    save: Annotated[
        Path | None, typer.Option("--save", help="Keep the result, as -o json gives it, in this file too.")
    ] = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Measure the sandbox beside real Kafka and kfake: CPU per transaction, rate and latency.

    Each is a cluster of one broker on this machine, with one record of 100 bytes in a transaction and one replica. The
    same generator works on them in turn, round by round. In an open loop transactions begin on schedule whatever has
    become of earlier ones, so a stall shows in every wait that it causes. The CPU time is the server's.
    """
    from contextlib import ExitStack
    from random import Random
    from time import process_time

    from eosctl.lab.bench.measuring import Clocks, alternate
    from eosctl.lab.bench.rivals import ENGINES, check_engines, missing_for, running, workplace
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.sandbox.bench import render_bench

    invocation = invocation_of(context)
    check_engines(engine or ())
    shapes = _shapes(profile or _PROFILES[:2], shape or ("16x1", "16x16"), rate or ())
    missing = {name: missing_for(name) for name in ENGINES}
    left_out = {} if engine else {name: f"there is no {tool}" for name, tool in missing.items() if tool}
    chosen = engine or [name for name in ENGINES if name not in left_out]
    load_before = os.getloadavg()[0]
    with workplace() as directory, ExitStack() as stack:
        rivals = []
        for name in dict.fromkeys(chosen):
            note(f"starting {name}")
            try:
                rivals.append(stack.enter_context(running(name, directory / name, kafka, Random())))
            except EosctlError as error:
                if engine:
                    raise
                left_out[name] = error.what  # nobody asked for it by name
        samples = alternate(rivals, shapes, rounds, int(seconds * 1000), Clocks(invocation.now_ms, process_time), note)
    results = tuple(_item(rival.name, load, samples[rival.name, load]) for load in shapes for rival in rivals)
    run = _run(results, left_out, rounds, seconds, load_before)
    machine = render_listing(listing("bench", "sandbox bench", invocation.now_ms(), (run,)), (), OutputFormat.JSON)
    if save is not None:
        write_file(machine, save)
    if output in FOR_PEOPLE:
        text = render_bench(run, invocation.style())
    else:
        text = render_listing(listing("bench", "sandbox bench", invocation.now_ms(), (run,)), (), output)
    write_result(text, output_file)
    raise typer.Exit(_OPERATION_FAILED if any(item.server_cpu_us is None for item in results) else _DONE)


def _shapes(profiles: Sequence[str], shapes: Sequence[str], rates: Sequence[float]) -> list[Shape]:
    from eosctl.lab.bench.measuring import OPEN_CONNECTIONS, OPEN_IDS, Shape
    from eosctl.lab.workloads.load import Profile

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
    from statistics import median

    from eosctl.lab.bench.measuring import spread
    from eosctl.lab.workloads.latency import Percentiles
    from eosctl.render.sandbox.bench import BenchItem, LatencyItem, SpreadItem

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
    from eosctl import __version__
    from eosctl.render.sandbox.bench import BenchRun
    from eosctl.wire import frames

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
    """Return the commit of the sources that run; empty for an installed package."""
    import shutil
    import subprocess

    root = Path(__file__).resolve().parents[3]
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return ""
    done = subprocess.run([git, "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if not done.returncode else ""
