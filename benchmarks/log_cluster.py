"""Compute what a job costs on a cluster, from the costs of tasks that were measured on one machine.

    python -m benchmarks.log_cluster SIZES.json JUDGE.json [--tb 10] [--executors 100] [--cores 4]

SIZES.json is the result of ``benchmarks.log_sizes``, JUDGE.json that of ``benchmarks.log_judge``. The model: tasks are
independent and of equal cost, so a stage takes its processor time divided by the cores, and then its longest task once
more, for those that begin last. Not in the model: the network, a storage that is slower than a local disk, and the
driver's listing of files. The density of events is that of the measured log, and denser ones.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from eosctl.logs.incidents.slicing.slices import SLICE_EVENTS
from eosctl.text import count_text, duration_text

DENSITIES: Final = (10_000, 100_000, 1_000_000)
"""Events in a GB: a quiet log, a busy one, and a coordinator's at a high level."""
_GB_OF_TB: Final = 1000


class TaskCosts(NamedTuple):
    """Measured costs, s of processor.

    Attributes:
        gb_s: Of a GB with few events.
        events_per_gb: How many these are.
        read_event_s: Of an event more that is read.
        judge_event_s: Of an event that is judged.
        longest_scan_s: Of the longest task that reads.
        longest_slice_s: Of the longest task that judges.
    """

    gb_s: float
    events_per_gb: float
    read_event_s: float
    judge_event_s: float
    longest_scan_s: float
    longest_slice_s: float


class Estimate(NamedTuple):
    """The cost of a job: processor time, s, and its time by the clock, s, for both stages."""

    events: float
    scan_cpu_s: float
    judge_cpu_s: float
    scan_s: float
    judge_s: float


def costs_of(sizes: Mapping[str, Any], judged: Mapping[str, Any]) -> TaskCosts:
    """Return the costs of the largest log that was measured, and of the events that were judged."""
    largest = max(sizes["sizes"], key=lambda one: one["gb"])
    dense = sizes["dense"]
    events_per_gb, many_per_gb = largest["events"] / largest["gb"], dense["events"] / dense["gb"]
    more_s = dense["tasks_cpu_s_per_gb"] - largest["tasks_cpu_s_per_gb"]
    return TaskCosts(
        gb_s=largest["cpu_s_per_gb"],
        events_per_gb=events_per_gb,
        read_event_s=max(0.0, more_s / (many_per_gb - events_per_gb)),
        judge_event_s=judged["judge"]["cpu_s"] / judged["events"],
        longest_scan_s=largest["longest_task_cpu_s"],
        longest_slice_s=max(one["cpu_s"] for one in judged["slices"]),
    )


def estimate(costs: TaskCosts, size_gb: float, events_per_gb: float, core_count: int) -> Estimate:
    """Return the cost of a job on a cluster.

    >>> found = estimate(TaskCosts(2.0, 0, 1e-4, 1e-4, 3.0, 5.0), size_gb=100, events_per_gb=10_000, core_count=10)
    >>> found.scan_s, found.judge_s
    (33.0, 35.0)
    """
    events = size_gb * events_per_gb
    more_events = max(0.0, events - size_gb * costs.events_per_gb)
    scan_cpu_s = size_gb * costs.gb_s + more_events * costs.read_event_s
    judge_cpu_s = events * costs.judge_event_s
    # There are not more tasks than slices.
    judging = min(core_count, max(1.0, events / SLICE_EVENTS))
    return Estimate(
        events=events,
        scan_cpu_s=scan_cpu_s,
        judge_cpu_s=judge_cpu_s,
        scan_s=scan_cpu_s / core_count + costs.longest_scan_s,
        judge_s=judge_cpu_s / judging + costs.longest_slice_s,
    )


def table(costs: TaskCosts, size_gb: float, executors: int, cores: int) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield (
        f"{size_gb / _GB_OF_TB:,.0f} TB on {count_text(executors, 'executor')} with {count_text(cores, 'core')} each; "
        f"measured: {costs.gb_s:.2f} s of processor a GB with {costs.events_per_gb:,.0f} events, "
        f"{costs.read_event_s * 1e6:.0f} µs for each event more, {costs.judge_event_s * 1e6:.0f} µs to judge one."
    )
    yield ""
    yield "| events a GB | events | read: processor | judge: processor | read | judge | whole |"
    yield "|---|---|---|---|---|---|---|"
    for density in sorted({round(costs.events_per_gb), *DENSITIES}):
        one = estimate(costs, size_gb, density, executors * cores)
        clock = (one.scan_s, one.judge_s, one.scan_s + one.judge_s)
        processor = (f"{seconds / 3600:,.1f} h" for seconds in (one.scan_cpu_s, one.judge_cpu_s))
        shown = (f"{density:,}", f"{one.events:,.0f}", *processor, *(duration_text(round(s) * 1000) for s in clock))
        yield f"| {' | '.join(shown)} |"


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Compute the cost of a job on a cluster.")
    parser.add_argument("sizes", type=Path)
    parser.add_argument("judged", type=Path)
    parser.add_argument("--tb", type=float, default=10)
    parser.add_argument("--executors", type=int, default=100)
    parser.add_argument("--cores", type=int, default=4)
    options = parser.parse_args(words)
    sizes, judged = (json.loads(file.read_text("utf-8")) for file in (options.sizes, options.judged))
    for line in table(costs_of(sizes, judged), options.tb * _GB_OF_TB, options.executors, options.cores):
        print(line)


if __name__ == "__main__":
    main()
