"""What ``eosctl verify run`` and ``replay`` share: playing an order, keeping the run, showing its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from eosctl.commands.invocation import Invocation, note, write_result
from eosctl.commands.verify.options import exit_code
from eosctl.render.verify.items import VerifyFormat, verify_item
from eosctl.render.verify.run import render_verify
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.lab.history.events import History
    from eosctl.lab.verify.play import Order, Played
    from eosctl.lab.verify.runs import RunRecord
    from eosctl.lab.verify.targets import EngineOrder, Target


def finish(
    played: Played,
    invocation: Invocation,
    output: VerifyFormat,
    output_file: Path | None,
    *,
    min_coverage: float = 0.0,
) -> None:
    """Keep a run, show its report, and end with its exit code."""
    from eosctl.lab.verify.runs import save_run

    note(f"run: {save_run(played.record, played.history)}")
    report_run(played.record, played.history, invocation, output, output_file, min_coverage=min_coverage)


def report_run(
    record: RunRecord,
    history: History,
    invocation: Invocation,
    output: VerifyFormat,
    output_file: Path | None,
    *,
    min_coverage: float = 0.0,
) -> None:
    """Check a history, show the report, and end with its exit code."""
    from eosctl.lab.verify.report import judge

    report = judge(
        history,
        fault_kinds=record.fault_kinds,
        speaks_end_txn_5=record.speaks_end_txn_5,
        unsettled=record.unsettled,
        min_coverage=min_coverage,
    )
    text = render_verify(verify_item(record, report), output, invocation.now_ms(), invocation.style())
    write_result(text, output_file)
    if exit_code(report.verdict.value):
        raise typer.Exit(exit_code(report.verdict.value))


def play_order(
    order: Order, own: EngineOrder | None, connection: Connection, owned: str | None, invocation: Invocation
) -> Played:
    """Play an order on a cluster of its own or on the one that the options name.

    Raises:
        UsageError: The cluster must not, or cannot, be disturbed as asked.
        EosctlError: It cannot be reached or started.
    """
    import asyncio
    import random
    import time
    from dataclasses import replace

    from eosctl.lab.verify.play import play
    from eosctl.lab.verify.safety import check_may_disturb
    from eosctl.lab.verify.targets import own_cluster, running_cluster
    from eosctl.render.progress import show_progress

    began = time.monotonic()

    def elapsed_ms() -> int:
        return int((time.monotonic() - began) * 1_000)

    words = {
        "nemeses": [str(kind) for kind in order.nemeses],
        **({"program": str(order.program.absolute())} if order.program is not None else {}),
    }
    order = replace(order, where={**(order.where or {}), **words})

    async def run() -> Played:
        nonlocal began
        with show_progress() as progress:
            if own is not None:
                progress("starting the cluster")
                async with own_cluster(own, random.Random(order.plan.seed)) as target:
                    began = time.monotonic()
                    return await play(order, target, now_ms=invocation.now_ms, elapsed_ms=elapsed_ms, progress=progress)
            target, protected = await look()
            if order.disturbs:
                check_may_disturb(
                    target.cluster_id,
                    is_ours=target.is_ours,
                    owned_id=owned,
                    protected_profile=protected,
                    what="Disturbing it",
                )
            began = time.monotonic()
            return await play(order, target, now_ms=invocation.now_ms, elapsed_ms=elapsed_ms, progress=progress)

    async def look() -> tuple[Target, str | None]:
        from eosctl.commands.session import resolve_connection

        resolved = resolve_connection(connection)
        return await running_cluster(resolved.config), resolved.profile if resolved.protected else None

    return asyncio.run(run())


def where_of(own: EngineOrder | None, connection: Connection) -> dict[str, Any]:
    """Return how the cluster was named; values of -X are left out, as they may be secret."""
    if own is not None:
        return {
            "engine": own.engine,
            "brokers": own.brokers,
            "emulate": own.emulate,
            "transaction_version": own.transaction_version,
            "bugs": own.bugs,
        }
    file = connection.command_config
    return {
        "bootstrap": connection.bootstrap,
        "command_config": str(file.absolute()) if file is not None else None,
        "profile": connection.profile,
    }
