"""Diagnose a cluster repeatedly, and compare each diagnosis with the previous one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from eosctl.checks.declaration import Case
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose as run_checks
from eosctl.errors import EosctlError, ExitCode
from eosctl.findings.gate import Gate
from eosctl.findings.grouping import group_findings
from eosctl.findings.watching import Look, failed, follow
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, collect_from
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.gate import GateFiles, Verdict, judge_run, read_gate, without_suppressed
from eosctl.services.gate_options import GateOptions
from eosctl.services.sources import Sources, check_sources, read_sources
from eosctl.services.stopwatch import SYSTEM, Stopwatch
from eosctl.settings.clusters.client_resolution import ResolvedClient

SHARE: Final = 4
"""A reading may take a fifth of the time: after a long reading, the pause grows to four times its duration."""


class WatchRequest(msgspec.Struct, frozen=True):
    """What to watch.

    Attributes:
        connection: The cluster.
        sources: Metrics of programs, read at each look.
        gate: What decides the exit code, from the last look.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
        interval_ms: The least pause between two readings, in milliseconds.
        count: The number of looks; None until the process is interrupted.
    """

    connection: Connection = Connection()
    sources: Sources = Sources()
    gate: GateOptions = GateOptions()
    second_look_after_ms: int = 500
    interval_ms: int = 30_000
    count: int | None = None


class DiagnosisWatch(NamedTuple):
    """A watch that is ready to begin.

    Attributes:
        looks: The readings; each is taken on request, after the pause.
        gate: The demands on the exit code.
    """

    looks: Iterator[Look]
    gate: Gate

    def verdict(self, last: Look) -> Verdict:
        """Return the exit code after the last look."""
        return Verdict(ExitCode.DONE) if last.diagnosis is None else judge_run(last.diagnosis, self.gate)


def watch_diagnosis(
    request: WatchRequest, callbacks: Callbacks = SILENT, stopwatch: Stopwatch = SYSTEM
) -> DiagnosisWatch:
    """Prepare to diagnose a cluster repeatedly.

    A failed reading contains the error and the previous findings, and the next reading follows. If the first reading
    fails, the iterator raises `EosctlError`.

    Args:
        request: What to watch.
        callbacks: Called while the watch runs.
        stopwatch: Measures and makes pauses.

    Raises:
        EosctlError: The request cannot be used.
    """
    check_sources(request.sources)
    gate = read_gate(request.gate)
    resolved = resolve_connection(request.connection, callbacks.remark)
    return DiagnosisWatch(_looks(request, resolved, gate, callbacks, stopwatch), gate.gate)


def _looks(
    request: WatchRequest, resolved: ResolvedClient, gate: GateFiles, callbacks: Callbacks, stopwatch: Stopwatch
) -> Iterator[Look]:
    wanted = EvidenceRequest(request.connection, second_look_after_ms=request.second_look_after_ms)
    look: Look | None = None
    count = 0
    while True:
        began = stopwatch.now_s()
        try:
            snapshot = collect_from(resolved, wanted, callbacks)
            look = _follow(look, read_sources(snapshot, request.sources, callbacks).snapshot, gate)
        except EosctlError as error:
            if look is None:
                raise
            look = failed(look, f"{error.what} {error.why}".strip(), callbacks.now_ms())
        yield look
        count += 1
        if request.count is not None and count >= request.count:
            return
        stopwatch.pause_s(max(request.interval_ms / 1000, SHARE * (stopwatch.now_s() - began)))


def _follow(before: Look | None, snapshot: ClusterSnapshot, gate: GateFiles) -> Look:
    diagnosis = without_suppressed(run_checks(ALL_CHECKS, Case(snapshot)), gate, snapshot.captured_at_ms)
    return follow(before, diagnosis, group_findings(diagnosis.findings, snapshot), snapshot.captured_at_ms)
