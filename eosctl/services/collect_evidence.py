"""Collect the evidence of a cluster, or read what was saved of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from eosctl.collect.bundles.snapshot_file import load_snapshot
from eosctl.errors import UsageError
from eosctl.model.client_config import Endpoint
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.protection import remember_cluster

if TYPE_CHECKING:
    from eosctl.collect.transactions import TransactionQuery
    from eosctl.settings.clusters.client_resolution import ResolvedClient


class EvidenceRequest(msgspec.Struct, frozen=True):
    """Which evidence to collect.

    Attributes:
        connection: The cluster.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        kinds: The kinds of evidence; None for all.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
        query: The transactional ids that matter; None for all.
        explaining: Those of the kinds that are collected only where something is in doubt.
        describing: Those that are collected only where something is in doubt or long open.
    """

    connection: Connection = Connection()
    snapshot_file: Path | None = None
    kinds: frozenset[EvidenceKind] | None = None
    second_look_after_ms: int = 500
    query: TransactionQuery | None = None
    explaining: frozenset[EvidenceKind] = frozenset()
    describing: frozenset[EvidenceKind] = frozenset()


def collect_evidence(request: EvidenceRequest, callbacks: Callbacks = SILENT) -> ClusterSnapshot:
    """Return the saved snapshot if the request names one, else a new one.

    Raises:
        UsageError: The request names both a snapshot and a cluster.
        EosctlError: Neither can be read.
    """
    if request.snapshot_file is None:
        resolved = resolve_connection(request.connection, callbacks.remark, spent_ms=callbacks.spent_ms())
        return collect_from(resolved, request, callbacks)
    if request.connection.is_given:
        raise UsageError(
            "--snapshot and a cluster were both given.",
            "A saved snapshot is read instead of a cluster.",
            "Leave one of them out.",
        )
    return load_snapshot(request.snapshot_file)


def collect_from(resolved: ResolvedClient, request: EvidenceRequest, callbacks: Callbacks) -> ClusterSnapshot:
    """Collect from a cluster whose client is resolved already, over a connection of its own.

    Raises:
        EosctlError: No broker answered.
    """
    from eosctl.services.event_loop import run

    callbacks.progress("connecting")
    return run(lambda: read_evidence(resolved, request, callbacks))


async def read_evidence(resolved: ResolvedClient, request: EvidenceRequest, callbacks: Callbacks) -> ClusterSnapshot:
    """Collect as `collect_from` does, in the running event loop.

    Raises:
        EosctlError: No broker answered.
    """
    # Saved evidence needs no client.
    from eosctl.client.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.collect.collector import EVERYTHING, Observer, collect_snapshot
    from eosctl.collect.reader import ReadOnly
    from eosctl.collect.transactions import EVERY_TRANSACTION
    from eosctl.services.own_fences import with_own_fences
    from eosctl.services.read_cluster import time_limit

    deadline = time_limit(request.connection, callbacks)
    observer = Observer(
        callbacks.now_ms,
        second_look_after_ms=request.second_look_after_ms,
        progress=callbacks.progress,
        query=request.query or EVERY_TRANSACTION,
        explaining=request.explaining,
        describing=request.describing,
    )
    async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
        reader = ReadOnly(client, deadline)
        snapshot = await collect_snapshot(reader, observer, EVERYTHING if request.kinds is None else request.kinds)
        brokers = (
            replace(broker, certificate=client.certificate(Endpoint(broker.host, broker.port)))
            for broker in snapshot.brokers
        )
        snapshot = replace(snapshot, brokers=tuple(brokers))
    remember_cluster(resolved, snapshot.cluster_id)
    snapshot = with_own_fences(snapshot, callbacks)
    return replace(
        snapshot,
        command_config=str(resolved.command_config or ""),
        client_options=request.connection.own_options,
    )
