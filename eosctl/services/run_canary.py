"""Run a canary: a few small transactions that are written, read, and checked until the first anomaly."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

from eosctl.client.client import Client, connect
from eosctl.errors import ExitCode
from eosctl.lab.history.anomaly import Anomaly
from eosctl.lab.verify.canary import TOPIC_PREFIX, Canary, CanaryNumbers, CanaryPlan
from eosctl.lab.verify.report import Verdict
from eosctl.model.metric_reading import Gauge
from eosctl.monitoring.endpoint import plain_page, serve, url_of
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.stopwatch import SYSTEM, Stopwatch


class CanaryRequest(NamedTuple):
    """A canary.

    Attributes:
        topic: Where it writes; the name begins with ``eosctl-canary``.
        rate_per_s: Transactions per second, at most 10.
        partition_count: Partitions of a new topic, at most 12.
        record_bytes: The size of a value, at most 10,000.
        round_size: Transactions between two checks.
        connection: The cluster.
        listen: Host and port where Prometheus scrapes its numbers; None for nowhere.
        duration_ms: The time after which it ends; None for never.
    """

    topic: str = TOPIC_PREFIX
    rate_per_s: float = 1.0
    partition_count: int = 3
    record_bytes: int = 100
    round_size: int = 20
    connection: Connection = Connection()
    listen: tuple[str, int] | None = None
    duration_ms: int | None = None


class CanaryEnded(NamedTuple):
    """What a canary has counted, and the anomalies that ended it."""

    verdict: Verdict
    numbers: CanaryNumbers
    anomalies: tuple[Anomaly, ...]

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that `eosctl verify canary` ends with."""
        codes = {Verdict.ANOMALIES: ExitCode.FINDINGS, Verdict.UNDECIDED: ExitCode.FAILED}
        return codes.get(self.verdict, ExitCode.DONE)


def run_canary(
    request: CanaryRequest,
    render: Callable[[tuple[Gauge, ...]], str],
    callbacks: Callbacks = SILENT,
    stopwatch: Stopwatch = SYSTEM,
) -> CanaryEnded:
    """Run a canary to its end.

    Args:
        request: The canary.
        render: Writes the numbers as a page for Prometheus.
        callbacks: Called while it runs.
        stopwatch: Dates the events of its history.

    Raises:
        UsageError: The plan passes a limit.
        EosctlError: The cluster cannot be reached.
    """
    plan = CanaryPlan(
        run=str(callbacks.now_ms()),
        topic=request.topic,
        rate_per_s=request.rate_per_s,
        partition_count=request.partition_count,
        record_bytes=request.record_bytes,
        round_size=request.round_size,
    )
    plan.check()
    resolved = resolve_connection(request.connection, callbacks.remark)
    chance, began_s = random.Random(plan.run), stopwatch.now_s()

    def open_client() -> AbstractAsyncContextManager[Client]:
        return connect(resolved.config, chance=random.Random(chance.getrandbits(64)))

    canary = Canary(
        plan,
        open_client,
        now_ms=callbacks.now_ms,
        elapsed_ms=lambda: int((stopwatch.now_s() - began_s) * 1_000),
        seed=chance.getrandbits(64),
    )
    anomalies = asyncio.run(_run(canary, request, render, callbacks))
    # Without a completed round, nothing that was written has been read again.
    is_clean = canary.numbers.outcomes["committed"] > 0 and canary.numbers.round_count > 0
    if not is_clean and canary.last_error is not None:
        callbacks.report_error(canary.last_error)
    verdict = Verdict.ANOMALIES if anomalies else Verdict.CLEAN if is_clean else Verdict.UNDECIDED
    return CanaryEnded(verdict, canary.numbers, anomalies)


async def _run(
    canary: Canary, request: CanaryRequest, render: Callable[[tuple[Gauge, ...]], str], callbacks: Callbacks
) -> tuple[Anomaly, ...]:
    stop = asyncio.Event()
    timer = None
    if request.duration_ms is not None:
        timer = asyncio.get_running_loop().call_later(request.duration_ms / 1_000, stop.set)
    try:
        if request.listen is None:
            return await canary.run(stop)
        host, port = request.listen
        async with await serve(host, port, plain_page(lambda: render(canary.numbers.gauges()))) as server:
            callbacks.remark(f"serving {url_of(server, host)}")
            return await canary.run(stop)
    finally:
        if timer is not None:
            timer.cancel()
