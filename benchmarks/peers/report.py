"""The report of measured clusters."""

from __future__ import annotations

import msgspec

from eosctl.render.page import PLAIN, Block, Grid, Line, Style, render_page


class SpreadItem(msgspec.Struct, frozen=True):
    """Median, minimum, and maximum of the runs."""

    median: float
    least: float
    most: float


class LatencyItem(msgspec.Struct, frozen=True):
    """Medians of the runs' percentiles, in milliseconds."""

    p50_ms: float
    p99_ms: float
    p999_ms: float


class BenchItem(msgspec.Struct, frozen=True):
    """A load on a cluster. For an open loop, latency counts from the due time."""

    engine: str
    load: str
    profile: str
    connections: int
    ids_per_connection: int
    wanted_rate_per_s: float | None
    runs: int
    held_runs: int | None
    errors: tuple[str, ...]
    server_cpu_us: SpreadItem | None
    client_cpu_us: SpreadItem | None
    rate_per_s: SpreadItem | None
    commit: LatencyItem | None
    whole: LatencyItem | None


class BenchRun(msgspec.Struct, frozen=True):
    """A comparison: environment, rounds, and results. `commit` is that of the sources."""

    version: str
    commit: str
    compiled: bool
    python: str
    machine: str
    core_count: int
    load_before: float
    load_after: float
    rounds: int
    seconds: float
    left_out: dict[str, str]
    results: tuple[BenchItem, ...]


_HEADER = ("LOAD", "ENGINE", "CPU-US-PER-TXN", "TXN-PER-S", "HELD", "COMMIT-P50/P99/P99.9-MS", "WHOLE-P99-MS")


def render_bench(run: BenchRun, style: Style = PLAIN) -> str:
    """Render the table: medians, with minimum and maximum in brackets."""
    source = f"eosctl {run.version}{f' ({run.commit[:7]})' if run.commit else ''}"
    machine = f"Python {run.python}; {run.core_count} cores ({run.machine})"
    blocks: list[Block] = [
        Line(
            f"{source}{', compiled' if run.compiled else ''}, {machine}, load {run.load_before:.1f} before and "
            f"{run.load_after:.1f} after; {run.rounds} alternating runs of {run.seconds:g} s"
        ),
        Grid(tuple(_row(item) for item in run.results), _HEADER),
    ]
    blocks += [Line(f"{engine} was left out: {why}") for engine, why in run.left_out.items()]
    return render_page(blocks, style)


def _row(item: BenchItem) -> tuple[str, ...]:
    if item.server_cpu_us is None or item.rate_per_s is None or item.commit is None or item.whole is None:
        return (item.load, item.engine, f"failed: {'; '.join(item.errors)}", "", "", "", "")
    held = "" if item.held_runs is None else f"{item.held_runs} of {item.runs}"
    commit = item.commit
    return (
        item.load,
        item.engine,
        _spread(item.server_cpu_us),
        _spread(item.rate_per_s),
        held,
        f"{commit.p50_ms:.1f}/{commit.p99_ms:.1f}/{commit.p999_ms:.1f}",
        f"{item.whole.p99_ms:.1f}",
    )


def _spread(item: SpreadItem) -> str:
    return f"{item.median:,.0f} ({item.least:,.0f}-{item.most:,.0f})"
