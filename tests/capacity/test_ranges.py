"""Guesses as ranges: each figure from its least to its largest value, and sizing by the least favorable values."""

from __future__ import annotations

import csv
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.ranges import MOST_RANGES, plan_ranges
from eosctl.capacity.workload_file import parse_workload, read_tree
from eosctl.capacity.workload_tree import find_paths, parse_tree, set_value
from eosctl.errors import ConfigFileError
from eosctl.model.capacity_figures import list_figures
from eosctl.model.capacity_ranges import PlanRanges
from eosctl.render.schemas import schema_of
from tests.capacity.workloads import STREAMS, schema_errors
from tests.commands.conftest import eosctl

RATE = "{low: 5000/s, likely: 10000/s, high: 90000/s}"
GUESSED = STREAMS.replace("orders: {partitions: 32, rate: 10000/s", f"orders: {{partitions: 32, rate: {RATE}")


def ranges(text: str) -> PlanRanges | None:
    root = parse_tree(text, "w.yaml")
    return plan_ranges(root, "w.yaml", plan_capacity(read_tree(root, "w.yaml")))


def found(text: str) -> PlanRanges:
    planned = ranges(text)
    assert planned is not None
    return planned


def test_the_plan_has_the_likely_values() -> None:
    exact, guessed = (plan_capacity(parse_workload(text, "w.yaml")) for text in (STREAMS, GUESSED))
    assert exact == guessed
    assert ranges(STREAMS) is None


def test_figures_end_at_the_plans_of_the_bounds() -> None:
    low, high = (plan_capacity(parse_workload(GUESSED.replace(RATE, rate), "w.yaml")) for rate in ("5000/s", "90000/s"))
    by_title = {one.title: one for one in found(GUESSED).figures}
    one = by_title["topic orders: written"]
    assert (one.low, one.high) == (low.topics[0].written, high.topics[0].written)
    assert "enrich: transactional ids" not in by_title


def test_the_plan_is_sized_by_the_fullest_limit() -> None:
    planned = found(GUESSED.replace("brokers: 6", "brokers: {low: 5, likely: 6, high: 9}"))
    assert planned.plan_count == 1 + 4 + 4 + 16
    assert planned.sized_by == (("cluster.brokers", "5"), ("topics.orders.rate", "90000/s"))
    assert planned.fits is False
    assert planned.bottleneck == "disk space"
    assert [advice.setting for advice in planned.advice if advice.urgent]


#: Inputs that all figures but this one follow steadily: the share has its peak where batches begin to fill.
PEAKED = "offsets that are markers, in 100"
INPUTS = {
    "topics.orders.rate": ("/s", 100, 100_000),
    "topics.enriched.rate": ("/s", 100, 100_000),
    "topics.orders.value": ("B", 10, 20_000),
    "topics.orders.compression": ("", 1, 8),
    "topics.changelog.live": ("GB", 1, 500),
    "topics.orders.retention": ("h", 1, 500),
    "applications.enrich.state": ("GB", 1, 500),
    "applications.enrich.restore_rate": ("MB/s", 1, 500),
}


def test_a_peak_between_the_bounds_is_in_the_range() -> None:
    rates = "rate: {low: 100/s, likely: 100/s, high: 100000/s}"
    (one,) = (one for one in found(GUESSED.replace(f"rate: {RATE}", rates)).figures if one.name == PEAKED)
    ends = [plan_capacity(parse_workload(GUESSED.replace(RATE, rate), "w.yaml")) for rate in ("100/s", "100000/s")]
    at_ends = [figure.value for plan in ends for figure in plan.figures if figure.name == PEAKED]
    assert one.high is not None
    assert one.high > 1.5 * max(at_ends)


def cut(root: yaml.Node | None, paths: list[tuple[str, ...]]) -> yaml.Node | None:
    """Return the tree without the values at some paths."""
    if not isinstance(root, yaml.MappingNode):
        return root
    pairs = [
        (key, cut(value, [path[1:] for path in paths if path[0] == key.value and len(path) > 1]))
        for key, value in root.value
        if (key.value,) not in paths
    ]
    return yaml.MappingNode(root.tag, pairs, root.start_mark, root.end_mark)


