"""Values derived from one or two readings of all programs: rates, ratios, backlogs, and lags."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from eosctl.model.metric_page import MetricPage, MetricSample
from eosctl.model.metric_reading import DerivedMetric, DerivedValue, Found, Labels, Looks
from eosctl.monitoring.cluster_gauges import ENDED

FENCING_ERRORS: Final = frozenset({"PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"})
UNVERIFIED_ERRORS: Final = frozenset({"INVALID_TXN_STATE", "TRANSACTION_ABORTABLE", "INVALID_PRODUCER_ID_MAPPING"})
_VERIFIED: Final = "kafka_server_AddPartitionsToTxnManager_Count"
_OF_VERIFICATION: Final = {"name": "ErrorsPerSec", "request": "AddPartitionsToTxn"}.items()
_REQUESTS: Final = "kafka_network_RequestMetrics"
_MARKERS: Final = "kafka_coordinator_transaction_TransactionMarkerChannelManager_Value"
_LAG: Final = "kafka_cluster_Partition_Value"
_LOG: Final = "kafka_log_Log_Value"
_COMMIT_TIME: Final = "kafka_producer_producer_metrics_txn_commit_time_ns"
_THREAD: Final = "kafka_streams_stream_thread_metrics"
_OPEN: Final = "eosctl_open_transaction_partitions"
_OFFSETS: Final = "eosctl_unstable_offsets"

Chooser = Callable[[dict[str, str]], bool]


def derive_values(looks: Looks, limits: Mapping[str, float] = MappingProxyType({})) -> tuple[DerivedValue, ...]:
    """Compute all values with sufficient evidence.

    Args:
        looks: The readings.
        limits: Limits that override the built-in ones, by name.
    """
    values = []
    for metric in DERIVED:
        found = metric.compute(looks)
        if found is not None:
            limit = limits.get(metric.name, metric.above)
            is_bad = None if limit is None else found.value > limit
            values.append(DerivedValue(metric, found.value, found.where, is_bad))
    return tuple(values)


def increases(looks: Looks, series: str, choose: Chooser) -> dict[tuple[str, Labels], float]:
    """Return the increase of each counter per second, by source and labels; empty with one reading.

    A decreased counter belongs to a restarted program: its current value is the increase.
    """
    earlier = {page.source: page for page in looks.earlier}
    found: dict[tuple[str, Labels], float] = {}
    for page in looks.now:
        before = earlier.get(page.source)
        if before is None or page.read_at_ms <= before.read_at_ms:
            continue
        counted = {_key(one): one.value for one in before.values(series)}
        seconds = (page.read_at_ms - before.read_at_ms) / 1000
        for one in page.values(series):
            if choose(one.labels) and math.isfinite(one.value):
                # A missing series started at zero: Kafka registers many with the first event.
                start = counted.get(_key(one), 0.0)
                found[page.source, _key(one)] = (one.value - start if one.value >= start else one.value) / seconds
    return found


def increase_per_s(looks: Looks, series: str, choose: Chooser) -> float | None:
    """Return the total increase of counters per second; None with one reading, or without counters."""
    found = increases(looks, series, choose)
    return math.fsum(found.values()) if found else None


def meter_rate(looks: Looks, bean: str, choose: Chooser) -> float | None:
    """Return a Yammer meter's rate: between two readings, or from one the last minute's average."""
    rate = increase_per_s(looks, f"{bean}_Count", choose)
    if rate is not None:
        return rate
    minute = [one.value for one in _samples(looks.now, f"{bean}_OneMinuteRate") if choose(one.labels)]
    return math.fsum(minute) if minute else None


def _samples(pages: Iterable[MetricPage], series: str) -> Iterator[MetricSample]:
    return (one for page in pages for one in page.values(series) if math.isfinite(one.value))


def _key(sample: MetricSample) -> Labels:
    return tuple(sorted(sample.labels.items()))


def _named(name: str, **wanted: str) -> Chooser:
    pairs = {"name": name, **wanted}.items()
    return lambda labels: pairs <= labels.items()


def _transactions(looks: Looks) -> Found | None:
    rate = meter_rate(looks, _REQUESTS, _named("RequestsPerSec", request="EndTxn"))
    return None if rate is None else Found(rate)


def _fencing(looks: Looks) -> Found | None:
    # The beans of an error appear with it: counted requests without these errors mean zero.
    if not any(one.labels.get("name") == "RequestsPerSec" for one in _samples(looks.now, f"{_REQUESTS}_Count")):
        return None
    rate = meter_rate(
        looks, _REQUESTS, lambda one: one.get("name") == "ErrorsPerSec" and one.get("error") in FENCING_ERRORS
    )
    counts_errors = any(one.labels.get("name") == "ErrorsPerSec" for one in _samples(looks.now, f"{_REQUESTS}_Count"))
    return Found(rate or 0.0) if counts_errors else None


def _concurrent(looks: Looks) -> Found | None:
    asked = meter_rate(looks, _REQUESTS, _named("RequestsPerSec", request="AddPartitionsToTxn"))
    if not asked:
        return None
    refused = _named("ErrorsPerSec", request="AddPartitionsToTxn", error="CONCURRENT_TRANSACTIONS")
    return Found((meter_rate(looks, _REQUESTS, refused) or 0.0) / asked)


def _unverified(looks: Looks) -> Found | None:
    # VerificationFailureRate also counts fenced producers and early transactions.
    if not any(one.labels.get("name") == "VerificationFailureRate" for one in _samples(looks.now, _VERIFIED)):
        return None
    rate = meter_rate(
        looks,
        _REQUESTS,
        lambda one: one.items() >= _OF_VERIFICATION and one.get("error") in UNVERIFIED_ERRORS,
    )
    return Found(rate or 0.0)


def _markers(looks: Looks) -> Found | None:
    queues = ("UnknownDestinationQueueSize", "LogAppendRetryQueueSize")
    waiting = [one.value for one in _samples(looks.now, _MARKERS) if one.labels.get("name") in queues]
    return Found(math.fsum(waiting)) if waiting else None


def _unstable(looks: Looks) -> Found | None:
    """Return the longest unstable range of a partition in seconds of its traffic, if it had any."""
    written = {
        (source, *_place(dict(labels))): rate
        for (source, labels), rate in increases(looks, _LOG, _named("LogEndOffset")).items()
    }
    found = [
        Found(one.value / rate, _place(one.labels))
        for page in looks.now
        for one in page.values(_LAG, name="LastStableOffsetLag")
        if (rate := written.get((page.source, *_place(one.labels)), 0.0)) > 0 and one.value > 0
    ]
    return max(found, default=Found(0.0) if written else None, key=_value)


def _place(labels: dict[str, str]) -> Labels:
    return tuple((key, labels.get(key, "")) for key in ("topic", "partition"))


def _value(found: Found | None) -> float:
    return -math.inf if found is None else found.value


def _streams_commit(looks: Looks) -> Found | None:
    """Return the share of the commit interval that a commit takes."""
    found: list[Found | None] = []
    for page in looks.now:
        rates = {one.labels.get("thread_id"): one.value for one in page.values(f"{_THREAD}_commit_rate")}
        for one in page.values(f"{_THREAD}_commit_latency_avg"):
            thread = one.labels.get("thread_id", "")
            share = one.value * rates.get(thread, math.nan) / 1000
            if math.isfinite(share):
                found.append(Found(share, (("thread_id", thread),)))
    return max(found, default=None, key=_value)


def _producer_commit(looks: Looks) -> Found | None:
    """Return the share of time that a producer spends in commitTransaction."""
    busy = increases(looks, _COMMIT_TIME, lambda labels: True)
    found: list[Found | None] = [
        Found(rate / 1e9, (("client_id", dict(labels).get("client_id", "")),)) for (_, labels), rate in busy.items()
    ]
    return max(found, default=None, key=_value)


def _aborts(looks: Looks) -> Found | None:
    ended = increase_per_s(looks, ENDED, lambda labels: True)
    if not ended:
        return None
    aborted = increase_per_s(looks, ENDED, lambda labels: labels.get("outcome") != "committed")
    return Found((aborted or 0.0) / ended)


def _open(*statuses: str) -> Callable[[Looks], Found | None]:
    def count(looks: Looks) -> Found | None:
        found = [one for one in _samples(looks.now, _OPEN) if one.labels.get("status") in statuses]
        return Found(math.fsum(one.value for one in found)) if found else None

    return count


def _unstable_offsets(looks: Looks) -> Found | None:
    found = [Found(one.value, (("group", one.labels.get("group", "")),)) for one in _samples(looks.now, _OFFSETS)]
    looked = any(one.value == 1 for one in _samples(looks.now, "eosctl_up"))
    return max(found, default=Found(0.0) if looked else None, key=_value)


DERIVED: Final = (
    DerivedMetric("hanging-partitions", "count", "0 (eosctl exporter)", 0, _open("hanging")),
    DerivedMetric("late-partitions", "count", "0 (eosctl exporter)", 0, _open("stalled", "late")),
    DerivedMetric("unstable-offsets", "count", "back at 0 with every commit (eosctl exporter)", None,
                  _unstable_offsets),
    DerivedMetric("transaction-rate", "per second", "follows the load", None, _transactions),
    DerivedMetric("abort-ratio", "ratio", "below 0.1; aborts by timeout are counted", 0.1, _aborts),
    DerivedMetric("fencing-rate", "per second", "0 outside of deployments", 0.2, _fencing),
    DerivedMetric("concurrent-transactions-ratio", "ratio", "below 0.2 of AddPartitionsToTxn", 0.2, _concurrent),
    DerivedMetric("unverified-write-rate", "per second", "0 outside of restarts", 0.01, _unverified),
    DerivedMetric("marker-backlog", "count", "0, or for seconds during an election", 0, _markers),
    DerivedMetric("lso-lag-time", "s of traffic", "below the longest transaction", 60, _unstable),
    DerivedMetric("streams-commit-share", "of the interval", "below 0.5: a commit is done well before the next", 0.5,
                  _streams_commit),
    DerivedMetric("producer-commit-share", "of the time", "below 0.5", 0.5, _producer_commit),
)  # fmt: skip
