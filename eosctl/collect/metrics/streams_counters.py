"""Read the counters of Kafka Streams instances.

They come from JMX, or from jmx_exporter without rules, which has the same names.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from eosctl.collect.metrics.jmx import read_jmx
from eosctl.collect.metrics.metric_page import fetch_samples
from eosctl.errors import EosctlError, UsageError
from eosctl.model.metric import BeanQuery, exporter_name
from eosctl.model.metric_page import MetricSample
from eosctl.model.streams_reading import Carried, StoreReading, StreamsReading, TaskTopics
from eosctl.model.transaction import TopicPartition
from eosctl.settings.clusters.endpoint_credentials import NO_CREDENTIALS

_THREAD: Final = BeanQuery("kafka.streams:type=stream-thread-metrics,*", ("commit-total",))
_TASK: Final = BeanQuery("kafka.streams:type=stream-task-metrics,*", ("process-total",))
_STORE: Final = BeanQuery("kafka.streams:type=stream-state-metrics,*", ("estimate-num-keys", "total-sst-files-size"))
#: Stores without files have this attribute alone.
_ANY_STORE: Final = BeanQuery("kafka.streams:type=stream-state-metrics,*", ("put-rate",))
_TRANSACTIONS: Final = BeanQuery("kafka.producer:type=producer-metrics,*", ("txn-commit-time-ns-total",))
_SENT: Final = BeanQuery("kafka.producer:type=producer-topic-metrics,*", ("record-send-total", "byte-total"))
_READ: Final = BeanQuery(
    "kafka.consumer:type=consumer-fetch-manager-metrics,*",
    ("records-consumed-total", "bytes-consumed-total", "records-lag"),
)
#: Of source and sink nodes, from 3.3 on (KIP-846).
_TASK_TOPIC: Final = BeanQuery(
    "kafka.streams:type=stream-topic-metrics,*", ("records-consumed-total", "records-produced-total")
)
QUERIES: Final = (_THREAD, _TASK, _STORE, _ANY_STORE, _TRANSACTIONS, _SENT, _READ, _TASK_TOPIC)
_STREAM_THREAD: Final = "-StreamThread-"


def _series(query: BeanQuery) -> tuple[str, ...]:
    """Return the names that samples of a query have."""
    domain, _, rest = query.pattern.partition(":type=")
    return tuple(exporter_name(domain, rest.removesuffix(",*"), attribute) for attribute in query.attributes)


async def collect_streams(
    urls: Sequence[str], now_ms: Callable[[], int], timeout_ms: int
) -> tuple[StreamsReading, ...]:
    """Read several instances concurrently.

    Args:
        urls: `jmx://HOST:PORT`, or `http://HOST:PORT/metrics` of jmx_exporter without rules, one for each instance.
        now_ms: The clock.
        timeout_ms: Maximum time for an instance.

    Raises:
        UsageError: An address has another scheme, or contains a password.
        EosctlError: An instance does not respond, or has no beans of Kafka Streams.
    """
    for url in urls:
        _check(url)

    async def one(url: str) -> StreamsReading:
        read = _read_jmx if url.startswith("jmx:") else fetch_samples
        samples = await asyncio.to_thread(read, url, timeout_ms)
        return resolve_streams(url, now_ms(), samples)

    return tuple(await asyncio.gather(*map(one, urls)))


def _read_jmx(url: str, timeout_ms: int) -> tuple[MetricSample, ...]:
    return read_jmx(url, QUERIES, timeout_ms, NO_CREDENTIALS)


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_known = parts.scheme in ("http", "https", "jmx") and parts.hostname and (parts.port or parts.scheme != "jmx")
        has_password = bool(parts.username or parts.password)
    except ValueError:
        is_known, has_password = False, False
    if has_password or not is_known:
        raise UsageError(
            "--streams has an address with a user name." if has_password else f"--streams {url!r} is not an address.",
            "It is jmx://HOST:PORT of an instance, or http://HOST:PORT/metrics of its jmx_exporter without rules.",
            "Correct it.",
        )


def resolve_streams(source: str, read_at_ms: int, samples: Iterable[MetricSample]) -> StreamsReading:
    """Convert samples to an instance's reading.

    Raises:
        EosctlError: They have no thread of Kafka Streams.
    """
    by_series: dict[str, list[MetricSample]] = defaultdict(list)
    for sample in samples:
        by_series[sample.name].append(sample)

    def values(query: BeanQuery, at: int = 0) -> list[MetricSample]:
        return by_series[_series(query)[at]]

    threads = [sample for sample in values(_THREAD) if _STREAM_THREAD in sample.labels.get("thread_id", "")]
    if not threads:
        raise EosctlError(
            f"{source} has no beans of Kafka Streams.",
            "kafka.streams:type=stream-thread-metrics is missing: another program, or the exporter's rules drop it.",
            "Give the JMX port of an instance, jmx://HOST:PORT, or its jmx_exporter without rules.",
        )
    assigned = (sample.labels for sample in values(_READ, 2) if _is_main(sample))
    return StreamsReading(
        source=source,
        read_at_ms=read_at_ms,
        threads=frozenset(sample.labels["thread_id"] for sample in threads),
        commit_count=sum(sample.value for sample in threads),
        transaction_commit_ns=sum(s.value for s in values(_TRANSACTIONS) if _STREAM_THREAD in s.labels["client_id"]),
        tasks=frozenset(sample.labels["task_id"] for sample in values(_TASK) if "task_id" in sample.labels),
        consumed=_carried([s for s in values(_READ) if _is_main(s)], [s for s in values(_READ, 1) if _is_main(s)]),
        assigned=frozenset(
            TopicPartition(labels["topic"], int(labels["partition"]))
            for labels in assigned
            if labels.get("partition", "").isdigit()
        ),
        sent=_carried(values(_SENT), values(_SENT, 1)),
        stores=_stores(values(_STORE), values(_STORE, 1), values(_ANY_STORE)),
        task_topics=_task_topics(values(_TASK_TOPIC), values(_TASK_TOPIC, 1)),
    )


def _is_main(sample: MetricSample) -> bool:
    """Return whether a sample is of a stream thread's main consumer; restore and global consumers read no input."""
    client = sample.labels.get("client_id", "")
    return _STREAM_THREAD in client and not client.endswith("-restore-consumer") and "topic" in sample.labels


