"""A Grafana dashboard: cluster safety, completed transactions, visible records, and clients."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from eosctl.model.metric import SeriesNames
from eosctl.monitoring.alerts import named_rules
from eosctl.monitoring.naming import Matcher, Naming, load_naming, rename, with_matchers

UID: Final = "eosctl-exactly-once"
SCHEMA_VERSION: Final = 39
WIDTH: Final = 24
COLUMNS: Final = 3
HEIGHT: Final = 8
_DATASOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}


_CLUSTERS: Final = "label_values(kafka_server_ReplicaManager_Value, job)"
_TOPICS: Final = "label_values(kafka_cluster_Partition_Value, topic)"
_RECORD: Final = re.compile(r"eosctl:\w+:\w+")


class Panel(NamedTuple):
    """A graph: title, PromQL, legend, Grafana's unit, and the label of its topics; empty if it is not about topics."""

    title: str
    expression: str
    legend: str
    unit: str = "short"
    topic: str = ""


def _rate(selector: str, by: str = "job") -> str:
    return f"sum by ({by}) (rate(kafka_network_RequestMetrics_Count{{{selector}}}[5m]))"


_TXN_APIS: Final = "InitProducerId|AddPartitionsToTxn|AddOffsetsToTxn|TxnOffsetCommit|EndTxn|WriteTxnMarkers"

ROWS: Final[dict[str, tuple[Panel, ...]]] = {
    "Cluster safety": (
        Panel(
            "Partitions without a leader",
            'kafka_controller_KafkaController_Value{name="OfflinePartitionsCount"}',
            "{{instance}}",
        ),
        Panel(
            "Partitions under min.insync.replicas",
            'kafka_server_ReplicaManager_Value{name="UnderMinIsrPartitionCount"}',
            "{{instance}}",
        ),
        Panel(
            "Partitions with replicas out of sync",
            'kafka_server_ReplicaManager_Value{name="UnderReplicatedPartitions"}',
            "{{instance}}",
        ),
    ),
    "Transactions": (
        Panel("Requests", _rate(f'name="RequestsPerSec",request=~"{_TXN_APIS}"', "request"), "{{request}}", "reqps"),
        Panel(
            "Errors",
            _rate(f'name="ErrorsPerSec",error!="NONE",request=~"{_TXN_APIS}|Produce"', "request, error"),
            "{{request}} {{error}}",
            "reqps",
        ),
        Panel(
            "Time of a request, 99th percentile",
            "max by (request) (kafka_network_RequestMetrics_99thPercentile"
            f'{{name="TotalTimeMs",request=~"{_TXN_APIS}"}})',
            "{{request}}",
            "ms",
        ),
        Panel("Fenced producers", "eosctl:fenced:rate5m", "{{job}}", "reqps"),
        Panel(
            "Writes that could not be verified",
            'rate(kafka_server_AddPartitionsToTxnManager_Count{name="VerificationFailureRate"}[5m])',
            "{{instance}}",
            "reqps",
        ),
        Panel("Producer ids", 'kafka_server_ReplicaManager_Value{name="ProducerIdCount"}', "{{instance}}"),
    ),
    "Coordinators": (
        Panel(
            "Markers and completions that wait",
            "kafka_coordinator_transaction_TransactionMarkerChannelManager_Value",
            "{{instance}} {{name}}",
        ),
        Panel(
            "Longest load of __transaction_state",
            "max_over_time(kafka_server_transaction_coordinator_metrics_partition_load_time_max[5m])",
            "{{instance}}",
            "ms",
        ),
        Panel(
            "Dirtiest compacted log",
            'kafka_log_LogCleanerManager_Value{name="max-dirty-percent"}',
            "{{instance}}",
            "percent",
        ),
    ),
    "What read_committed consumers cannot see": (
        Panel(
            "Offsets above the last stable offset",
            'topk(10, max by (topic, partition) (kafka_cluster_Partition_Value{name="LastStableOffsetLag"}))',
            "{{topic}}-{{partition}}",
            topic="topic",
        ),
        Panel(
            "The same in seconds of traffic",
            "topk(10, max by (topic, partition) (eosctl:unstable:seconds))",
            "{{topic}}-{{partition}}",
            "s",
            topic="topic",
        ),
        Panel(
            "Partitions with a late transaction",
            'kafka_server_ReplicaManager_Value{name="PartitionsWithLateTransactionsCount"}',
            "{{instance}}",
        ),
        Panel(
            "Partitions with an open transaction (eosctl exporter)", "eosctl_open_transaction_partitions", "{{status}}"
        ),
        Panel(
            "Age of open transactions (eosctl exporter)",
            "topk(10, eosctl_open_transaction_age_seconds)",
            "{{topic}}-{{partition}} {{status}}",
            "s",
            topic="topic",
        ),
        Panel("Unstable offsets (eosctl exporter)", "topk(10, eosctl_unstable_offsets)", "{{group}}"),
    ),
    "Clients": (
        Panel(
            "Time spent in commits",
            "rate(kafka_producer_producer_metrics_txn_commit_time_ns[5m]) / 1e9",
            "{{client_id}}",
            "percentunit",
        ),
        Panel("Records given up", "kafka_producer_producer_metrics_record_error_rate", "{{client_id}}", "reqps"),
        Panel(
            "Streams: longest commit",
            "kafka_streams_stream_thread_metrics_commit_latency_max",
            "{{thread_id}}",
            "ms",
        ),
    ),
}


