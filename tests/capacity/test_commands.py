"""The commands, as a user runs them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import jsonschema
import pytest
from lxml import etree

from eosctl.render.schemas import schema_of
from eosctl.testing import SandboxThread
from tests.capacity.workloads import STREAMS
from tests.commands.conftest import eosctl

ASKED = ("--what-if", "commit.interval.ms=100,1000,1", "--sensitivity", "--until", "2099-01-01")


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    path = tmp_path / "orders.yaml"
    path.write_text(STREAMS)
    return path


def test_a_text_plan_has_verdict_cost_tables_and_assumptions(workload: Path) -> None:
    done = eosctl("capacity", "plan", workload, "-o", "wide", *ASKED)
    assert (done.code, done.err) == (0, "")
    assert "The bottleneck is disk space" in done.out
    for title in ("RESOURCES", "TOPICS", "APPLICATIONS", "FIGURES", "WHAT IF", "SENSITIVITY", "GROWTH", "ASSUMED"):
        assert f"\n{title}" in done.out
    assert "F15" in done.out  # why 1 ms is refused


def test_json_follows_its_schema(workload: Path) -> None:
    done = eosctl("capacity", "plan", workload, "-o", "json", *ASKED)
    document = json.loads(done.out)
    jsonschema.validate(document, schema_of("capacity-plan"))
    plan = document["items"][0]["plan"]
    assert plan["fits"] is True
    assert {figure["formula"] for figure in plan["figures"]} >= {"F8", "F9", "F17"}
    compared = eosctl("capacity", "compare", workload, workload, "-o", "json")
    jsonschema.validate(compared.json, schema_of("capacity-comparison"))
    assert {item["change"] for item in compared.json["items"]} <= {0.0, None}


def test_yaml_and_tsv_hold_the_same(workload: Path) -> None:
    timed = workload.read_text().replace(
        "commit_interval: 100 ms", "commit_interval: 100 ms\n    commit_duration: 20 ms"
    )
    workload.write_text(timed)
    assert "capacity-plan" in eosctl("capacity", "plan", workload, "-o", "yaml").out
    rows = eosctl("capacity", "plan", workload, "-o", "tsv").rows
    assert {len(row) for row in rows} == {9}
    header, *same = csv.reader(eosctl("capacity", "plan", workload, "-o", "csv").out.splitlines())
    assert same == [list(row) for row in rows]
    values = {tuple(row[1:4]): (float(row[4]), row[6], row[7]) for row in same if row[4]}
    assert header[4] == "value"
    assert values["topic", "__transaction_state", "stored"][1:] == ("F5, F6", "assumed")
    assert {grade for _, _, grade in values.values()} == {"exact", "assumed", "measured"}
    assert all(row[7] == "assumed" for row in same if row[8])
    plan = eosctl("capacity", "plan", workload, "-o", "json").json["items"][0]["plan"]
    assert values["application", "enrich", "markers"][0] == plan["applications"][0]["markers_per_s"]


def test_markdown_has_every_table(workload: Path) -> None:
    text = eosctl("capacity", "plan", workload, "-o", "markdown", *ASKED).out
    tables = [line for line in text.splitlines() if line.startswith("| --- ")]
    assert len(tables) == text.count("\n## ") - text.count("## orders") - text.count("## RECOMMENDED")
    assert "| network in |" in text
    assert "\n\n\n" not in text


PRICES = "apiVersion: eosctl/v1\nkind: Prices\ncurrency: EUR\nbroker: 300\ndisk_gb: 0.5\n"


def test_costs_compare_with_the_same_load_without_transactions(workload: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    done = eosctl("capacity", "plan", workload, "--prices", prices, "-o", "json")
    jsonschema.validate(done.json, schema_of("capacity-plan"))
    item = done.json["items"][0]
    costs, plan = item["costs"], item["plan"]
    brokers, disk = costs["items"]
    assert (brokers["exactly_once"], brokers["at_least_once"]) == (plan["broker_count"], plan["broker_count"])
    assert disk["exactly_once"] == sum(topic["stored_bytes"] for topic in plan["topics"]) / 1e9
    assert disk["at_least_once"] < disk["exactly_once"]
    assert costs["exactly_once"] == pytest.approx(300 * plan["broker_count"] + 0.5 * disk["exactly_once"])
    unpriced = ["traffic between zones", "instances of applications", "disk of the instances"]
    assert costs["without_price"] == unpriced
    text = eosctl("capacity", "plan", workload, "--prices", prices).out
    assert f"A MONTH: EUR {costs['exactly_once']:,.2f} with transactions" in text
    assert f"not priced: {', '.join(unpriced)}" in text


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("broker: -1", "broker"),
        ("broker: .nan", "broker"),
        ("broker: .inf", "broker"),
        ("brokr: 1", "brokr"),
        ("kind: Workload", "kind"),
        ("broker: {", "flow"),
    ],
)
def test_a_wrong_price_list_is_refused(workload: Path, tmp_path: Path, line: str, reason: str) -> None:
    prices = tmp_path / "prices.yaml"
    key = line.partition(":")[0]
    prices.write_text("".join(f"{kept}\n" for kept in PRICES.splitlines() if not kept.startswith(f"{key}:")) + line)
    done = eosctl("capacity", "plan", workload, "--prices", prices)
    assert done.code == 2
    assert "price list" in done.err
    assert reason in done.err


def test_the_example_of_prices_is_a_price_list(workload: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "prices.yaml"
    assert "A MONTH: EUR " in eosctl("capacity", "plan", workload, "--prices", example).out


def test_html_is_one_file_without_scripts_or_references(workload: Path, tmp_path: Path) -> None:
    report = tmp_path / "plan.html"
    hostile = workload.read_text().replace("enrich:", "'<b>&x':").replace("name: orders", "name: '<script>1</script>'")
    workload.write_text(hostile)
    done = eosctl("capacity", "plan", workload, "--report", report, "--static", *ASKED)
    assert done.code == 0, done.err
    text = report.read_text()
    tree = etree.HTML(text)
    assert tree.xpath("//script | //link | //img | //@src | //@href[not(starts-with(., '#'))]") == []
    assert len(tree.xpath("//svg")) == 2 * 4  # appends, utilisation, what-if, growth; for wide and narrow screens
    assert "<script>1" not in text
    for svg in tree.xpath("//svg"):
        assert all(float(width) >= 0 for width in svg.xpath(".//rect/@width"))
    assert eosctl("capacity", "plan", workload, "-o", "html", "--static", *ASKED).out[:100] == text[:100]


def test_charts_are_self_contained(workload: Path, tmp_path: Path) -> None:
    report = tmp_path / "plan.html"
    workload.write_text(workload.read_text().replace("name: orders", "name: </script><b>x"))
    assert eosctl("capacity", "plan", workload, "--report", report, *ASKED).code == 0
    text = report.read_text()
    assert len(text) < 2_000_000
    tree = etree.HTML(text)
    assert tree.xpath("//link | //img | //@src | //@href[not(starts-with(., '#'))] | //b[text()='x']") == []
    assert "default-src 'none'" in tree.xpath("string(//meta[@http-equiv]/@content)")
    # The library, and a script for each of: appends, utilisation, what-if, growth.
    assert len(tree.xpath("//script[not(@type='application/json')]")) >= 5
    assert len(tree.xpath("//figure")) == 4


def test_without_the_library_charts_are_static(workload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eosctl.render.capacity.html.find_spec", lambda _: None)
    report = tmp_path / "plan.html"
    assert eosctl("capacity", "plan", workload, "--report", report, *ASKED).code == 0
    assert "<script" not in report.read_text()
    assert report.read_text().count("<svg") == 2 * 4


def test_check_fails_what_does_not_fit(workload: Path) -> None:
    judged = STREAMS.replace("    state:", "    instance_memory: 16 GiB\n    instance_disk: 100 GB\n    state:")
    for text, code in (
        (judged, 0),
        (STREAMS, 4),
        (judged.replace("disk: 12 TB, ", ""), 4),
        (judged.replace("12 TB", "1 TB"), 3),
        (judged.replace("16 GiB", "1 GiB"), 3),
        (judged.replace("100 GB", "1 GB"), 3),
        (judged.replace("brokers: 6", "brokers: 6, min_insync_replicas: 3"), 3),
    ):
        workload.write_text(text)
        assert eosctl("capacity", "plan", workload).code == 0
        assert eosctl("capacity", "plan", workload, "--check").code == code, text


def test_a_verdict_names_what_it_does_not_judge(workload: Path) -> None:
    workload.write_text(STREAMS.replace("disk: 12 TB, ", ""))
    lines = eosctl("capacity", "plan", workload).out.splitlines()
    assert lines[1].startswith("It fits the stated limits. The bottleneck is ")
    unjudged = "disk space, appends, memory of an instance of enrich, disk of an instance of enrich"
    assert lines[2] == f"Not judged, as no limit is stated: {unjudged}."
    workload.write_text(STREAMS.replace("    state:", "    instance_memory: 1 GiB\n    state:"))
    verdict = eosctl("capacity", "plan", workload).out.splitlines()[1]
    assert verdict.startswith("It does not fit: an instance of enrich needs ")
    assert " of memory and has 1.07 GB; see what is recommended." in verdict


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--appends", "0/s"), "appends nothing"),
        (("--appends", "5"), "has no unit"),
        (("--appends", "60000/s", "--lose-broker-at", "30s"), "outside the 20s"),
    ],
)
def test_simulations_of_nothing_are_refused(workload: Path, arguments: tuple[str, ...], complaint: str) -> None:
    done = eosctl("capacity", "simulate", workload, *arguments)
    assert done.code == 2
    assert complaint in done.err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--what-if", "commit.intervall.ms=1"), "Did you mean commit.interval.ms?"),
        (("--what-if", "producers=many"), "is not a number"),
        (("--until", "tomorrow"), "is not a date"),
        (("--until", "2001-01-01"), "not in the future"),
    ],
)
def test_usage_errors(workload: Path, arguments: tuple[str, str], complaint: str) -> None:
    done = eosctl("capacity", "plan", workload, *arguments)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err


def test_a_file_that_is_none(tmp_path: Path) -> None:
    assert eosctl("capacity", "plan", tmp_path / "missing.yaml").code == 2
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert eosctl("capacity", "plan", tmp_path / "binary").code == 2


def test_compare_shows_what_changes(workload: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow.yaml"
    slow.write_text(STREAMS.replace("commit_interval: 100 ms", "commit_interval: 1 s"))
    done = eosctl("capacity", "compare", workload, slow)
    assert done.code == 0
    assert any(line.startswith("transactions") and "-90.0%" in line for line in done.out.splitlines())


def test_init_writes_a_file_that_plan_reads(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    options = ("--kind", "streams", "--brokers", "3", "--rate", "1000/s", "--value", "1 KiB", "--partitions", "12",
               "--producers", "4", "--commit-interval", "100 ms")  # fmt: skip
    assert eosctl("capacity", "init", path, *options).code == 0
    assert eosctl("capacity", "plan", path).code == 0
    again = eosctl("capacity", "init", path, *options)
    assert (again.code, "exists" in again.err) == (2, True)
    assert eosctl("capacity", "init", path, *options, "--replace").code == 0


def test_init_without_a_terminal_neither_prompts_nor_writes(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    done = eosctl("capacity", "init", path, "--kind", "streams", "--brokers", "3")
    assert (done.code, "--partitions is missing" in done.err) == (2, True)
    options = ("--kind", "producer", "--brokers", "3", "--rate", "fast", "--value", "1 KiB", "--partitions", "12",
               "--producers", "4", "--commit-interval", "100 ms")  # fmt: skip
    wrong = eosctl("capacity", "init", path, *options)
    assert wrong.code == 2
    assert not path.exists()


def test_calibrate_shows_its_plan_and_acts_only_when_confirmed(eos_cluster: SandboxThread) -> None:
    planned = eosctl("capacity", "calibrate", "-b", eos_cluster.bootstrap)
    assert (planned.code, "Nothing was changed" in planned.out) == (0, True)
    done = eosctl("capacity", "calibrate", "-b", eos_cluster.bootstrap, "--yes", "-o", "json")
    assert done.code == 0, done.err
    jsonschema.validate(done.json, schema_of("calibration"))
    assert len({item["trial"] for item in done.json["items"]}) == 6
    assert all(item["holds"] for item in done.json["items"])
    partitions = json.dumps(eos_cluster.status()["partitions"])
    assert "__transaction_state" in partitions
    assert "eosctl-calibrate" not in partitions


def test_observe_reports_an_idle_cluster_and_keeps_files(eos_cluster: SandboxThread, tmp_path: Path) -> None:
    path = tmp_path / "seen.yaml"
    done = eosctl("capacity", "observe", path, "-b", eos_cluster.bootstrap, "--duration", "50ms")
    assert (done.code, "The observation is not enough" in done.err) == (1, True)
    assert not path.exists()
    path.write_text("mine")
    assert eosctl("capacity", "observe", path, "-b", eos_cluster.bootstrap, "--duration", "50ms").code == 2
    assert path.read_text() == "mine"


def test_without_applications_only_their_commits_are_missing(workload: Path) -> None:
    before, _, _ = STREAMS.partition("applications:")
    workload.write_text(f"{before}applications: {{}}\n")
    done = eosctl("capacity", "plan", workload, "--sensitivity", "-o", "json")
    assert done.code == 0
    assert done.json["items"][0]["plan"]["markers_per_s"] == 0
    assert "no applications" in eosctl("capacity", "simulate", workload).err
    workload.write_text(f"{before}applications:\n")
    assert "applications is empty" in eosctl("capacity", "plan", workload).err
    workload.write_text(before)
    assert "write applications: {}" in eosctl("capacity", "plan", workload).err


def test_a_second_document_is_refused(workload: Path) -> None:
    workload.write_text(f"{STREAMS}---\nkind: Kafka\n")
    done = eosctl("capacity", "plan", workload)
    assert done.code == 2
    assert "begins a second document; a workload file has one" in done.err
