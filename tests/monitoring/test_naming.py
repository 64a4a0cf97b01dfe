"""Rules and dashboards on other configurations' series: names that exist, alerts that fire, nothing silent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from eosctl.model.metric import SeriesNames
from eosctl.monitoring.alerts import load_alerts, named_rules, rules_document
from eosctl.monitoring.cluster_gauges import ENDED, HELP
from eosctl.monitoring.dashboard import ROWS, named_panels
from eosctl.monitoring.naming import Matcher, load_naming, rename, with_matchers
from tests.commands.conftest import eosctl
from tests.monitoring.promtool import check_rules, firing_at, requires_promtool, run_rule_tests

OTHERS = [names for names in SeriesNames if names is not SeriesNames.EOSCTL]
FIXTURES = Path(__file__).parents[1] / "fixtures" / "metrics" / "names"
OF_CLIENTS = re.compile(r"kafka_(?:producer|consumer|streams)_\w+")
SELECTOR = re.compile(r'(?<![\w:"])((?:kafka|kminion|eosctl)_\w+)(?:\{((?:[^}"]|"[^"]*")*)\})?')


def observed(names: SeriesNames) -> dict[str, set[str]]:
    """Return the series of a real broker with the configuration, with their labels."""
    found: dict[str, set[str]] = {}
    for line in (FIXTURES / f"{names.value}.tsv").read_text("utf-8").splitlines():
        name, _, labels = line.partition("\t")
        found.setdefault(name, set()).update(label for label in labels.split(",") if label)
    return found


def expressions(names: SeriesNames) -> list[str]:
    rules, panels = named_rules(names), named_panels(names)
    return [
        *(rule.expression for rule in rules.records),
        *(alert.expression for alert in rules.alerts),
        *(panel.expression for row in panels.rows.values() for panel in row),
    ]


@pytest.mark.parametrize("names", OTHERS)
def test_every_series_was_observed(names: SeriesNames) -> None:
    known = observed(names)
    used = [found for text in expressions(names) for found in SELECTOR.findall(text)]
    assert used
    for series, matchers in used:
        if OF_CLIENTS.fullmatch(series):
            continue
        if series.startswith("eosctl_"):
            assert series in (*HELP, ENDED)
            continue
        assert series in known, series
        assert set(re.findall(r"(\w+)[=!]~?\"", matchers)) <= known[series] | {"topic", "name"}, series
    for text in expressions(names):
        for pattern in re.findall(r'__name__=~"([^"]*)"', text):
            assert any(re.fullmatch(pattern, name) for name in known), pattern


@pytest.mark.parametrize("names", OTHERS)
def test_what_is_left_out_is_not_exported(names: SeriesNames) -> None:
    known = set(observed(names))
    for _, series in (*named_rules(names).left_out, *named_panels(names).left_out):
        if series.startswith("eosctl:"):
            continue
        bean = series.rpartition("_")[0].lower()
        if names is SeriesNames.BITNAMI and bean.endswith(("requestmetrics", "delayedoperationpurgatory")):
            continue  # Without percentiles, and with another form of the labels.
        assert not [name for name in known if name.startswith(bean)], series


@pytest.mark.parametrize("names", OTHERS)
def test_nothing_disappears_in_silence(names: SeriesNames) -> None:
    rules, panels = named_rules(names), named_panels(names)
    left_out = [name for name, _ in (*rules.left_out, *panels.left_out)]
    assert {alert.name for alert in rules.alerts} | {n for n, _ in rules.left_out} == {a.name for a in load_alerts()}
    shown = {panel.title for row in panels.rows.values() for panel in row}
    assert {panel.title for row in ROWS.values() for panel in row} <= shown | set(left_out)
    for target, missing in (("rules", rules.left_out), ("grafana", panels.left_out)):
        done = eosctl("metrics", "export", target, "--names", names.value)
        assert done.code == 0
        assert re.findall(r"left out: (.+?) \(not exported", done.err) == [name for name, _ in missing]


def test_own_names_change_nothing() -> None:
    rules = named_rules()
    assert rules.alerts == load_alerts()
    assert (rules.left_out, named_panels().left_out) == ((), ())
    assert named_panels().rows == ROWS


@requires_promtool
@pytest.mark.parametrize("names", list(SeriesNames))
def test_rules_and_panels_are_promql(names: SeriesNames, tmp_path: Path) -> None:
    done = check_rules(rules_document(names=names), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(eosctl("metrics", "export", "grafana", "--names", names.value).out)
    shown = [target["expr"] for panel in document["panels"] for target in panel.get("targets", ())]
    filled = [text.replace("${cluster}", "a|b").replace("${topic}", ".*") for text in shown]
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(filled)]
    done = check_rules({"groups": [{"name": "panels", "rules": rules}]}, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("names", list(SeriesNames))
def test_a_dashboard_has_clusters_and_topics(names: SeriesNames) -> None:
    document = json.loads(eosctl("metrics", "export", "grafana", "--names", names.value).out)
    variables = {one["name"]: one for one in document["templating"]["list"]}
    assert list(variables) == ["datasource", "cluster", "topic"]
    naming = load_naming(names)
    label = "job" if naming is None else naming.cluster
    assert variables["cluster"]["query"]["query"].endswith(f", {label})")
    shown = [target["expr"] for panel in document["panels"] for target in panel.get("targets", ())]
    of_brokers = [text for text in shown if re.search(r"kafka_(?!producer|streams)|kminion_", text)]
    assert of_brokers
    assert all(f'{label}=~"${{cluster}}"' in text for text in of_brokers)
    assert sum("${topic}" in text for text in shown) >= 2


SCRAPED = 'job="k",instance="b1",namespace="ns",strimzi_io_cluster="c"'


def scraped(names: SeriesNames, series: str) -> str:
    """Return a series with the labels of its target."""
    target = SCRAPED if names is SeriesNames.STRIMZI else 'job="k",instance="b1",namespace="ns"'
    name, _, labels = series.partition("{")
    return f"{name}{{{target}{',' + labels if labels else '}'}"


STRIMZI, CONFLUENT, BITNAMI = SeriesNames.STRIMZI, SeriesNames.CONFLUENT, SeriesNames.BITNAMI
REAL = [
    (
        STRIMZI,
        "EosLateTransactions",
        "kafka_server_replicamanager_partitionswithlatetransactionscount",
        "1x60",
    ),
    (STRIMZI, "EosNoController", "kafka_controller_kafkacontroller_activecontrollercount", "0x60"),
    (
        STRIMZI,
        "EosNetworkThreadsBusy",
        "kafka_network_socketserver_networkprocessoravgidle_percent",
        "0.1x60",
    ),
    (
        STRIMZI,
        "EosRequestHandlersBusy",
        "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_count_total",
        "0+1500000000x80",
    ),
    (
        STRIMZI,
        "EosLogFlushSlow",
        'kafka_log_logflushstats_logflushrateandtimems{quantile="0.99"}',
        "4000x60",
    ),
    (
        STRIMZI,
        "EosInternalTopicUnderMinIsr",
        'kafka_cluster_partition_underminisr{topic="__transaction_state",partition="0"}',
        "1x60",
    ),
    (
        CONFLUENT,
        "EosMarkersStuck",
        "kafka_coordinator_transaction_transactionmarkerchannelmanager_logappendretryqueuesize",
        "3x60",
    ),
    (
        CONFLUENT,
        "EosFencingStorm",
        'kafka_network_requestmetrics_errorspersec{request="EndTxn",error="PRODUCER_FENCED"}',
        "0+15x80",
    ),
    (
        CONFLUENT,
        "EosProduceWaits",
        'kafka_server_delayedoperationpurgatory_purgatorysize{delayedoperation="Produce"}',
        "5000x60",
    ),
    (
        CONFLUENT,
        "EosCleanerBlocked",
        "kafka_log_logcleaner_deadthreadcount",
        "1x100",
    ),
    (
        BITNAMI,
        "EosFencingStorm",
        'kafka_network_requestmetrics_errorspersec_count{request="EndTxn, error=PRODUCER_FENCED"}',
        "0+15x80",
    ),
    (
        BITNAMI,
        "EosLateTransactions",
        "kafka_server_replicamanager_total_partitionswithlatetransactionscount_value",
        "1x60",
    ),
]


def prove(names: SeriesNames, series: dict[str, str], firing: set[str], folder: Path, at: str = "16m") -> None:
    found = [{"series": name, "values": values} for name, values in series.items()]
    test = {"interval": "15s", "input_series": found, "promql_expr_test": [firing_at(at, firing)]}
    done = run_rule_tests([test], folder, names)
    assert done.returncode == 0, done.stdout + done.stderr


@requires_promtool
@pytest.mark.parametrize(("names", "alert", "series", "values"), REAL)
def test_an_alert_fires_on_the_series_of_others(
    names: SeriesNames, alert: str, series: str, values: str, tmp_path: Path
) -> None:
    prove(names, {scraped(names, series): values}, {alert}, tmp_path)


@requires_promtool
@pytest.mark.parametrize("names", [SeriesNames.BITNAMI, SeriesNames.KMINION])
def test_the_unstable_part_comes_from_both_exporters(names: SeriesNames, tmp_path: Path) -> None:
    end = {
        SeriesNames.BITNAMI: 'kafka_log_log_logendoffset{job="k",instance="b1",topic="orders",partition="0"}',
        SeriesNames.KMINION: (
            'kminion_kafka_topic_partition_high_water_mark{job="k",instance="m",topic_name="orders",partition_id="0"}'
        ),
    }[names]
    gap = 'eosctl_last_stable_offset_gap{job="e",instance="x",topic="orders",partition="0"}'
    prove(names, {end: "0+150x80", gap: "0+150x80"}, {"EosLastStableOffsetStalled"}, tmp_path)


@requires_promtool
def test_two_clusters_of_one_job_are_two(tmp_path: Path) -> None:
    name = "kafka_controller_kafkacontroller_activecontrollercount"
    target = 'job="ns/kafka-resources-metrics",namespace="ns"'
    series = {f'{name}{{{target},instance="{one}",strimzi_io_cluster="{one}"}}': "1x80" for one in ("a", "b")}
    prove(SeriesNames.STRIMZI, series, set(), tmp_path)
    broken = series | {f'{name}{{{target},instance="c",strimzi_io_cluster="c"}}': "0x80"}
    prove(SeriesNames.STRIMZI, broken, {"EosNoController"}, tmp_path)


@requires_promtool
def test_a_summary_names_the_bean(tmp_path: Path) -> None:
    series = {scraped(SeriesNames.STRIMZI, "kafka_log_logcleanermanager_max_dirty_percent"): "90x100"}
    text = rename('max by (name) (kafka_log_LogCleanerManager_Value{name="max-dirty-percent"})',
                  load_naming(SeriesNames.STRIMZI)).expression  # fmt: skip
    test = {
        "interval": "15s",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {"expr": text, "eval_time": "1m", "exp_samples": [{"labels": '{name="max-dirty-percent"}', "value": 90}]}
        ],
    }
    done = run_rule_tests([test], tmp_path, SeriesNames.STRIMZI)
    assert done.returncode == 0, done.stdout + done.stderr


def test_matchers_are_added_behind_quoted_braces() -> None:
    both = (Matcher("a", "=", "${x}"),)
    text = with_matchers('rate(kafka_a{b="{}"}[5m]) / kafka_c + sum(other)', both, re.compile(r"kafka_\w+"))
    assert text == 'rate(kafka_a{b="{}",a="${x}"}[5m]) / kafka_c{a="${x}"} + sum(other)'
    assert with_matchers(text, (Matcher("d", "=", "1"),), re.compile(r"kafka_a")).startswith(
        'rate(kafka_a{b="{}",a="${x}",d="1"}[5m])'
    )


@pytest.mark.parametrize("names", OTHERS)
def test_the_page_names_each_source(names: SeriesNames) -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics" / "exports.md").read_text("utf-8")
    naming = load_naming(names)
    assert naming is not None
    assert f"| `{names.value}` | [{naming.title}]({naming.source})" in page


@pytest.mark.parametrize("target", ["strimzi", "otel", "jmx-exporter"])
def test_names_go_with_rules_and_dashboards_alone(target: str) -> None:
    more = ("--target", "b1:9404") if target == "otel" else ()
    done = eosctl("metrics", "export", target, "--names", "confluent", *more)
    assert (done.code, done.out, f"--names does not go with {target}" in done.err) == (2, "", True)
