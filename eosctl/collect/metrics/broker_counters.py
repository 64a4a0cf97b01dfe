"""A broker's counters from jmx_exporter's endpoint or from JMX.

Exporters name the same bean differently: `kafka_server_BrokerTopicMetrics_Count` with the metric as a label without a
configuration, `kafka_server_brokertopicmetrics_messagesin_total` or `…persec_count` with common ones. All names start
with the bean's domain and type.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from eosctl.collect.metrics.jmx import read_jmx
from eosctl.collect.metrics.metric_page import fetch_samples
from eosctl.collect.metrics.prometheus_text import Sample
from eosctl.errors import EosctlError, UsageError
from eosctl.model.broker_counters import BrokerCounters, TopicCounters
from eosctl.model.metric import BeanQuery
from eosctl.model.transaction import TopicPartition
from eosctl.settings.clusters.endpoint_credentials import NO_CREDENTIALS

NO_ERROR: Final = "NONE"
_PREFIX: Final = re.compile(r"kafka_(server_brokertopicmetrics|network_requestmetrics|log_log)_(.*)")
_METRICS: Final = ("messagesin", "bytesin", "totalproducerequests", "requests", "errors", "logendoffset")
#: Their names in Kafka.
_NAMES: Final = {
    "messagesin": "MessagesInPerSec",
    "bytesin": "BytesInPerSec",
    "totalproducerequests": "TotalProduceRequestsPerSec",
    "requests": "RequestsPerSec",
    "errors": "ErrorsPerSec",
    "logendoffset": "LogEndOffset",
}
#: The JMX queries: each bean with its counter attribute.
_BEANS: Final = (
    *(
        BeanQuery(f"kafka.server:type=BrokerTopicMetrics,name={name},*", ("Count",))
        for name in ("MessagesInPerSec", "BytesInPerSec", "TotalProduceRequestsPerSec")
    ),
    BeanQuery("kafka.network:type=RequestMetrics,name=RequestsPerSec,*", ("Count",)),
    BeanQuery("kafka.network:type=RequestMetrics,name=ErrorsPerSec,*", ("Count",)),
    BeanQuery("kafka.log:type=Log,name=LogEndOffset,*", ("Value",)),
)


class Counter(NamedTuple):
    """A counter with its short name (`messagesin`, `errors`, …)."""

    metric: str
    labels: dict[str, str]
    value: float


async def collect_counters(
    urls: Sequence[str], now_ms: Callable[[], int], timeout_ms: int
) -> tuple[BrokerCounters, ...]:
    """Read the counters of several brokers concurrently.

    Args:
        urls: `http://HOST:PORT/metrics` of a Prometheus exporter, or `jmx://HOST:PORT`, one for each broker.
        now_ms: The clock.
        timeout_ms: Maximum time for a broker.

    Raises:
        UsageError: An address has another scheme, or contains a password.
        EosctlError: An endpoint does not respond, or not with metrics of a broker.
    """
    for url in urls:
        _check(url)

    async def one(url: str) -> BrokerCounters:
        read = _read_jmx if url.startswith("jmx:") else _read_http
        found = await asyncio.to_thread(read, url, timeout_ms / 1000)
        return resolve_counters(url, now_ms(), found)

    return tuple(await asyncio.gather(*(one(url) for url in urls)))


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https", "jmx") and parts.hostname and (parts.port or parts.scheme != "jmx")
    except ValueError:
        parts, known = None, None
    if parts is not None and (parts.username or parts.password):
        raise UsageError(
            f"The address of the metrics of {parts.hostname} has a user name or password in it.",
            "Other users of this machine can read the arguments of a program.",
            "Let the exporter listen where no password is needed, e.g. behind a tunnel.",
        )
    if not known:
        raise UsageError(
            f"{url!r} is not an address of metrics.",
            "It is neither http://HOST:PORT/metrics (jmx_exporter) nor jmx://HOST:PORT.",
            "Correct it.",
        )


def _read_http(url: str, timeout_s: float) -> list[Counter]:
    return list(_counters(fetch_samples(url, round(timeout_s * 1000))))


def _counters(samples: Iterable[Sample]) -> Iterator[Counter]:
    for sample in samples:
        match = _PREFIX.match(sample.name.lower())
        if match is None:
            continue
        words = (sample.labels.get("name") or match[2]).lower()
        # Rates and percentiles of the same bean are not counters.
        if sample.labels.get("name") is not None and match[2] not in ("count", "value"):
            continue
        metric = next((m for m in _METRICS if _is_count_of(words, m)), None)
        if metric is not None:
            yield Counter(metric, sample.labels, sample.value)


def _is_count_of(words: str, metric: str) -> bool:
    return re.fullmatch(rf"{metric}(_?persec)?(_total)?(_count|_value)?", words) is not None


def _read_jmx(url: str, timeout_s: float) -> list[Counter]:
    return list(_counters(read_jmx(url, _BEANS, round(timeout_s * 1000), NO_CREDENTIALS)))


def resolve_counters(source: str, read_at_ms: int, counters: Iterable[Counter]) -> BrokerCounters:
    """Convert counters to a broker's reading.

    Raises:
        EosctlError: They do not include counters of a broker.
    """
    topics: dict[str, TopicCounters] = defaultdict(TopicCounters)
    outcomes: dict[str, float] = defaultdict(float)
    requests: dict[tuple[str, int], float] = defaultdict(float)
    replicas, seen = set(), set()
    fields = {"messagesin": "record_count", "bytesin": "stored_bytes", "totalproducerequests": "batch_count"}
    for metric, labels, value in counters:
        seen.add(metric)
        topic, request = labels.get("topic"), labels.get("request")
        if metric in fields and topic:
            topics[topic] = topics[topic]._replace(**{fields[metric]: value})
        elif metric == "errors" and request and labels.get("error") == NO_ERROR:
            outcomes[request] += value
        elif metric == "requests" and request:
            requests[request, int(labels.get("version") or -1)] += value
        elif metric == "logendoffset" and topic and labels.get("partition", "").isdigit():
            replicas.add(TopicPartition(topic, int(labels["partition"])))
    if not seen:
        raise EosctlError(
            f"{source} has no metrics of a Kafka broker.",
            "BrokerTopicMetrics and RequestMetrics are missing: another program, or the exporter's rules drop them.",
            "Give a broker's endpoint; an exporter without rules shows all beans.",
        )
    return BrokerCounters(
        source=source,
        read_at_ms=read_at_ms,
        topics=dict(topics),
        outcomes=dict(outcomes),
        requests=dict(requests),
        replicas=frozenset(replicas),
        unread=frozenset(_NAMES[metric] for metric in _METRICS if metric not in seen),
    )
