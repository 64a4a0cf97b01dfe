"""The run of every change to a cluster: look, plan, confirm, look again, act, verify, and write down each step."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from eosctl.commands.invocation import Invocation, note, write_file
from eosctl.commands.session import Connection, resolve_connection
from eosctl.errors import EosctlError, PlanRefused, UsageError
from eosctl.render.formats import OutputFormat

if TYPE_CHECKING:
    from eosctl.client.client import Client
    from eosctl.settings.client_resolution import ResolvedClient


class _Plan(Protocol):
    @property
    def cluster_id(self) -> str: ...


class _Outcome(Protocol):
    @property
    def verified(self) -> bool: ...
    @property
    def detail(self) -> str: ...


P = TypeVar("P", bound=_Plan)
R = TypeVar("R", bound=_Outcome)


class Consent(NamedTuple):
    """What the user said: ``confirmed`` means that the target was typed a second time."""

    yes: bool
    confirmed: bool


class Change(msgspec.Struct, Generic[P, R], frozen=True):
    """One kind of change.

    Attributes:
        name: The command, as the audit file has it.
        target: What must be typed to confirm it, and how errors call it.
        look_again: The command that shows the present state.
        plan: Reads the cluster and plans.
        identity: What must be equal in two readings of the same thing.
        apply: Carries the plan out and verifies it.
        official: The official command for a plan and the words that reach the cluster; empty where there is none.
        render: The plan, and what came of it.
    """

    name: str
    target: str
    look_again: str
    plan: Callable[[Client], Awaitable[P]]
    identity: Callable[[P], object]
    apply: Callable[[Client, P], Awaitable[R]]
    official: Callable[[P, tuple[str, ...]], str]
    render: Callable[[P, str, R | None, OutputFormat], str]


class Result(NamedTuple):
    """What to print and how to end."""

    text: str
    exit_code: int
    warning: str = ""


def run_change(
    change: Change[P, R],
    connection: Connection,
    consent: Consent,
    script: Path | None,
    invocation: Invocation,
    output: OutputFormat,
) -> Result:
    """Plan a change, and carry it out when that was ordered or confirmed.

    Raises:
        EosctlError: The cluster cannot be asked, the plan is refused, or the change failed.
    """
    resolved = resolve_connection(connection)
    return asyncio.run(_run(change, consent, script, invocation, output, resolved))


async def _run(
    change: Change[P, R],
    consent: Consent,
    script: Path | None,
    invocation: Invocation,
    output: OutputFormat,
    resolved: ResolvedClient,
) -> Result:
    from eosctl.actions.audit import audit_file, write_audit
    from eosctl.analysis.bootstrap import connection_words
    from eosctl.client.client import connect

    audit = audit_file()
    async with connect(resolved.config) as client:
        plan = await change.plan(client)
        addresses = ",".join(str(endpoint) for endpoint in resolved.config.bootstrap)
        command = change.official(plan, connection_words(addresses, str(resolved.command_config or "")))
        if script is not None:
            _write_script(command, script, change.name)
        write_audit(audit, invocation.now_ms(), f"{change.name} planned", plan.cluster_id, plan)
        if not _is_confirmed(change, consent, resolved, lambda: change.render(plan, command, None, OutputFormat.TABLE)):
            return Result(change.render(plan, command, None, output), 0)
        again = await change.plan(client)
        if change.identity(again) != change.identity(plan):
            raise PlanRefused(
                f"{change.target} changed while the plan was being confirmed: nothing was changed.",
                "The second reading does not show the same transaction.",
                f"Look again: {change.look_again}",
            )
        outcome = await _act(change, client, again, invocation, audit)
    text = change.render(again, command, outcome, output)
    return Result(text, 0 if outcome.verified else 1, "" if outcome.verified else f"not verified: {outcome.detail}")


def _write_script(command: str, script: Path, name: str) -> None:
    if not command:
        raise UsageError(
            f"There is no official command for {name}.", "Kafka's tools cannot do it.", "Leave --script out."
        )
    write_file(f"#!/bin/sh\n{command}\n", script)
    note(f"script: {script}")


async def _act(change: Change[P, R], client: Client, plan: P, invocation: Invocation, audit: Path) -> R:
    from eosctl.actions.audit import write_audit

    write_audit(audit, invocation.now_ms(), f"{change.name} begun", plan.cluster_id, plan)
    try:
        outcome = await change.apply(client, plan)
    except asyncio.CancelledError:
        note(f"interrupted: the change to {change.target} may have been made; check with: {change.look_again}")
        write_audit(audit, invocation.now_ms(), f"{change.name} interrupted", plan.cluster_id, plan)
        raise
    except EosctlError as error:
        details = {"plan": plan, "error": error.what}
        write_audit(audit, invocation.now_ms(), f"{change.name} failed", plan.cluster_id, details)
        raise
    write_audit(audit, invocation.now_ms(), f"{change.name} done", plan.cluster_id, outcome)
    return outcome


def _is_confirmed(change: Change[P, R], consent: Consent, resolved: ResolvedClient, show: Callable[[], str]) -> bool:
    """Return whether to go on: ordered on the command line, or typed on a terminal after the plan was shown."""
    if resolved.protected and not consent.confirmed and consent.yes:
        raise UsageError(
            f"Profile {resolved.profile} is protected: --yes alone is not enough.",
            "It was marked so that nobody changes it by habit.",
            f"Add: --confirm {change.target}",
        )
    if consent.yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()) or os.environ.get("CI"):
        return False
    note(show().rstrip())
    sys.stderr.write(f"\nType {change.target} to carry it out, or press Enter to leave it: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() == change.target