@given(st.data())
def test_ranges_contain_every_plan_within_them(data: st.DataObject) -> None:
    root = parse_tree(STREAMS, "w.yaml")
    paths = find_paths(root)
    names = data.draw(st.lists(st.sampled_from(sorted(INPUTS)), min_size=1, max_size=3, unique=True))
    guessed = point = cut(root, [paths[name] for name in names])
    for name in names:
        unit, least, most = INPUTS[name]
        low, likely, within, high = sorted(data.draw(st.lists(st.integers(least, most), min_size=4, max_size=4)))
        for bound, number in (("low", low), ("likely", likely), ("high", high)):
            guessed = set_value(guessed, (*paths[name], bound), f"{number} {unit}".strip())
        point = set_value(point, paths[name], f"{within} {unit}".strip())
    likely_plan = plan_capacity(read_tree(guessed, "w.yaml"))
    planned = plan_ranges(guessed, "w.yaml", likely_plan)
    assert planned is not None
    bounds = {(one.section, one.subject, one.name): one for one in planned.figures}
    fixed = {(one.section, one.subject, one.name): one.value for one in list_figures(likely_plan)}
    for figure in list_figures(plan_capacity(read_tree(point, "w.yaml"))):
        place = (figure.section, figure.subject, figure.name)
        if figure.name == PEAKED:
            continue
        if (one := bounds.get(place)) is None:
            assert figure.value == pytest.approx(fixed[place]), place
        elif figure.value is not None and one.low is not None and one.high is not None:
            assert one.low * (1 - 1e-9) <= figure.value <= one.high * (1 + 1e-9), (place, one)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("{low: 1/s, high: 2/s}", "a range has low, likely, and high"),
        ("{low: 1/s, likely: 2/s, high: 3/s, mean: 2/s}", "a range has low, likely, and high"),
        ("{low: 1/s, likely: [2/s], high: 3/s}", "a range has low, likely, and high"),
        ("{low: 1/s, likely: 3/s, high: 2/s}", "do not go from low over likely to high"),
        ("{low: 1, likely: 2/s, high: 3/s}", "'1' has no unit"),
        ("{low: 1/s, likely: 2/s, high: unknown}", "'unknown' is not a rate"),
    ],
)
def test_a_wrong_range_is_a_mistake_with_its_place(value: str, reason: str) -> None:
    with pytest.raises(ConfigFileError, match="1 mistake") as refused:
        parse_workload(GUESSED.replace(RATE, value), "w.yaml")
    assert reason in refused.value.why
    assert refused.value.why.startswith("w.yaml:6:")


def test_what_has_no_size_cannot_be_a_range() -> None:
    text = STREAMS.replace("kind: streams", "kind: {low: streams, likely: streams, high: streams}")
    with pytest.raises(ConfigFileError):
        parse_workload(text, "w.yaml")
    assert schema_errors(text)


def test_an_impossible_combination_names_its_values() -> None:
    text = STREAMS.replace("commit_interval: 100 ms", "commit_interval: {low: 50 ms, likely: 100 ms, high: 1 h}")
    with pytest.raises(ConfigFileError, match="commit_interval = 1 h") as refused:
        ranges(text)
    assert "transaction" in refused.value.why


def test_too_many_ranges_are_refused() -> None:
    text = STREAMS
    for size in ("16 B", "1000 B", "200 B", "50 GB"):
        text = text.replace(f": {size}", f": {{low: {size}, likely: {size}, high: {size}}}")
    assert text.count("{low:") == MOST_RANGES - 3
    assert found(text).figures == ()
    for count in ("producers: 32", "instances: 4", "writers: 8", "zones: 3"):
        key, value = count.split(": ")
        text = text.replace(count, f"{key}: {{low: {value}, likely: {value}, high: {value}}}")
    with pytest.raises(ConfigFileError, match="11 ranges"):
        ranges(text)


def test_editors_accept_ranges() -> None:
    assert schema_errors(GUESSED) == []
    assert schema_errors(GUESSED.replace("high: 90000/s", "hgh: 90000/s"))
    assert schema_errors(GUESSED.replace("low: 5000/s", "low: unknown"))


def test_every_format_has_the_ranges(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(GUESSED)
    plan = ("capacity", "plan", path)
    document = eosctl(*plan, "-o", "json").json
    jsonschema.validate(document, schema_of("capacity-plan"))
    item = document["items"][0]
    assert item["ranges"]["sized_by"] == [["topics.orders.rate", "90000/s"]]
    for output in ("table", "wide", "markdown", "html"):
        text = eosctl(*plan, "-o", output, *(["--static"] if output == "html" else [])).out
        assert "Sized by the least favorable of 19 plans within the ranges (topics.orders.rate = 90000/s)" in text
        assert "All other tables have the likely values." in text
    rows = list(csv.reader(eosctl(*plan, "-o", "csv").out.splitlines()))
    values = {row[3]: float(row[4]) for row in rows if row[1:3] == ["topic", "orders"]}
    assert values["written, low"] < values["written, likely"] == values["written"] < values["written, high"]


def test_check_fails_by_the_sizing_combination(tmp_path: Path) -> None:
    path, exact = tmp_path / "w.yaml", tmp_path / "exact.yaml"
    path.write_text(GUESSED)
    exact.write_text(STREAMS)
    assert eosctl("capacity", "plan", exact, "--check").code == 4
    assert eosctl("capacity", "plan", path, "--check").code == 3
    assert eosctl("capacity", "plan", path, "--what-if", "topics.orders.rate=7000/s").code == 0
    remark = "has ranges; their likely values are used: topics.orders.rate"
    assert remark in eosctl("capacity", "compare", exact, path).err
    assert remark in eosctl("capacity", "simulate", path, "--duration", "1s").err


def test_what_brokers_do_not_notice_is_sized_by_the_instances() -> None:
    planned = found(GUESSED.replace("state: 50 GB", "state: {low: 1 GB, likely: 50 GB, high: 90 GB}"))
    assert dict(planned.sized_by)["applications.enrich.state"] == "90 GB"