def _carried(records: Iterable[MetricSample], sizes: Iterable[MetricSample]) -> dict[str, Carried]:
    found: dict[str, Carried] = {}
    for sample in records:
        if (topic := sample.labels.get("topic")) and "partition" not in sample.labels:
            one = found.get(topic, Carried())
            found[topic] = one._replace(records=one.records + sample.value)
    for sample in sizes:
        if (topic := sample.labels.get("topic")) and topic in found and "partition" not in sample.labels:
            one = found[topic]
            found[topic] = one._replace(size_bytes=one.size_bytes + sample.value)
    return found


def _stores(
    keys: Iterable[MetricSample], files: Iterable[MetricSample], others: Iterable[MetricSample]
) -> tuple[StoreReading, ...]:
    key_counts, file_sizes = _by_store(keys), _by_store(files)
    places = sorted({**_by_store(others), **key_counts, **file_sizes})
    return tuple(StoreReading(*place, key_counts.get(place), file_sizes.get(place)) for place in places)


def _task_topics(reads: Iterable[MetricSample], writes: Iterable[MetricSample]) -> tuple[TaskTopics, ...]:
    read, written = _by_task(reads), _by_task(writes)
    none: frozenset[str] = frozenset()
    return tuple(TaskTopics(task, read.get(task, none), written.get(task, none)) for task in sorted({*read, *written}))


def _by_task(samples: Iterable[MetricSample]) -> dict[str, frozenset[str]]:
    """Return the topics with records, by task: what a task never read or wrote need not be its own."""
    found: dict[str, set[str]] = defaultdict(set)
    for sample in samples:
        if sample.value and "task_id" in sample.labels and (topic := sample.labels.get("topic")):
            found[sample.labels["task_id"]].add(topic)
    return {task: frozenset(topics) for task, topics in found.items()}


def _by_store(samples: Iterable[MetricSample]) -> dict[tuple[str, str], float]:
    """Return values by store and task; each kind of store has a label of its own."""
    found = {}
    for sample in samples:
        store = next((text for name, text in sample.labels.items() if name.endswith("state_id")), None)
        if store is not None and "task_id" in sample.labels:
            found[store, sample.labels["task_id"]] = sample.value
    return found
