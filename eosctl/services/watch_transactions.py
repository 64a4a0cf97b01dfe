"""Watch open transactions: collect repeatedly, and sum up each look."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Event
from typing import Final

import msgspec

from eosctl.analysis.watching import observe
from eosctl.client.client import Client, connect
from eosctl.client.deadline import Deadline
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.reader import ReadOnly
from eosctl.collect.transactions import TransactionQuery
from eosctl.errors import EosctlError
from eosctl.model.evidence import EvidenceKind
from eosctl.model.transaction_life import Moment
from eosctl.services.answered import require_answers
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run

KINDS: Final = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.OFFSETS,
        EvidenceKind.GROUPS,
        EvidenceKind.GROUP_OFFSETS,
        EvidenceKind.PENDING_OFFSETS,
        EvidenceKind.TRANSACTION_HISTORY,
        EvidenceKind.QUORUM,
    }
)
#: Read only where something is in doubt, or open for long.
EXPLAINED: Final = frozenset({EvidenceKind.TRANSACTION_HISTORY})
#: Read only where something is in doubt or open for long: the groups that wait, also those with pending offsets only.
WEIGHED: Final = frozenset({EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS, EvidenceKind.PENDING_OFFSETS})


class TransactionWatchRequest(msgspec.Struct, frozen=True):
    """What to watch.

    Attributes:
        connection: The cluster.
        interval_ms: The pause between two readings, in milliseconds.
        count: The number of looks; None until the process is interrupted.
        kept: The number of looks before the newest one that are kept for the course of values.
        second_look_after_ms: The pause between two passes of one reading; a second one is made only in doubt.
    """

    connection: Connection = Connection()
    interval_ms: int = 2_000
    count: int | None = None
    kept: int = 120
    second_look_after_ms: int = 500


def watch_transactions(
    request: TransactionWatchRequest, show: Callable[[Sequence[Moment]], None], callbacks: Callbacks = SILENT
) -> None:
    """List the open transactions of a cluster repeatedly.

    Args:
        request: What to watch.
        show: Called after each look with the kept looks, the newest last.
        callbacks: Called while the watch runs.

    Raises:
        EosctlError: The cluster cannot be reached.
    """
    resolved = resolve_connection(request.connection, callbacks.remark)

    async def watch(client: Client) -> None:
        moments: list[Moment] = []
        seen = 0
        while True:
            moments = [*moments[-request.kept :], await _read(client, request, callbacks)]
            seen += 1
            show(moments)
            if request.count is not None and seen >= request.count:
                return
            await asyncio.sleep(request.interval_ms / 1000)

    async def work() -> None:
        async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
            await watch(client)

    run(work)


async def _read(client: Client, request: TransactionWatchRequest, callbacks: Callbacks) -> Moment:
    timeout_ms = request.connection.timeout_ms
    reader = ReadOnly(client, None if timeout_ms is None else Deadline.after(timeout_ms))
    observer = Observer(
        callbacks.now_ms,
        second_look_after_ms=request.second_look_after_ms,
        query=TransactionQuery(describe_idle=False),
        explaining=EXPLAINED,
        describing=WEIGHED,
    )
    snapshot = await collect_snapshot(reader, observer, KINDS)
    require_answers(snapshot, EvidenceKind.PRODUCERS, "open transactions")
    return observe(snapshot)


class _StoppedError(Exception):
    """The view was closed."""


def keep_watching(
    request: TransactionWatchRequest,
    show: Callable[[Moment], None],
    fail: Callable[[EosctlError], None],
    stop: Event,
    callbacks: Callbacks = SILENT,
) -> None:
    """Watch as `watch_transactions` does, and begin again after a failure, until the event is set.

    Args:
        request: What to watch.
        show: Called with each reading.
        fail: Called when the cluster cannot be read.
        stop: Set by another thread to end.
        callbacks: Called while the watch runs.
    """

    def shown(moments: Sequence[Moment]) -> None:
        if stop.is_set():
            raise _StoppedError
        show(moments[-1])

    while not stop.is_set():
        try:
            watch_transactions(request, shown, callbacks)
        except EosctlError as error:
            fail(error)
        except _StoppedError:
            return
        stop.wait(request.interval_ms / 1000)