class NamedPanels(NamedTuple):
    """The graphs on the series of a configuration, by row, and those that need a series which it does not export."""

    rows: dict[str, tuple[Panel, ...]]
    left_out: tuple[tuple[str, str], ...]


def named_panels(names: SeriesNames = SeriesNames.EOSCTL) -> NamedPanels:
    """Return the graphs on the series of a configuration."""
    naming = load_naming(names)
    records = {record.name for record in named_rules(names).records}
    rows: dict[str, tuple[Panel, ...]] = {}
    left_out: list[tuple[str, str]] = []
    for row, panels in ROWS.items():
        kept: list[Panel] = []
        for panel in panels:
            found = rename(panel.expression, naming)
            missing = (*found.missing, *(set(_RECORD.findall(panel.expression)) - records))
            if missing:
                left_out.append((panel.title, missing[0]))
            else:
                kept.append(panel._replace(expression=found.expression))
        if kept:
            rows[row] = tuple(kept)
    if naming is not None and naming.panels:
        rows[naming.title] = tuple(Panel(one.title, one.expr, one.legend, topic=one.topic) for one in naming.panels)
    return NamedPanels(rows, tuple(left_out))


def dashboard_document(names: SeriesNames = SeriesNames.EOSCTL) -> dict[str, Any]:
    """Return the dashboard in Grafana's import format; the user selects the data source, cluster, and topics.

    Args:
        names: The configuration whose series the graphs read.
    """
    naming = load_naming(names)
    label = "job" if naming is None else naming.cluster
    return {
        "uid": UID,
        "title": "Kafka exactly-once",
        "tags": ["kafka", "eosctl"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {
            "list": [
                {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
                _variable("cluster", "Cluster", _CLUSTERS if naming is None else naming.clusters),
                _variable("topic", "Topic", _TOPICS if naming is None else naming.topics),
            ]
        },
        "annotations": {"list": []},
        "panels": _panels(named_panels(names).rows, label, naming),
    }


def _variable(name: str, label: str, query: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": _DATASOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    }


def _chosen(panel: Panel, label: str, naming: Naming | None) -> str:
    """Return the expression for the chosen clusters, and for the chosen topics if it is about topics.

    Clients and the exporter of eosctl have jobs of their own, so the label of the brokers does not choose among them.
    """
    own = "|".join(map(re.escape, naming.records)) if naming is not None and naming.records else "$"
    of_brokers = re.compile(rf"(?:kafka_(?!producer_|consumer_|streams_)|kminion_)\w+|(?!{own})eosctl:\w+:\w+")
    text = with_matchers(panel.expression, (Matcher(label, "=~", "${cluster}"),), of_brokers)
    topic = () if not panel.topic else (Matcher(panel.topic, "=~", "${topic}"),)
    return with_matchers(text, topic, re.compile(r"(?:kafka_|kminion_|eosctl_)\w+|eosctl:\w+:\w+"))


def _panels(rows: dict[str, tuple[Panel, ...]], label: str, naming: Naming | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    top = 0
    for title, panels in rows.items():
        grid = {"h": 1, "w": WIDTH, "x": 0, "y": top}
        found.append({"id": len(found) + 1, "type": "row", "title": title, "gridPos": grid, "panels": []})
        top += 1
        for number, panel in enumerate(panels):
            line, column = divmod(number, COLUMNS)
            width = WIDTH // COLUMNS
            grid = {"h": HEIGHT, "w": width, "x": column * width, "y": top + line * HEIGHT}
            shown = panel._replace(expression=_chosen(panel, label, naming))
            found.append(_graph(len(found) + 1, shown, grid))
        top += -(-len(panels) // COLUMNS) * HEIGHT
    return found


def _graph(number: int, panel: Panel, grid: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "datasource": _DATASOURCE,
        "gridPos": grid,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True}},
        "targets": [{"refId": "A", "datasource": _DATASOURCE, "expr": panel.expression, "legendFormat": panel.legend}],
    }
