"""The cost on a cluster follows from the costs of tasks."""

from __future__ import annotations

from benchmarks.log_cluster import costs_of, estimate, table

SIZES = {
    "dense": {"gb": 0.5, "events": 500_000, "tasks_cpu_s_per_gb": 51.0},
    "sizes": [
        {"gb": 1.0, "events": 9, "cpu_s_per_gb": 9.0, "tasks_cpu_s_per_gb": 9.0, "longest_task_cpu_s": 9.0},
        {"gb": 8.0, "events": 0, "cpu_s_per_gb": 1.5, "tasks_cpu_s_per_gb": 1.0, "longest_task_cpu_s": 0.4},
    ],
}
JUDGED = {"events": 1_000_000, "judge": {"cpu_s": 60.0}, "slices": [{"cpu_s": 3.0}, {"cpu_s": 8.0}]}


def test_costs_are_those_of_the_largest_log() -> None:
    costs = costs_of(SIZES, JUDGED)
    assert (costs.gb_s, costs.longest_scan_s, costs.longest_slice_s) == (1.5, 0.4, 8.0)
    assert (round(costs.read_event_s * 1e6), round(costs.judge_event_s * 1e6)) == (50, 60)


def test_more_cores_do_not_help_a_single_slice() -> None:
    costs = costs_of(SIZES, JUDGED)
    one, many = (estimate(costs, 10.0, 1000, cores) for cores in (1, 400))
    assert many.judge_s == one.judge_s
    assert many.scan_s < one.scan_s


def test_the_table_has_a_row_for_each_density() -> None:
    title, _, header, _, *rows = table(costs_of(SIZES, JUDGED), 10_000, 100, 4)
    assert title.startswith(
        "10 TB on 100 executors with 4 cores each; measured: 1.50 s of processor a GB with 0 events"
    )
    assert len({line.count("|") for line in (header, *rows)}) == 1
    assert len(rows) == 4
