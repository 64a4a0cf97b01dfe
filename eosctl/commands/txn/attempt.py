"""One attempt to carry out what the user requested, with the terminal and the audit file."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from eosctl.actions.audit import AuditLog, audit_file
from eosctl.actions.consent import Consent, require_confirmation
from eosctl.actions.protocol import Attempt, State, carry_out
from eosctl.actions.request import Request
from eosctl.analysis.bootstrap import connection_words
from eosctl.client.client import Client, connect
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.commands.invocation import Invocation, note, write_file
from eosctl.commands.session import resolve_connection
from eosctl.errors import PlanRefused, UsageError
from eosctl.render.formats import OutputFormat
from eosctl.render.progress import show_progress
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.model.evidence import EvidenceKind
    from eosctl.model.snapshot import ClusterSnapshot
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
RenderPlan: TypeAlias = Callable[[P, str, R | None, OutputFormat], str]


class Terms(NamedTuple):
    """How to carry a request out: the user's consent, where to write the official command, and how to read."""

    consent: Consent
    script: Path | None
    second_look_after_ms: int
    output: OutputFormat


class Result(NamedTuple):
    """What to print and how to end."""

    text: str
    exit_code: int
    warning: str = ""


class _LiveCluster(NamedTuple):
    client: Client
    invocation: Invocation
    second_look_after_ms: int

    async def collect(self, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        with show_progress() as progress:
            observer = Observer(
                self.invocation.now_ms, second_look_after_ms=self.second_look_after_ms, progress=progress
            )
            return await collect_snapshot(self.client, observer, kinds)


class _TerminalPort(Generic[P, R]):
    """Plans from a live cluster, confirms on the command line or the terminal, and writes the audit file."""

    def __init__(
        self,
        request: Request[P, R],
        cluster: _LiveCluster,
        resolved: ResolvedClient,
        terms: Terms,
        render: RenderPlan[P, R],
    ) -> None:
        self.target = request.target
        self.inspect = request.inspect
        self._request = request
        self._cluster = cluster
        self._resolved = resolved
        self._terms = terms
        self._render = render
        self._audit = AuditLog(audit_file(), cluster.invocation.now_ms, request.name)

    def official(self, plan: P) -> str:
        """Return the command of Kafka's own tools for a plan; empty where there is none."""
        addresses = ",".join(str(endpoint) for endpoint in self._resolved.config.bootstrap)
        words = connection_words(addresses, str(self._resolved.command_config or ""))
        return self._request.official(plan, words)

    async def plan(self) -> P:
        plan = await self._request.prepare(self._cluster)
        if self._terms.script is not None:
            _write_script(self.official(plan), self._terms.script, self._request.name)
        return plan

    async def plan_again(self) -> P:
        return await self._request.prepare(self._cluster)

    async def confirm(self, plan: P) -> bool:
        protected = self._resolved.profile if self._resolved.protected else None
        require_confirmation(self._terms.consent, self.target, protected)
        if self._terms.consent.is_given:
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()) or os.environ.get("CI"):
            return False
        note(self._render(plan, self.official(plan), None, OutputFormat.TABLE).rstrip())
        sys.stderr.write(f"\nType {self.target} to carry it out, or press Enter to leave it: ")
        sys.stderr.flush()
        return sys.stdin.readline().strip() == self.target

    def changed(self) -> PlanRefused:
        return PlanRefused(
            f"{self.target} changed while the plan was being confirmed: nothing was changed.",
            "The second reading does not show the same transaction.",
            f"Look again: {self.inspect}",
        )

    async def is_effective(self, plan: P, outcome: R) -> bool:
        return outcome.verified

    def record(self, attempt: Attempt[P, R]) -> None:
        if attempt.state is State.INTERRUPTED:
            note(f"interrupted: the change to {self.target} may have been made; check with: {self.inspect}")
        self._audit.record(attempt)

    def result(self, attempt: Attempt[P, R]) -> Result:
        """Return what to print of an attempt that ended."""
        text = self._render(attempt.plan, self.official(attempt.plan), attempt.outcome, self._terms.output)
        if attempt.outcome is None or attempt.verified:
            return Result(text, 0)
        return Result(text, 1, f"not verified: {attempt.outcome.detail}")


def carry_out_request(
    request: Request[P, R], connection: Connection, terms: Terms, invocation: Invocation, render: RenderPlan[P, R]
) -> Result:
    """Plan a change, and carry it out when that was ordered or confirmed.

    Raises:
        EosctlError: The cluster cannot be asked, the plan is refused, or the change failed.
    """
    return asyncio.run(_attempt(request, resolve_connection(connection), terms, invocation, render))


async def _attempt(
    request: Request[P, R], resolved: ResolvedClient, terms: Terms, invocation: Invocation, render: RenderPlan[P, R]
) -> Result:
    async with connect(resolved.config) as client:
        cluster = _LiveCluster(client, invocation, terms.second_look_after_ms)
        port = _TerminalPort(request, cluster, resolved, terms, render)
        return port.result(await carry_out(request.action, client, port))


def _write_script(command: str, script: Path, name: str) -> None:
    if not command:
        raise UsageError(
            f"There is no official command for {name}.", "Kafka's tools cannot do it.", "Leave --script out."
        )
    write_file(f"#!/bin/sh\n{command}\n", script)
    note(f"script: {script}")
