"""Each input halved and doubled: what moves, by how much, and what was not tried."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import jsonschema
import pytest

from eosctl.capacity.quantities import parse_bytes, parse_count, parse_duration_ms, parse_ratio, parse_share
from eosctl.capacity.sensitivity import find_sensitivities
from eosctl.capacity.workload_file import parse_workload
from eosctl.capacity.workload_inputs import NumericInput, list_numeric_inputs, scale_input
from eosctl.capacity.workload_tree import parse_tree
from eosctl.model.capacity_sensitivity import Movement, Sensitivity
from eosctl.render.schemas import schema_of
from tests.capacity.workloads import STREAMS
from tests.commands.conftest import eosctl


def varied(text: str = STREAMS) -> dict[str, Sensitivity]:
    return {row.parameter: row for row in find_sensitivities(parse_tree(text, "w.yaml"), "w.yaml")}


def moved(row: Sensitivity, result: str) -> Movement:
    return next(movement for movement in row.movements if movement.result == result)


def test_movements_have_the_arithmetic_of_the_formulas() -> None:
    rows = varied(STREAMS.replace("state: 50 GB", "state: 50 GB\n    restore_rate: 50 MB/s"))
    interval = moved(rows["applications.enrich.commit_interval"], "transactions")
    assert (interval.at_half, interval.planned, interval.at_double) == pytest.approx((640, 320, 160), rel=1e-5)
    restore = moved(rows["applications.enrich.restore_rate"], "enrich: restore")
    assert restore.at_half == 2 * restore.planned == pytest.approx(4 * (restore.at_double or 0))
    disk = moved(rows["cluster.disk"], "disk space, share of its limit")
    assert disk.at_half == pytest.approx(2 * disk.planned)


def test_rows_are_sorted_by_their_effect() -> None:
    effects = [row.effect for row in find_sensitivities(parse_tree(STREAMS, "w.yaml"), "w.yaml")]
    assert effects == sorted(effects, reverse=True)
    for row in varied().values():
        own = [movement.effect for movement in row.movements]
        assert own == sorted(own, reverse=True)


def test_every_number_of_the_file_is_a_row() -> None:
    root = parse_tree(STREAMS, "w.yaml")
    rows = varied()
    assert set(rows) == {given.name for given in list_numeric_inputs(root, parse_workload(STREAMS, "w.yaml"))}
    assert {"cluster.brokers", "topics.changelog.live", "applications.enrich.writes.changelog"} <= set(rows)
    assert {"cluster.kafka_version", "applications.enrich.kind", "applications.enrich.naming"}.isdisjoint(rows)


def test_what_was_not_varied_has_its_reason() -> None:
    rows = varied()
    assert rows["applications.enrich.abort_ratio"].not_varied == "0"
    assert rows["cluster.appends"].not_varied == "not stated"
    assert rows["applications.enrich.writes.enriched"].not_varied == "the plan works it out"
    assert not any(row.movements for row in rows.values() if row.not_varied)


def test_a_refused_value_keeps_its_reason() -> None:
    assert not varied()["cluster.replication_factor"].refused_double
    refused = varied(STREAMS.replace("brokers: 6", "brokers: 4"))["cluster.replication_factor"]
    assert (refused.double, refused.fits_at_double) == ("6", None)
    assert "replication_factor 6 needs more than 4 brokers" in refused.refused_double


def test_a_value_that_changes_the_verdict_is_marked() -> None:
    row = varied()["cluster.disk"]
    assert (row.half, row.fits_at_half, row.fits_at_double) == ("6 TB", False, True)


def test_limits_that_are_hardly_used_decide_nothing() -> None:
    rows = varied()
    assert rows["cluster.memory"].movements == ()
    assert all(moved.result != "replicas, share of its limit" for moved in rows["cluster.max_utilisation"].movements)
    assert "disk space, share of its limit" in {moved.result for moved in rows["cluster.disk"].movements}


def test_stated_stores_leave_no_assumed_state() -> None:
    text = STREAMS.replace("state: 50 GB", "stores: {totals: {keys: 1000000, key: 50 B, value: 100 B}}")
    assert "applications.enrich.state" not in {a.path for a in parse_workload(text, "w.yaml").assumptions}
    assert "applications.enrich.stores.totals.keys" in varied(text)


@pytest.mark.parametrize(
    ("text", "parse", "expected"),
    [
        ("1 KiB", parse_bytes, ("0.5 KiB", "2 KiB")),
        ("100ms", parse_duration_ms, ("50 ms", "200 ms")),
        ("2,000", parse_count, ("1000", "4000")),
        ("3", parse_count, ("2", "6")),
        ("1", parse_count, ("", "2")),
        ("60 %", parse_share, ("30 %", "100 %")),
        ("0.6", parse_share, ("0.3", "1")),
        ("1", parse_ratio, ("", "2")),
        ("0 B", parse_bytes, ("", "")),
    ],
)
def test_inputs_are_scaled_in_their_units(text: str, parse: object, expected: tuple[str, str]) -> None:
    given = NumericInput("x", ("x",), text, parse)  # type: ignore[arg-type]
    assert (scale_input(given, 0.5), scale_input(given, 2)) == expected


def test_every_format_has_the_table(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(STREAMS)
    plan = ("capacity", "plan", path, "--sensitivity")
    document = json.loads(eosctl(*plan, "-o", "json").out)
    jsonschema.validate(document, schema_of("capacity-plan"))
    assert schema_of("capacity-plan")["$id"].endswith(f":{document['schema_version']}")
    first = document["items"][0]["sensitivity"][0]
    table, wide, page = (eosctl(*plan, "-o", output).out for output in ("table", "wide", "markdown"))
    html = eosctl(*plan, "-o", "html", "--static").out
    for text in (table, wide, page, html):
        assert first["parameter"] in text
        assert "Not varied (not stated): " in text
    assert "more inputs move a result: -o wide lists all." in table
    assert "more inputs move a result" not in wide + page + html
    rows = [row for row in csv.reader(eosctl(*plan, "-o", "csv").out.splitlines()) if row[1] == "sensitivity"]
    halved = next(row for row in rows if row[2] == f"{first['parameter']}={first['half']}")
    assert float(halved[4]) == first["movements"][0]["at_half"]
