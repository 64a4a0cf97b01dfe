"""Abort or complete a hanging transaction, or fence a transactional id: planned, confirmed, verified, and audited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from eosctl.actions.abort import Target
from eosctl.actions.audit import AuditLog
from eosctl.actions.consent import Consent, require_confirmation
from eosctl.actions.protocol import Attempt, State, carry_out
from eosctl.actions.request import Request, request_abort, request_complete, request_fence
from eosctl.client.client import Client, connect
from eosctl.client.deadline import Deadline
from eosctl.collect.audit_file import audit_file
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.reader import ReadOnly
from eosctl.errors import EosctlError, PlanRefused, UsageError
from eosctl.findings.bootstrap import connection_words
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.plan import FenceOutcome, FencePlan, MarkerOutcome, MarkerPlan
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from eosctl.services.missing_rights import denied_among, unless_denied
from eosctl.services.protection import protecting_profile
from eosctl.services.read_cluster import time_limit
from eosctl.settings.clusters.client_resolution import ResolvedClient

#: The evidence from which plans are made; what else is read explains them.
DECIDING: Final = frozenset(
    {EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS, EvidenceKind.OFFSETS, EvidenceKind.TRANSACTION_HISTORY}
)


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


class Terms(msgspec.Struct, frozen=True):
    """The terms of a change.

    Attributes:
        connection: The cluster.
        yes: Whether to make the change without a confirmation; otherwise, the dialog decides.
        confirm: The target, given again, which also confirms the change; protected profiles require it. None if absent.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
        accept_data_loss: The transactional id, if its application would not repeat the lost records; else None.
    """

    connection: Connection = Connection()
    yes: bool = False
    confirm: str | None = None
    second_look_after_ms: int = 500
    accept_data_loss: str | None = None


class Dialog(NamedTuple, Generic[P]):
    """The interaction between the plan and the change.

    Attributes:
        confirm: Called with the plan, the official command (empty if none), and the target; returns the decision.
        keep_official: Called with the official command of the first plan to save it; None to skip this.
    """

    confirm: Callable[[P, str, str], bool]
    keep_official: Callable[[str], None] | None = None


class Changed(NamedTuple, Generic[P, R]):
    """The plan, the command of Kafka's own tools for it, and the outcome; None if nothing was changed."""

    plan: P
    official: str
    outcome: R | None
    verified: bool


def abort_transaction(
    target: Target, terms: Terms, dialog: Dialog[MarkerPlan], callbacks: Callbacks = SILENT
) -> Changed[MarkerPlan, MarkerOutcome]:
    """Abort one hanging transaction.

    Raises:
        UsageError: The confirmation names another target, or a protected profile requires one.
        PlanRefused: The transaction does not hang, or changed in the meantime.
        EvidenceIncomplete: This principal lacks a right, so that nothing is decided.
        EosctlError: The cluster cannot be read, or the change failed.
    """
    return _change(request_abort(target, terms.accept_data_loss), terms, dialog, callbacks)


def complete_transaction(
    target: Target, terms: Terms, dialog: Dialog[MarkerPlan], callbacks: Callbacks = SILENT
) -> Changed[MarkerPlan, MarkerOutcome]:
    """Write the COMMIT marker of one transaction whose commit is decided; raises as `abort_transaction`."""
    return _change(request_complete(target), terms, dialog, callbacks)


def fence_transaction(
    transactional_id: str, terms: Terms, dialog: Dialog[FencePlan], callbacks: Callbacks = SILENT
) -> Changed[FencePlan, FenceOutcome]:
    """Fence a transactional id; raises as `abort_transaction`."""
    return _change(request_fence(transactional_id, terms.accept_data_loss), terms, dialog, callbacks)


def target_of(topic: str, partition: int, producer_id: int | None, start_offset: int | None) -> Target:
    """Return the transaction on a partition, by its producer id or first offset where several are open there."""
    return Target(TopicPartition(topic, partition), producer_id, start_offset)


