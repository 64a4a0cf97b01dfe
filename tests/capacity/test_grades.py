"""A figure is graded no better than the worst of its inputs, and names those that are not stated."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from eosctl.capacity.grades import plan_with_grades
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.model.capacity_figures import PlacedFigure, list_figures
from eosctl.model.capacity_plan import CapacityPlan, Grade
from tests.capacity.workloads import ROOT, STREAMS

COUNTED = """
apiVersion: eosctl/v1
kind: Workload
name: counted
cluster: {brokers: 3, replication_factor: 3, transaction_version: 2}
topics:
  out: {partitions: 12, rate: 400/s, key: 16 B, value: 100 B, batch_records: 1}
applications:
  app: {kind: producer, producers: 4, transactions: 100/s, partition_waves: 2, writes: {out: 4}}
"""


def graded(text: str) -> dict[str, PlacedFigure]:
    return {figure.title: figure for figure in list_figures(plan_with_grades(parse_workload(text, "w")))}


def test_figures_of_stated_inputs_are_exact() -> None:
    figures = graded(COUNTED)
    for name in (
        "markers",
        "markers, all copies",
        "EOS appends, all copies",
        "topic out: data batches",
        "transactions",
    ):
        assert (figures[name].grade, figures[name].guesses) == (Grade.EXACT, ())


def test_transactions_are_exact_where_the_commit_is_timed() -> None:
    path = "applications.enrich.commit_duration"
    untimed = graded(STREAMS)["transactions"]
    assert (untimed.value, untimed.grade) == (pytest.approx(320), Grade.ASSUMED)
    assert path in untimed.guesses
    timed = graded(STREAMS.replace("commit_interval: 100 ms", "commit_interval: 100 ms\n    commit_duration: 60 ms"))
    assert (timed["transactions"].value, timed["transactions"].grade) == (pytest.approx(200), Grade.EXACT)
    assert timed["enrich: throughput share"].value == pytest.approx(100 / 160)
    counted = parse_workload(STREAMS.replace("commit_interval: 100 ms", "transactions: 200/s"), "w")
    assert path not in {one.path for one in counted.assumptions}


@pytest.mark.parametrize(
    ("stated", "left_out", "figure", "guess"),
    [
        ("replication_factor: 3, ", "", "markers, all copies", "cluster.replication_factor"),
        (", transaction_version: 2", "", "producer states, all replicas", "cluster.transaction_version"),
        (", batch_records: 1", "", "topic out: written", "topics.out.compression"),
        ("{out: 4}", "{out: auto}", "markers", "applications.app.writes.out"),
        (
            "transactions: 100/s, partition_waves: 2",
            "commit_interval: 2 ms",
            "markers",
            "applications.app.transactions",
        ),
        ("partition_waves: 2, ", "", "__transaction_state appends, one copy", "applications.app.partition_waves"),
        ("rate: 400/s", "rate: {low: 400/s, likely: 500/s, high: 600/s}", "topic out: data batches", "topics.out.rate"),
        ("key: 16 B, ", "", "topic out: written", "topics.out.key"),
    ],
)
def test_a_figure_of_an_unstated_input_is_assumed(stated: str, left_out: str, figure: str, guess: str) -> None:
    assert stated in COUNTED
    found = graded(
        COUNTED.replace(stated, left_out).replace(
            "brokers: 3", "brokers: 3, client_round_trip: 0.1 ms, replication_round_trip: 0.1 ms"
        )
    )[figure]
    assert found.grade is Grade.ASSUMED
    assert guess in found.guesses


def test_a_restore_time_is_measured_where_records_have_a_size() -> None:
    stores = "stores: {totals: {keys: 100000000, key: 50 B, value: 100 B, windowed: no}}\n    transactional_stores: no"
    measured = graded(STREAMS.replace("state: 50 GB", stores))["enrich: restore"]
    assert (measured.grade, measured.guesses) == (Grade.MEASURED, ())
    unknown = graded(STREAMS.replace("value: 200 B", "value: 0 B"))["enrich: restore"]
    assert unknown.grade is Grade.ASSUMED
    assert "applications.enrich.restore_rate" in unknown.guesses


def test_what_a_model_works_out_is_listed_with_what_is_assumed() -> None:
    plan = plan_with_grades(parse_workload(COUNTED.replace("{out: 4}", "{out: auto}"), "w"))
    assert [(one.path, one.value) for one in plan.assumptions][-1] == ("applications.app.writes.out", "3.53")


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "capacity").glob("*.yaml")), ids=lambda path: path.stem)
def test_grades_change_no_value_and_only_for_the_worse(path: Path) -> None:
    workload = parse_workload(path.read_text(), path.name)
    plain, plan = plan_capacity(workload), plan_with_grades(workload)
    assert _ungraded(plan) == _ungraded(plain)
    for before, after in zip(list_figures(plain), list_figures(plan), strict=True):
        assert after.grade is (Grade.ASSUMED if after.guesses else before.grade)
        assert set(after.guesses) <= {one.path for one in plan.assumptions} | set(workload.ranges)


def _ungraded(plan: CapacityPlan) -> CapacityPlan:
    figures = tuple(replace(figure, grade=Grade.ASSUMED) for figure in plan.figures)
    resources = tuple(replace(use, grade=Grade.ASSUMED) for use in plan.resources)
    return replace(plan, figures=figures, resources=resources, guesses=(), assumptions=())
