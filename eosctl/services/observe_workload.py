"""Derive a cluster's workload file from its logs, its metrics, or saved snapshots."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.capacity.metrics_observation import Known, explain_unread, write_measured
from eosctl.capacity.observation import Observed, write_observed
from eosctl.capacity.partial_workload import merge, read_partial, write_partial
from eosctl.capacity.quantities import QuantityError, parse_bytes
from eosctl.capacity.snapshot_observation import observe_snapshots
from eosctl.capacity.streams_observation import observe_streams
from eosctl.capacity.workload_file import parse_workload
from eosctl.client.client import connect
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.bundles.snapshot_file import load_snapshot
from eosctl.collect.metrics.broker_counters import collect_counters
from eosctl.collect.metrics.streams_counters import collect_streams
from eosctl.collect.observation import observe_cluster
from eosctl.collect.reader import Probed
from eosctl.errors import ConfigFileError, EosctlError, UsageError
from eosctl.model.broker_counters import BrokerCounters
from eosctl.model.evidence import EvidenceGap
from eosctl.model.streams_reading import StreamsReading
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.cluster_descriptions import describe_file
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from eosctl.services.missing_rights import unless_denied
from eosctl.settings.clusters.client_resolution import ResolvedClient
from eosctl.text import count_text

METRICS_TIMEOUT_MS: Final = 30_000


class ObserveRequest(NamedTuple):
    """What to observe; one of cluster, metrics, and snapshots, and what descriptions add to it.

    Attributes:
        name: The name of the workload.
        connection: The cluster.
        interval_ms: The time between the two readings, in milliseconds.
        metrics: Addresses of the brokers' metrics.
        producers: With metrics: how many transactional producers there are.
        reads: With metrics: the topics that they read.
        snapshots: One or two saved snapshots.
        value: With snapshots: the average size of a record, e.g. ``1 KiB``.
        streams: Addresses of the JMX ports of all instances of Kafka Streams applications.
        descriptions: Files with resources of Strimzi, or what ``aws kafka describe-cluster`` printed.
    """

    name: str = "workload"
    connection: Connection = Connection()
    interval_ms: int = 10_000
    metrics: tuple[str, ...] = ()
    producers: int | None = None
    reads: tuple[str, ...] = ()
    snapshots: tuple[Path, ...] = ()
    value: str | None = None
    streams: tuple[str, ...] = ()
    descriptions: tuple[Path, ...] = ()

    @property
    def is_described(self) -> bool:
        """Whether there are sources that give parts of a workload."""
        return bool(self.descriptions or self.streams)


class Workload(NamedTuple):
    """The text of a workload file, and the evidence of the cluster that is missing in it."""

    text: str
    gaps: tuple[EvidenceGap, ...] = ()


def observe_workload(request: ObserveRequest, callbacks: Callbacks = SILENT) -> Workload:
    """Return a workload file. Nothing is changed.

    Raises:
        UsageError: Several sources are given, or a value is missing that the source does not have.
        EvidenceIncomplete: The principal lacks a right without which nothing is seen.
        EosctlError: The cluster cannot be read, or the observation is not enough for a plan.
    """
    _refuse_two_sources(request)
    if request.is_described:
        return _combined(request, callbacks)
    return _complete(request, callbacks)


def _combined(request: ObserveRequest, callbacks: Callbacks) -> Workload:
    """Combine what runs, if a source for that is given, with descriptions; what is still missing is a remark."""
    parts, gaps = [], tuple[EvidenceGap, ...]()
    if request.metrics or request.snapshots or request.connection.is_given:
        observed, gaps = _complete(request, callbacks)
        parts.append(read_partial(observed, "observed"))
    if request.streams:
        before, after = run(lambda: _read_streams_twice(request.streams, request.interval_ms, callbacks.now_ms))
        parts.append(observe_streams(before, after))
    parts += [describe_file(path) for path in request.descriptions]
    text = write_partial(request.name, merge(parts))
    _remark_what_is_needed(text, request.name, callbacks)
    return Workload(text, gaps)


def _remark_what_is_needed(text: str, name: str, callbacks: Callbacks) -> None:
    try:
        parse_workload(text, name)
    except ConfigFileError as incomplete:
        callbacks.remark(f"not enough for a plan yet; the file marks what is needed: {incomplete.why.splitlines()[0]}")


def _complete(request: ObserveRequest, callbacks: Callbacks) -> Workload:
    if request.metrics:
        text = _measured(request, callbacks)
        _remark_what_is_needed(text, request.name, callbacks)
        return Workload(text)
    observed = Workload(_saved(request, callbacks)) if request.snapshots else _watched(request, callbacks)
    try:
        parse_workload(observed.text, request.name)
    except ConfigFileError as refused:
        error = EosctlError(
            "The observation is not enough for a plan.",
            f"No transactions ended, or their records could not be read ({refused.why.splitlines()[0]}).",
            "Watch for longer with --duration; check that __transaction_state can be read.",
        )
        raise unless_denied(error, (gap for gap in observed.gaps if gap.is_denied)) from refused
    return observed


def _refuse_two_sources(request: ObserveRequest) -> None:
    bootstrap = request.connection.bootstrap
    if request.streams and (request.metrics or request.snapshots or request.connection.is_given):
        raise UsageError(
            "--streams cannot be combined with a cluster, --metrics, or --snapshot.",
            "Both would observe the same application, and the plan would count it twice.",
            "Choose one; --description adds the brokers.",
        )
    if request.metrics and (request.snapshots or bootstrap):
        raise UsageError("--metrics cannot be combined with --snapshot or -b.", "One source is enough.", "Choose one.")
    if request.snapshots and bootstrap:
        raise UsageError("--snapshot cannot be combined with -b.", "One source is enough.", "Choose one.")


def _watched(request: ObserveRequest, callbacks: Callbacks) -> Workload:
    resolved = resolve_connection(request.connection, callbacks.remark)
    probed = run(lambda: _observed(resolved, request.interval_ms, callbacks.now_ms))
    for gap in probed.gaps:
        callbacks.remark(f"incomplete: {gap.sentence}")
    return Workload(write_observed(request.name, probed.value), probed.gaps)


async def _observed(resolved: ResolvedClient, interval_ms: int, now_ms: Callable[[], int]) -> Probed[Observed]:
    async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
        return await observe_cluster(client, interval_ms, now_ms)


def _measured(request: ObserveRequest, callbacks: Callbacks) -> str:
    if request.producers is None:
        raise UsageError(
            "--producers is missing.", "Metrics do not show the number of transactional producers.", "Add it."
        )
    before, after = run(lambda: _read_twice(request.metrics, request.interval_ms, callbacks.now_ms))
    for sentence in explain_unread(after):
        callbacks.remark(f"incomplete: {sentence}")
    return write_measured(request.name, before, after, Known(request.producers, request.reads))


async def _read_twice(
    urls: Sequence[str], interval_ms: int, now_ms: Callable[[], int]
) -> tuple[tuple[BrokerCounters, ...], tuple[BrokerCounters, ...]]:
    before = await collect_counters(urls, now_ms, METRICS_TIMEOUT_MS)
    await asyncio.sleep(interval_ms / 1000)
    return before, await collect_counters(urls, now_ms, METRICS_TIMEOUT_MS)


async def _read_streams_twice(
    urls: Sequence[str], interval_ms: int, now_ms: Callable[[], int]
) -> tuple[tuple[StreamsReading, ...], tuple[StreamsReading, ...]]:
    before = await collect_streams(urls, now_ms, METRICS_TIMEOUT_MS)
    await asyncio.sleep(interval_ms / 1000)
    return before, await collect_streams(urls, now_ms, METRICS_TIMEOUT_MS)


def _saved(request: ObserveRequest, callbacks: Callbacks) -> str:
    paths = request.snapshots
    if request.value is None:
        raise UsageError("--value is missing.", "Snapshots have offsets, but not the size of records.", "Add it.")
    if len(paths) > 2:
        raise UsageError(f"{count_text(len(paths), 'snapshot')} given.", "Rates are between two moments.", "Give two.")
    try:
        size = round(parse_bytes(request.value))
    except QuantityError as error:
        raise UsageError(f"--value: {error}.", "", "Correct the value.") from None
    *earlier, later = (load_snapshot(path) for path in paths)
    if not earlier:
        callbacks.remark("one snapshot has no rates of records: the file has lower bounds, with a comment")
    return write_observed(request.name, observe_snapshots(earlier[0] if earlier else None, later, size))
