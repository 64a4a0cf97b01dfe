"""The run of ``eosctl txn abort``: look, plan, confirm, look again, act, verify, and write down each step."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from eosctl.commands.invocation import Invocation, note, write_file
from eosctl.commands.session import Connection, resolve_connection
from eosctl.errors import EosctlError, PlanRefused, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.model.plan import AbortOutcome, AbortPlan
from eosctl.model.transaction import TopicPartition
from eosctl.render.formats import OutputFormat
from eosctl.render.plan import AbortItem, abort_item, render_abort
from eosctl.render.progress import show_progress

if TYPE_CHECKING:
    from eosctl.client.client import Client
    from eosctl.settings.client_resolution import ResolvedClient

NEEDED = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.OFFSETS,
        EvidenceKind.BROKER_CONFIGS,
        EvidenceKind.TRANSACTION_HISTORY,
    }
)


@dataclass(frozen=True, slots=True)
class Aim:
    """Which transaction is meant."""

    partition: TopicPartition
    producer_id: int | None
    start_offset: int | None

    @classmethod
    def of(cls, topic: str, partition: int, producer_id: int | None, start_offset: int | None) -> Aim:
        """Build it from the options."""
        return cls(TopicPartition(topic, partition), producer_id, start_offset)


class Abort(NamedTuple):
    """An order: ``confirmed`` means that the partition was typed a second time."""

    connection: Connection
    aim: Aim
    yes: bool
    confirmed: bool
    second_look_after_ms: int
    script: Path | None


class Result(NamedTuple):
    """What to print and how to end."""

    text: str
    exit_code: int
    warning: str = ""


def run_abort(order: Abort, invocation: Invocation, output: OutputFormat) -> Result:
    """Plan the abort, and carry it out when that was ordered or confirmed.

    Raises:
        EosctlError: The cluster cannot be asked, the transaction does not hang, or the marker was refused.
    """
    resolved = resolve_connection(order.connection)
    return asyncio.run(_run(order, invocation, output, resolved))


async def _run(order: Abort, invocation: Invocation, output: OutputFormat, resolved: ResolvedClient) -> Result:
    from eosctl.actions.audit import audit_file, write_audit
    from eosctl.client.client import connect

    audit = audit_file()
    async with connect(resolved.config) as client:
        plan = await _plan(client, order, invocation.now_ms)
        command = _official(plan, order, resolved)
        if order.script is not None:
            write_file(f"#!/bin/sh\n{command}\n", order.script)
            note(f"script: {order.script}")
        item = abort_item(plan, command)
        write_audit(audit, invocation.now_ms(), "txn abort planned", plan.cluster_id, plan)
        if not _is_confirmed(order, invocation, item, resolved):
            text = render_abort(item, invocation.now_ms(), output, invocation.style())
            return Result(text, 0)
        again = await _plan(client, order, invocation.now_ms)
        if _identity(again) != _identity(plan):
            raise PlanRefused(
                f"{plan.partition} changed while the plan was being confirmed: nothing was changed.",
                "The second reading does not show the same transaction.",
                "Look again: eosctl txn hanging",
            )
        outcome = await _act(client, again, invocation, audit)
    text = render_abort(abort_item(outcome.plan, command, outcome), invocation.now_ms(), output, invocation.style())
    return Result(text, 0 if outcome.verified else 1, "" if outcome.verified else f"not verified: {outcome.detail}")


async def _plan(client: Client, order: Abort, now_ms: Callable[[], int]) -> AbortPlan:
    from eosctl.actions.abort import plan_abort
    from eosctl.analysis.hanging import classify_open_transactions
    from eosctl.collect.collector import Observer, collect_snapshot

    with show_progress() as progress:
        observer = Observer(now_ms, second_look_after_ms=order.second_look_after_ms, progress=progress)
        snapshot = await collect_snapshot(client, observer, NEEDED)
    return plan_abort(snapshot, classify_open_transactions(snapshot), order.aim)


def _identity(plan: AbortPlan) -> AbortPlan:
    """Return the plan without what may differ between two readings of the same transaction."""
    return replace(
        plan, last_stable_offset=None, invisible_offsets=None, invisible_records=None, explanation="", warnings=()
    )


async def _act(client: Client, plan: AbortPlan, invocation: Invocation, audit: Path) -> AbortOutcome:
    from eosctl.actions.abort import apply_abort
    from eosctl.actions.audit import write_audit

    write_audit(audit, invocation.now_ms(), "txn abort begun", plan.cluster_id, plan)
    try:
        outcome = await apply_abort(client, plan)
    except asyncio.CancelledError:
        note(f"interrupted: the marker for {plan.partition} may have been written; check with: eosctl txn hanging")
        write_audit(audit, invocation.now_ms(), "txn abort interrupted", plan.cluster_id, plan)
        raise
    except EosctlError as error:
        write_audit(
            audit, invocation.now_ms(), "txn abort failed", plan.cluster_id, {"plan": plan, "error": error.what}
        )
        raise
    write_audit(audit, invocation.now_ms(), "txn abort done", plan.cluster_id, outcome)
    return outcome


def _official(plan: AbortPlan, order: Abort, resolved: ResolvedClient) -> str:
    from eosctl.actions.official import abort_command

    bootstrap = ",".join(str(endpoint) for endpoint in resolved.config.bootstrap)
    config = order.connection.command_config
    return abort_command(plan, bootstrap, None if config is None else str(config))


def _is_confirmed(order: Abort, invocation: Invocation, item: AbortItem, resolved: ResolvedClient) -> bool:
    """Return whether to go on: ordered on the command line, or typed on a terminal after the plan was shown."""
    if resolved.protected and not order.confirmed and order.yes:
        raise UsageError(
            f"Profile {resolved.profile} is protected: --yes alone is not enough.",
            "It was marked so that nobody changes it by habit.",
            f"Add: --confirm {item.topic}-{item.partition}",
        )
    if order.yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()) or os.environ.get("CI"):
        return False
    note(render_abort(item, invocation.now_ms(), OutputFormat.TABLE, invocation.style()).rstrip())
    sys.stderr.write(f"\nType {item.topic}-{item.partition} to carry it out, or press Enter to leave it: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() == f"{item.topic}-{item.partition}"
