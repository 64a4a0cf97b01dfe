"""Plans on terminals: what is too wide stands on its side, and what is refused has its reason."""

from __future__ import annotations

import pytest

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.what_if import try_values
from eosctl.capacity.workload_file import parse_workload
from eosctl.capacity.workload_tree import parse_tree
from eosctl.model.capacity_report import CapacityReport
from eosctl.render.capacity.comparison import compare_plans, render_comparison
from eosctl.render.capacity.figures import figure_rows
from eosctl.render.capacity.plan import PlanFormat, render_plan
from eosctl.render.formats import OutputFormat
from eosctl.render.page import Style
from tests.capacity.workloads import STREAMS


def shown(width: int | None, what_if: str = "commit.interval.ms=5,100,1000") -> str:
    workload = parse_workload(STREAMS, "w.yaml")
    item = CapacityReport(plan_capacity(workload), try_values(what_if, parse_tree(STREAMS, "w.yaml"), "w.yaml"))
    return render_plan([item], "capacity plan", 0, PlanFormat.TABLE, Style(width))


def test_wide_tables_are_turned_on_a_narrow_terminal() -> None:
    lines = shown(80).splitlines()
    start = lines.index("TOPICS, one copy")
    topics = lines[start : lines.index("", start)]  # too wide either way, and names stay whole
    assert [line for line in lines if len(line) > 80 and line not in topics] == []
    for name in ("VISIBLE-P99", "PARTITIONS/TXN", "EOS-APPENDS", "NET-OUT/BROKER"):
        assert any(line.strip().startswith(name) for line in lines), name


@pytest.mark.parametrize("width", [None, 200])
def test_wide_tables_are_not_turned_if_they_fit(width: int | None) -> None:
    (header,) = (line for line in shown(width).splitlines() if "PARTITIONS/TXN" in line)
    assert "VISIBLE-P99" in header


def test_refused_values_have_their_reason_below_the_table() -> None:
    text = shown(None)
    assert "commit.interval.ms=5: The workload orders cannot be" in text
    assert [line for line in text.splitlines() if line.startswith("5 ")] == []
    assert "brokers=2: The workload" in shown(None, "brokers=2")


def test_what_if_has_instances_of_streams() -> None:
    lines = shown(None, "applications.enrich.instances=4,8").splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("VALUE "))
    header, four, eight = (line.split() for line in lines[at : at + 3])
    assert header[-5:] == ["INSTANCES", "CORES", "HEAP/INSTANCE", "DISK/INSTANCE", "RESTORE"]
    assert four[-8:-6] == ["4", "36"]
    assert eight[-8:-6] == ["8", "40"]
    assert (four[-4:-2], eight[-4:-2]) == (["25", "GB"], ["12.5", "GB"])


def test_what_if_without_streams_has_no_instances() -> None:
    text = STREAMS.replace("kind: streams", "kind: consume-process-produce").replace("    state: 50 GB\n", "")
    variants = try_values("brokers=6,7", parse_tree(text, "w.yaml"), "w.yaml")
    item = CapacityReport(plan_capacity(parse_workload(text, "w.yaml")), variants)
    assert "CORES" not in render_plan([item], "capacity plan", 0, PlanFormat.WIDE)


def test_spreadsheets_have_what_if_with_refusals() -> None:
    variants = try_values("commit.interval.ms=5,1000", parse_tree(STREAMS, "w.yaml"), "w.yaml")
    item = CapacityReport(plan_capacity(parse_workload(STREAMS, "w.yaml")), variants)
    rows = [row for row in figure_rows([item]) if row[1] == "what if"]
    assert rows[0][2:4] == ("commit.interval.ms=5", f"refused: {variants[0].refusal}")
    values = {row[3]: row[4] for row in rows[1:]}
    assert float(values["transactions"]) == variants[1].transactions_per_s
    assert float(values["cores"]) == 36


def test_a_comparison_pairs_figures_of_instances() -> None:
    small = plan_capacity(parse_workload(STREAMS, "w.yaml"))
    large = plan_capacity(parse_workload(STREAMS.replace("instances: 4", "instances: 8"), "w.yaml"))
    other = plan_capacity(parse_workload(STREAMS.replace("enrich:", "count:"), "w.yaml"))
    items = {item.figure: item for item in compare_plans(small, large)}
    assert items["an instance of enrich: disk"].change == -0.5
    assert items["an instance of enrich: cores"].other == 5
    apart = {item.figure: item for item in compare_plans(small, other)}
    assert apart["an instance of enrich: heap"].other is None
    assert apart["an instance of count: heap"].one is None
    table = render_comparison(small, other, 0, OutputFormat.TABLE)
    assert "an instance of count: heap" in table
