"""Measure for Prometheus what no MBean of Kafka has: open and hanging transactions, and unstable offsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.client.client import connect
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.reader import ReadOnly
from eosctl.collect.transaction_ends import EndCounter
from eosctl.model.evidence import EvidenceKind
from eosctl.model.metric_reading import Gauge
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TransactionLook
from eosctl.monitoring.cluster_gauges import measure_cluster, measure_ends
from eosctl.monitoring.exporter import Exporter
from eosctl.services import event_loop
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.settings.client_resolution import ResolvedClient

# Records are not read, so that frequent readings stay cheap.
READ_FROM_CLUSTER: Final = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.OFFSETS,
        EvidenceKind.BROKER_CONFIGS,
        EvidenceKind.GROUPS,
        EvidenceKind.GROUP_OFFSETS,
    }
)


class ExportRequest(NamedTuple):
    """A cluster to measure.

    Attributes:
        connection: The cluster.
        listen: Host and port where Prometheus scrapes.
        interval_ms: The pause between two readings, in milliseconds.
        follows_transaction_log: Whether commits, aborts, and timeouts are counted too.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
    """

    connection: Connection = Connection()
    listen: tuple[str, int] = ("127.0.0.1", 9308)
    interval_ms: int = 30_000
    follows_transaction_log: bool = False
    second_look_after_ms: int = 500


class _Measurer:
    """Reads a cluster, and compares each reading with the previous one."""

    def __init__(self, resolved: ResolvedClient, request: ExportRequest, now_ms: Callable[[], int]) -> None:
        self._resolved = resolved
        self._request = request
        self._now_ms = now_ms
        self._ends = EndCounter() if request.follows_transaction_log else None
        self._earlier: list[TransactionLook] = []

    async def read(self) -> ClusterSnapshot:
        observer = Observer(self._now_ms, second_look_after_ms=self._request.second_look_after_ms)
        async with connect(self._resolved.config, allowed_apis=READ_ONLY_APIS) as client:
            snapshot = await collect_snapshot(client, observer, READ_FROM_CLUSTER)
            gaps = await self._ends.follow(ReadOnly(client), snapshot) if self._ends is not None else ()
            return replace(snapshot, gaps=(*snapshot.gaps, *gaps))

    def measure(self, snapshot: ClusterSnapshot) -> tuple[Gauge, ...]:
        gauges = measure_cluster(snapshot, *self._earlier)
        self._earlier[:] = snapshot.looks[-1:]
        return gauges if self._ends is None else (*gauges, measure_ends(self._ends.counts))


def measure_once(request: ExportRequest, callbacks: Callbacks = SILENT) -> tuple[Gauge, ...]:
    """Read a cluster once, and return its gauges.

    Raises:
        EosctlError: No broker answered.
    """
    measurer = _Measurer(resolve_connection(request.connection, callbacks.remark), request, callbacks.now_ms)
    return measurer.measure(event_loop.run(measurer.read))


def serve_gauges(
    request: ExportRequest, render: Callable[[tuple[Gauge, ...]], str], callbacks: Callbacks = SILENT
) -> None:
    """Read a cluster repeatedly, and serve the last reading to Prometheus, without an end.

    Args:
        request: The cluster.
        render: Writes gauges as a page for Prometheus.
        callbacks: Called when the cluster stops answering, and when it answers again.

    Raises:
        EosctlError: The address cannot be used, or the settings do not make a configuration.
    """
    measurer = _Measurer(resolve_connection(request.connection, callbacks.remark), request, callbacks.now_ms)
    host, port = request.listen

    async def serve() -> None:
        running = Exporter(measurer.read, render, callbacks.remark, measurer.measure)
        async with await running.listen(host, port):
            callbacks.remark(f"serving http://{f'[{host}]' if ':' in host else host}:{port}/metrics")
            await running.refresh()
            await running.keep_fresh(request.interval_ms)

    event_loop.run(serve)