def _change(request: Request[P, R], terms: Terms, dialog: Dialog[P], callbacks: Callbacks) -> Changed[P, R]:
    audit = AuditLog(audit_file(), callbacks.now_ms, request.name)
    if terms.confirm is not None and terms.confirm != request.target:
        refusal = UsageError(
            f"--confirm says {terms.confirm!r}, but the target is {request.target}.",
            "They must agree.",
            "Check the target.",
        )
        audit.refuse("", request.target, refusal)
        raise refusal
    resolved = resolve_connection(terms.connection, callbacks.remark)

    async def change() -> Changed[P, R]:
        port: _Port[P, R] | None = None
        try:
            limit = time_limit(terms.connection, callbacks)
            async with connect(resolved.config) as client:
                cluster = _Cluster(client, callbacks, terms, limit)
                port = _Port(request, cluster, resolved, terms, dialog, audit)
                attempt = await carry_out(request.action, client, port)
        except EosctlError as error:
            if port is not None and port.has_begun:
                raise
            refusal = error if port is None else port.refusal(error)
            audit.refuse("" if port is None else port.cluster_id, request.target, refusal)
            raise refusal from error
        return Changed(attempt.plan, port.official(attempt.plan), attempt.outcome, attempt.verified)

    return run(change)


@dataclass
class _Cluster:
    """A cluster from which plans are made, and the rights that the last reading lacked.

    The timeout bounds the first reading with all that the command did before. Each later one has its own: a person may
    take any time to confirm, and what was begun must be verified.
    """

    client: Client
    callbacks: Callbacks
    terms: Terms
    limit: Deadline | None
    is_first: bool = True
    denied: tuple[EvidenceGap, ...] = ()

    async def collect(self, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        observer = Observer(
            self.callbacks.now_ms,
            second_look_after_ms=self.terms.second_look_after_ms,
            progress=self.callbacks.progress,
        )
        timeout_ms = self.terms.connection.timeout_ms
        limit = self.limit if self.is_first or timeout_ms is None else Deadline.after(timeout_ms)
        self.is_first = False
        try:
            snapshot = await collect_snapshot(ReadOnly(self.client, limit), observer, kinds)
        finally:
            self.callbacks.progress("")
        self.denied = denied_among(snapshot.gaps, kinds & DECIDING)
        return snapshot


class _Port(Generic[P, R]):
    """Plans from a live cluster, takes the consent of the terms or of the dialog, and writes the audit file."""

    def __init__(
        self,
        request: Request[P, R],
        cluster: _Cluster,
        resolved: ResolvedClient,
        terms: Terms,
        dialog: Dialog[P],
        audit: AuditLog,
    ) -> None:
        self.target = request.target
        self.inspect = request.inspect
        self._request = request
        self._cluster = cluster
        self._resolved = resolved
        self._consent = Consent(terms.yes, terms.confirm is not None)
        self._dialog = dialog
        self._remark = cluster.callbacks.remark
        self._audit = audit
        self.has_begun = False

    @property
    def cluster_id(self) -> str:
        return self._cluster.client.cluster.cluster_id

    def refusal(self, error: EosctlError) -> EosctlError:
        """Return why a change was not begun; where a right was missing, nothing was decided."""
        is_decided = isinstance(error, PlanRefused | UsageError)
        return unless_denied(error, self._cluster.denied) if is_decided else error

    def official(self, plan: P) -> str:
        addresses = ",".join(str(endpoint) for endpoint in self._resolved.config.bootstrap)
        words = connection_words(addresses, str(self._resolved.command_config or ""))
        return self._request.official(plan, words)

    async def plan(self) -> P:
        plan = await self.plan_again()
        if self._dialog.keep_official is not None:
            command = self.official(plan)
            if not command:
                raise UsageError(
                    f"There is no official command for {self._request.name}.",
                    "Kafka's tools cannot do it.",
                    "Leave --script out.",
                )
            self._dialog.keep_official(command)
        return plan

    async def plan_again(self) -> P:
        return await self._request.prepare(self._cluster)

    async def confirm(self, plan: P) -> bool:
        brokers = (str(broker.endpoint) for broker in self._cluster.client.cluster.brokers)
        protecting = protecting_profile(self._resolved, self.cluster_id, brokers)
        require_confirmation(self._consent, self.target, protecting)
        return self._consent.is_given or self._dialog.confirm(plan, self.official(plan), self.target)

    def changed(self) -> PlanRefused:
        return PlanRefused(
            f"{self.target} changed while the plan was being confirmed: nothing was changed.",
            "The second reading does not show the same transaction.",
            f"Look again: {self.inspect}",
        )

    async def is_effective(self, plan: P, outcome: R) -> bool:
        return outcome.verified

    def record(self, attempt: Attempt[P, R]) -> None:
        self.has_begun = self.has_begun or attempt.state is State.BEGUN
        if attempt.state is State.INTERRUPTED:
            self._remark(f"interrupted: the change to {self.target} may have been made; check with: {self.inspect}")
        self._audit.record(attempt)
