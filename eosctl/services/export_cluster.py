"""Measure for Prometheus what no MBean of Kafka has: open and hanging transactions, and unstable offsets."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.client.client import Client, connect
from eosctl.client.ports import Connector
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.reader import Memory, ReadOnly
from eosctl.collect.transaction_ends import EndCounter
from eosctl.collect.transactions import TransactionQuery
from eosctl.errors import UsageError
from eosctl.model.client_config import ClientConfig
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.loopback import is_loopback
from eosctl.model.metric_reading import Gauge
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TransactionLook
from eosctl.monitoring.cluster_gauges import measure_cluster, measure_ends
from eosctl.monitoring.endpoint import Access, Present, plain_page, serve, url_of
from eosctl.monitoring.exporter import Exporter
from eosctl.monitoring.exposition import can_negotiate, negotiated_page
from eosctl.services import event_loop
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.read_cluster import time_limit
from eosctl.settings.clusters.endpoint_access import read_server_credentials, server_context

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

#: Gauges only count the ids without an open transaction, by state.
WITHOUT_IDLE: Final = TransactionQuery(describe_idle=False)


class ExportRequest(NamedTuple):
    """A cluster to measure.

    Attributes:
        connection: The cluster.
        listen: Host and port where Prometheus scrapes.
        interval_ms: The pause between two readings, in milliseconds.
        follows_transaction_log: Whether commits, aborts, and timeouts are counted too.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
        tls_certificate: The certificate chain of the server in PEM; None for plain HTTP.
        tls_key: Its private key in PEM; None without a certificate.
        credentials: A properties file with the user and the password of basic authentication; None for the variables
            ``EOSCTL_EXPORTER_USERNAME`` and ``EOSCTL_EXPORTER_PASSWORD``, or for no authentication.
    """

    connection: Connection = Connection()
    listen: tuple[str, int] = ("127.0.0.1", 9308)
    interval_ms: int = 30_000
    follows_transaction_log: bool = False
    second_look_after_ms: int = 500
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    credentials: Path | None = None


class ClusterMeasurer:
    """Reads a cluster over one connection, and compares each reading with the previous one.

    Answers that have not changed since the last reading are neither decoded nor converted again. After a reading that
    failed, the next one opens a new connection.

    Args:
        config: The client's configuration.
        request: What to read.
        callbacks: The clock, and the display of progress.
        connector: Opens the streams; sockets if None.
    """

    def __init__(
        self,
        config: ClientConfig,
        request: ExportRequest,
        callbacks: Callbacks = SILENT,
        connector: Connector | None = None,
    ) -> None:
        self._config = replace(config, remembers_answers=True)
        self._connector = connector
        self._connection = AsyncExitStack()
        self._client: Client | None = None
        self._memory = Memory()
        self._request = request
        self._callbacks = callbacks
        self._ends = EndCounter() if request.follows_transaction_log else None
        self._earlier: list[TransactionLook] = []

    async def read(self) -> ClusterSnapshot:
        """Read the cluster.

        Raises:
            EosctlError: No broker answered.
        """
        pause_ms, callbacks = self._request.second_look_after_ms, self._callbacks
        observer = Observer(
            callbacks.now_ms, second_look_after_ms=pause_ms, progress=callbacks.progress, query=WITHOUT_IDLE
        )
        self._memory.begin()
        deadline = time_limit(self._request.connection, callbacks)
        try:
            if self._client is None:
                opened = connect(self._config, connector=self._connector, allowed_apis=READ_ONLY_APIS)
                self._client = await self._connection.enter_async_context(opened)
            reader = ReadOnly(self._client, deadline, self._memory)
            snapshot = await collect_snapshot(reader, observer, READ_FROM_CLUSTER)
            ends = ReadOnly(self._client, deadline)
            gaps = await self._ends.follow(ends, snapshot) if self._ends is not None else ()
        except BaseException:
            await self.close()
            raise
        return replace(snapshot, gaps=(*snapshot.gaps, *gaps))

    async def close(self) -> None:
        """Close the connection; the next reading opens another."""
        self._client = None
        await self._connection.aclose()

    def measure(self, snapshot: ClusterSnapshot) -> tuple[Gauge, ...]:
        """Return the gauges of a reading."""
        gauges = measure_cluster(snapshot, *self._earlier)
        self._earlier[:] = snapshot.looks[-1:]
        return gauges if self._ends is None else (*gauges, measure_ends(self._ends.counts))


class Measured(NamedTuple):
    """The gauges of one reading, and the evidence that is missing in it."""

    gauges: tuple[Gauge, ...]
    gaps: tuple[EvidenceGap, ...]


def measure_once(request: ExportRequest, callbacks: Callbacks = SILENT) -> Measured:
    """Read a cluster once, and return its gauges.

    Raises:
        EosctlError: No broker answered.
    """
    measurer = ClusterMeasurer(resolve_connection(request.connection, callbacks.remark).config, request, callbacks)

    async def read() -> ClusterSnapshot:
        try:
            return await measurer.read()
        finally:
            await measurer.close()

    snapshot = event_loop.run(read)
    return Measured(measurer.measure(snapshot), snapshot.gaps)


def serve_gauges(
    request: ExportRequest, render: Callable[[tuple[Gauge, ...]], str], callbacks: Callbacks = SILENT
) -> None:
    """Read a cluster repeatedly, and serve the last reading to Prometheus, without an end.

    With prometheus_client (extra ``exporter``), clients receive the format that they prefer, and compressed pages.

    Args:
        request: The cluster.
        render: Writes gauges as a page for Prometheus, where prometheus_client is missing.
        callbacks: Called when the cluster stops answering, and when it answers again.

    Raises:
        UsageError: A certificate was given without its key, or half of the credentials.
        ConfigFileError: The certificate, its key, or the credentials cannot be used.
        EosctlError: The address cannot be used, or the settings do not make a configuration.
    """
    access = _access(request, os.environ)
    if access.password is not None and access.tls is None and not is_loopback(request.listen[0]):
        callbacks.remark("passwords travel in clear text: add --tls-cert and --tls-key")
    silent = callbacks._replace(progress=SILENT.progress)
    measurer = ClusterMeasurer(resolve_connection(request.connection, callbacks.remark).config, request, silent)
    host, port = request.listen

    async def keep_serving() -> None:
        running = Exporter(measurer.read, callbacks.remark, measurer.measure)
        async with await serve(host, port, _presenter(running, render, callbacks), access) as server:
            callbacks.remark(f"serving {url_of(server, host, access)}")
            try:
                await running.refresh()
                await running.keep_fresh(request.interval_ms)
            finally:
                await measurer.close()

    event_loop.run(keep_serving)


def _presenter(running: Exporter, render: Callable[[tuple[Gauge, ...]], str], callbacks: Callbacks) -> Present:
    if can_negotiate():
        return negotiated_page(lambda: running.gauges)
    callbacks.remark("without eosctl[exporter], pages are plain text: no OpenMetrics, no compression")
    return plain_page(lambda: render(running.gauges))


def _access(request: ExportRequest, environment: Mapping[str, str]) -> Access:
    if (request.tls_certificate is None) != (request.tls_key is None):
        raise UsageError("--tls-cert and --tls-key go together.", "A server needs both.", "Give the missing one.")
    credentials = read_server_credentials(request.credentials, environment)
    tls = None
    if request.tls_certificate is not None and request.tls_key is not None:
        tls = server_context(request.tls_certificate, request.tls_key)
    return Access(tls, credentials.username, credentials.password)
