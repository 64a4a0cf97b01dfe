"""Run small loads on a cluster, and compare its logs with what the formulas predict."""

from __future__ import annotations

from collections.abc import Callable

from eosctl.client.client import connect
from eosctl.lab.calibration import PARTITIONS_PER_BROKER, TRIALS, Bench, find_level, run_trial, trials_for
from eosctl.model.calibration import CalibrationPlan, CalibrationRow
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from eosctl.settings.clusters.client_resolution import ResolvedClient


def calibrate(
    connection: Connection, confirm: Callable[[CalibrationPlan], bool], callbacks: Callbacks = SILENT
) -> tuple[CalibrationRow, ...]:
    """Return predictions next to measurements; empty if the loads were not confirmed, and nothing was written.

    Args:
        connection: The cluster.
        confirm: Called with the plan; returns whether to carry it out.
        callbacks: Called with each load that begins.

    Raises:
        AuthorizationDenied: The principal lacks a right.
        EosctlError: The cluster cannot be worked with.
    """
    resolved = resolve_connection(connection, callbacks.remark)
    if not confirm(CalibrationPlan(str(resolved.config.bootstrap[0]), TRIALS, PARTITIONS_PER_BROKER)):
        return ()
    return run(lambda: _measure(resolved, callbacks))


async def _measure(resolved: ResolvedClient, callbacks: Callbacks) -> tuple[CalibrationRow, ...]:
    rows: list[CalibrationRow] = []
    async with connect(resolved.config) as client:
        level = await find_level(client)
        for trial in trials_for(level):
            callbacks.remark(f"trial: {trial.name}")
            rows += await run_trial(Bench(client, callbacks.now_ms), trial, level)
    return tuple(rows)
