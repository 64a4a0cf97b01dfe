"""Watch open transactions: collect repeatedly, and sum up each look."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from threading import Event
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.analysis.watching import observe
from eosctl.client.client import Client, connect
from eosctl.client.deadline import Deadline
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.reader import Memory, ReadOnly
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


#: The share of one core that readings without an interval of their own may take, and the least and the longest pause
#: between them: what hangs must not stand on the screen as it was many minutes ago.
MOST_SHARE: Final = 0.01
LEAST_PAUSE_MS: Final = 5_000
LONGEST_PAUSE_MS: Final = 60_000


class TransactionWatchRequest(msgspec.Struct, frozen=True):
    """What to watch.

    Attributes:
        connection: The cluster.
        interval_ms: The pause between two readings, in milliseconds; None for five seconds to a minute, in which
            readings take a hundredth of one core if they can.
        count: The number of looks; None until the process is interrupted.
        kept: The number of looks before the newest one that are kept for the course of values.
        second_look_after_ms: The pause between two passes of one reading; a second one is made only in doubt.
    """

    connection: Connection = Connection()
    interval_ms: int | None = None
    count: int | None = None
    kept: int = 120
    second_look_after_ms: int = 500


class Pace(NamedTuple):
    """How a watch waits, and what its readings cost.

    Attributes:
        wait: Waits for a number of seconds, or until it is interrupted.
        cpu_s: The processor time of this process, in seconds.
    """

    wait: Callable[[float], Awaitable[object]] = asyncio.sleep
    cpu_s: Callable[[], float] = time.process_time


def pause_ms(interval_ms: int | None, cost_s: float | None) -> int:
    """Return the pause after a reading, in milliseconds.

    Args:
        interval_ms: The interval that the caller asked for, which is kept; None for none.
        cost_s: The processor time from the previous reading to this one; None after the first, which costs more.
    """
    if interval_ms is not None:
        return interval_ms
    wanted = 0 if cost_s is None else round(cost_s / MOST_SHARE * 1000)
    return min(max(LEAST_PAUSE_MS, wanted), LONGEST_PAUSE_MS)


def watch_transactions(
    request: TransactionWatchRequest,
    show: Callable[[Sequence[Moment]], None],
    callbacks: Callbacks = SILENT,
    pace: Pace = Pace(),  # noqa: B008 - immutable
) -> Moment:
    """List the open transactions of a cluster repeatedly, and return the last reading.

    Args:
        request: What to watch.
        show: Called after each look with the kept looks, the newest last.
        callbacks: Called while the watch runs.
        pace: How to wait, and the cost of readings.

    Raises:
        EosctlError: The cluster cannot be reached.
    """
    resolved = resolve_connection(request.connection, callbacks.remark)

    async def watch(client: Client) -> Moment:
        memory = Memory()
        moments: list[Moment] = []
        seen, used_s = 0, 0.0
        while True:
            moment = await _read(client, request, callbacks, memory)
            cost_s, used_s = pace.cpu_s() - used_s, pace.cpu_s()
            pause = pause_ms(request.interval_ms, cost_s if seen else None)
            slowed = request.interval_ms is None and pause > LEAST_PAUSE_MS
            moment = replace(moment, pause_ms=pause, is_slowed_down=slowed)
            if request.kept:  # The evidence from which rows are made is not kept.
                moment = replace(moment, transactions=tuple(moment.transactions))
            moments = [*(moments[-request.kept :] if request.kept else ()), moment]
            seen += 1
            show(moments)
            if request.count is not None and seen >= request.count:
                return moment
            await pace.wait(pause / 1000)

    async def work() -> Moment:
        config = replace(resolved.config, remembers_answers=True)
        async with connect(config, allowed_apis=READ_ONLY_APIS) as client:
            return await watch(client)

    return run(work)


async def _read(client: Client, request: TransactionWatchRequest, callbacks: Callbacks, memory: Memory) -> Moment:
    memory.begin()
    timeout_ms = request.connection.timeout_ms
    reader = ReadOnly(client, None if timeout_ms is None else Deadline.after(timeout_ms), memory)
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
    again: Event,
    callbacks: Callbacks = SILENT,
) -> None:
    """Watch as `watch_transactions` does, and begin again after a failure, until `stop` is set.

    Args:
        request: What to watch.
        show: Called with each reading.
        fail: Called when the cluster cannot be read.
        stop: Set by another thread to end.
        again: Set by another thread to end a pause, also to end.
        callbacks: Called while the watch runs.
    """

    def pause(seconds: float) -> None:
        again.wait(seconds)
        again.clear()

    async def wait(seconds: float) -> None:
        await asyncio.to_thread(pause, seconds)
        if stop.is_set():
            raise _StoppedError

    def shown(moments: Sequence[Moment]) -> None:
        if stop.is_set():
            raise _StoppedError
        show(moments[-1])

    while not stop.is_set():
        try:
            watch_transactions(request, shown, callbacks, Pace(wait))
        except EosctlError as error:
            fail(error)
        except _StoppedError:
            return
        pause(pause_ms(request.interval_ms, None) / 1000)
