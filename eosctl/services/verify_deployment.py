"""Verify that a deployment is exactly-once: applications on a cluster, faults, and the checked history."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from eosctl.errors import UsageError
from eosctl.findings.judged import Judged
from eosctl.lab.history.elle import encode_elle
from eosctl.lab.history.events import History
from eosctl.lab.verify.plan import RUN_PREFIX
from eosctl.lab.verify.play import NemesisKind, Order, Played, play
from eosctl.lab.verify.report import VerifyReport, judge
from eosctl.lab.verify.runs import RunRecord, load_run, save_run
from eosctl.lab.verify.safety import check_may_disturb
from eosctl.lab.verify.targets import EngineOrder, own_cluster, running_cluster
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.gate import judge_findings, read_gate
from eosctl.services.gate_options import GateOptions
from eosctl.services.protection import protecting_profile
from eosctl.services.stopwatch import SYSTEM, Stopwatch
from eosctl.services.verification_findings import diagnose_run
from eosctl.services.verify_order import Faults, OwnCluster, Work, engine_order, run_order

COMPLETE: Final = GateOptions(require_complete=True)


class VerifyRequest(NamedTuple):
    """A run.

    Attributes:
        work: The applications.
        faults: The faults.
        own: A cluster to start for the run; None for the one of the connection.
        connection: The cluster.
        owned_id: The id of a cluster that may be disturbed although eosctl did not start it.
        min_coverage: The share of combinations of state and fault, 0 to 1, without which the run decides nothing.
        gate: The demands on the result; a run that decides nothing fails unless ``require_complete`` is off.
        arguments: The command line, for the record.
    """

    work: Work = Work()
    faults: Faults = Faults()
    own: OwnCluster | None = None
    connection: Connection = Connection()
    owned_id: str | None = None
    min_coverage: float = 0.0
    gate: GateOptions = COMPLETE
    arguments: tuple[str, ...] = ()


class _Run(NamedTuple):
    """A run with everything that its request stands for."""

    order: Order
    own: EngineOrder | None
    connection: Connection
    owned_id: str | None
    gate: GateOptions
    min_coverage: float = 0.0


class Verified(NamedTuple):
    """A run, what its history shows, and what counts of it."""

    record: RunRecord
    report: VerifyReport
    judged: Judged


def verify(request: VerifyRequest, callbacks: Callbacks = SILENT, stopwatch: Stopwatch = SYSTEM) -> Verified:
    """Run applications on a cluster, disturb it, keep the run, and check what they did and saw.

    Args:
        request: The run.
        callbacks: Called while it runs.
        stopwatch: Dates the events of the history.

    Raises:
        UsageError: The cluster must not, or cannot, be disturbed as asked.
        ConfigFileError: The rules or the baseline cannot be read.
        EosctlError: The cluster cannot be reached or started, or the run cannot be kept.
    """
    if request.own is not None and request.connection.is_given:
        raise UsageError(
            "--engine and a cluster were both given.",
            "--engine starts a cluster for this run.",
            "Leave one of them out.",
        )
    own = None if request.own is None else engine_order(request.own)
    order = run_order(request.work, request.faults, request.arguments, callbacks.now_ms())
    run = _Run(order, own, request.connection, request.owned_id, request.gate, request.min_coverage)
    return _verify(run, callbacks, stopwatch)


def replay(
    run: str,
    connection: Connection = Connection(),  # noqa: B008  immutable
    owned_id: str | None = None,
    gate: GateOptions = COMPLETE,
    callbacks: Callbacks = SILENT,
    arguments: tuple[str, ...] = (),
    stopwatch: Stopwatch = SYSTEM,
) -> Verified:
    """Play a run again: the same work and the same faults at the same times, on the same or another cluster.

    Args:
        run: The id or the folder of a run.
        connection: Another cluster; without one, that of the run.
        owned_id: As in `VerifyRequest`.
        gate: The demands on the result.
        callbacks: Called while the run continues.
        arguments: The command line, for the record.
        stopwatch: Dates the events of the history.

    Raises:
        UsageError: No run has this name, or the cluster must not be disturbed.
        EosctlError: As `verify`.
    """
    record, _ = load_run(run)
    where = dict(record.where)
    nemeses = tuple(NemesisKind(name) for name in where.pop("nemeses", ()))
    program = where.pop("program", None)
    own = None
    if not connection.is_given and "engine" in where:
        own = EngineOrder(**where | {"bugs": tuple((name, on) for name, on in where.get("bugs", ()))})
    elif not connection.is_given:
        file = where.get("command_config")
        connection = replace(
            connection,
            bootstrap=where.get("bootstrap"),
            command_config=Path(file) if file else None,
            profile=where.get("profile"),
        )
    order = Order(
        dataclasses.replace(record.plan, prefix=f"{RUN_PREFIX}-{callbacks.now_ms()}"),
        nemeses,
        Path(program) if program else None,
        faults=record.faults,
        arguments=arguments,
    )
    return _verify(_Run(order, own, connection, owned_id, gate), callbacks, stopwatch)


def check_again(run: str, gate: GateOptions = COMPLETE, callbacks: Callbacks = SILENT) -> Verified:
    """Check the history of a run that is over again.

    Raises:
        UsageError: No run has this name.
        ConfigFileError: Its files, the rules, or the baseline cannot be read.
    """
    record, history = load_run(run)
    return _judge(record, history, gate, callbacks)


def export_for_elle(run: str) -> tuple[str, ...]:
    """Return the history of a run for elle, Jepsen's checker: list-append in EDN, one operation a line.

    Raises:
        UsageError: No run has this name.
        ConfigFileError: Its files cannot be read.
    """
    _, history = load_run(run)
    return tuple(encode_elle(history))


def _verify(run: _Run, callbacks: Callbacks, stopwatch: Stopwatch) -> Verified:
    # What is wrong with the rules must show before anything runs.
    read_gate(run.gate, has_score=False)
    named = dataclasses.replace(run.order, where=_where(run))
    played = asyncio.run(_play(run._replace(order=named), callbacks, stopwatch))
    callbacks.remark(f"run: {save_run(played.record, played.history)}")
    return _judge(played.record, played.history, run.gate, callbacks, run.min_coverage)


def _judge(
    record: RunRecord, history: History, gate: GateOptions, callbacks: Callbacks, min_coverage: float = 0.0
) -> Verified:
    files = read_gate(gate, has_score=False)
    report = judge(
        history,
        fault_kinds=record.fault_kinds,
        speaks_end_txn_5=record.speaks_end_txn_5,
        unsettled=record.unsettled,
        min_coverage=min_coverage,
    )
    now_ms = callbacks.now_ms()
    return Verified(record, report, judge_findings(diagnose_run(record, history, report, now_ms), files, now_ms))


async def _play(request: _Run, callbacks: Callbacks, stopwatch: Stopwatch) -> Played:
    order, own = request.order, request.own
    began_s = stopwatch.now_s()

    def elapsed_ms() -> int:
        return int((stopwatch.now_s() - began_s) * 1_000)

    if own is not None:
        callbacks.progress("starting the cluster")
        async with own_cluster(own, random.Random(order.plan.seed)) as target:
            began_s = stopwatch.now_s()
            return await play(
                order, target, now_ms=callbacks.now_ms, elapsed_ms=elapsed_ms, progress=callbacks.progress
            )
    resolved = resolve_connection(request.connection, callbacks.remark)
    target = await running_cluster(resolved.config)
    if order.disturbs:
        check_may_disturb(
            target.cluster_id,
            is_ours=target.is_ours,
            owned_id=request.owned_id,
            protected_profile=protecting_profile(resolved, target.cluster_id, ()),
            what="Disturbing it",
        )
    began_s = stopwatch.now_s()
    return await play(order, target, now_ms=callbacks.now_ms, elapsed_ms=elapsed_ms, progress=callbacks.progress)


def _where(request: _Run) -> dict[str, Any]:
    """Return how the cluster was named, and who disturbs it; values of -X are left out, as they may be secret."""
    order, own = request.order, request.own
    who: dict[str, Any] = {"nemeses": [str(kind) for kind in order.nemeses]}
    if order.program is not None:
        who["program"] = str(order.program.absolute())
    if own is not None:
        return {
            "engine": own.engine,
            "brokers": own.brokers,
            "emulate": own.emulate,
            "transaction_version": own.transaction_version,
            "bugs": own.bugs,
            **who,
        }
    file = request.connection.command_config
    return {
        "bootstrap": request.connection.bootstrap,
        "command_config": str(file.absolute()) if file is not None else None,
        "profile": request.connection.profile,
        **who,
    }
