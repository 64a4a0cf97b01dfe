"""Configurations of metrics programs: jmx_exporter, Strimzi, and the OpenTelemetry collector."""

from __future__ import annotations

from typing import Any, Final

from eosctl.knowledge.metrics import load_metrics
from eosctl.model.metric import MetricKind
from eosctl.monitoring.alerts import ALERTS_PAGE, rules_document

NAME: Final = "eosctl-metrics"
CONFIG_KEY: Final = "eosctl-jmx-exporter.yaml"


def jmx_exporter_document() -> dict[str, Any]:
    """Return a configuration of jmx_exporter (1.x) that exports the catalog's beans under their plain names.

    It serves brokers and clients: beans that a JVM does not have match nothing. Without rules, the exporter prints each
    attribute under the bean's own name, which the alerts expect.
    """
    patterns = dict.fromkeys(metric.bean_pattern for metric in load_metrics() if metric.kind is not MetricKind.TEXT)
    return {"lowercaseOutputName": False, "includeObjectNames": list(patterns)}


def strimzi_documents(exporter_configuration: str, runbook_url: str = ALERTS_PAGE) -> list[dict[str, Any]]:
    """Return the ConfigMap for `metricsConfig` of a Kafka resource, a PodMonitor, and a PrometheusRule.

    Args:
        exporter_configuration: `jmx_exporter_document` as YAML.
        runbook_url: As for `rules_document`.
    """
    labels = {"app.kubernetes.io/part-of": "eosctl"}
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": NAME, "labels": labels},
            "data": {CONFIG_KEY: exporter_configuration},
        },
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PodMonitor",
            "metadata": {"name": NAME, "labels": labels},
            "spec": {
                "selector": {
                    "matchExpressions": [
                        {"key": "strimzi.io/kind", "operator": "In", "values": ["Kafka", "KafkaConnect"]},
                    ]
                },
                "podMetricsEndpoints": [{"path": "/metrics", "port": "tcp-prometheus"}],
            },
        },
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PrometheusRule",
            "metadata": {"name": NAME, "labels": labels},
            "spec": rules_document(runbook_url=runbook_url),
        },
    ]


def otel_document(targets: list[str]) -> dict[str, Any]:
    """Return a configuration of the OpenTelemetry collector that scrapes exporters and sends OTLP.

    Args:
        targets: `HOST:PORT` of each exporter.
    """
    scrape = {"job_name": "kafka", "scrape_interval": "15s", "static_configs": [{"targets": targets}]}
    return {
        "receivers": {"prometheus": {"config": {"scrape_configs": [scrape]}}},
        "processors": {"batch": {}},
        "exporters": {"otlp": {"endpoint": "${env:OTEL_EXPORTER_OTLP_ENDPOINT}"}},
        "service": {
            "pipelines": {"metrics": {"receivers": ["prometheus"], "processors": ["batch"], "exporters": ["otlp"]}}
        },
    }
