"""The protocol of every change to a cluster: plan, confirm, read again, act, verify, audit.

An attempt is an immutable value that moves along `_FOLLOWING`. `carry_out` drives it. Everything outside of the attempt
is a `Port`: reading the cluster, asking for confirmation, writing the audit file. A request can be sent only with a
`Permit`, which requires an attempt that is confirmed, was read again, and is recorded as begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from eosctl.client.client import Client
from eosctl.errors import EosctlError, PlanRefused
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot

P = TypeVar("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class State(StrEnum):
    """The state of an attempt; a refused attempt ends with `PlanRefused` in its current state.

    Attributes:
        PLANNED: A plan was made from the first reading.
        DECLINED: It was not confirmed, or it was a dry run. Final: nothing was sent, and that is on record.
        CONFIRMED: The user passed `--yes`, or typed the target.
        REREAD: A second reading gives the same plan.
        BEGUN: The audit file contains that the request is about to be sent.
        ACTED: The cluster accepted the request.
        VERIFIED: The cluster was read again; the attempt records whether the change is visible.
        FAILED: The request or the verification failed; the cluster may have changed.
        INTERRUPTED: The user stopped it; the cluster may have changed.
        AUDITED: The audit file contains the result. Final.
    """

    PLANNED = "planned"
    DECLINED = "declined"
    CONFIRMED = "confirmed"
    REREAD = "reread"
    BEGUN = "begun"
    ACTED = "acted"
    VERIFIED = "verified"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    AUDITED = "audited"


_FOLLOWING: Final[Mapping[State, frozenset[State]]] = {
    State.PLANNED: frozenset({State.CONFIRMED, State.DECLINED}),
    State.CONFIRMED: frozenset({State.REREAD}),
    State.REREAD: frozenset({State.BEGUN}),
    State.BEGUN: frozenset({State.ACTED, State.FAILED, State.INTERRUPTED}),
    State.ACTED: frozenset({State.VERIFIED, State.FAILED, State.INTERRUPTED}),
    State.VERIFIED: frozenset({State.AUDITED}),
    State.FAILED: frozenset({State.AUDITED}),
    State.INTERRUPTED: frozenset({State.AUDITED}),
}


def may_follow(state: State) -> frozenset[State]:
    """Return the states that an attempt can reach in one step; empty for a final state."""
    return _FOLLOWING.get(state, frozenset())


class Attempt(msgspec.Struct, Generic[P, R], frozen=True):
    """An attempt to change a cluster.

    Attributes:
        plan: The plan of the latest reading.
        state: The current state.
        outcome: The result of the action; None before it acted.
        verified: Whether the change is visible in the cluster.
        error: The reason why it failed or was interrupted.
    """

    plan: P
    state: State = State.PLANNED
    outcome: R | None = None
    verified: bool = False
    error: BaseException | None = None

    def to(self, state: State) -> Attempt[P, R]:
        """Return the attempt in its next state.

        Raises:
            AssertionError: The transition is not allowed: a bug in the protocol.
        """
        if state not in may_follow(self.state):
            raise AssertionError(f"{state.value} cannot follow {self.state.value}")
        return replace(self, state=state)


class Permit:
    """Permission to send a request that changes a cluster; it covers one plan and can be used once."""

    def __init__(self, attempt: Attempt[P, R]) -> None:
        if attempt.state is not State.BEGUN:
            raise AssertionError(f"an attempt that is {attempt.state.value} may not send")
        self._plan: object = attempt.plan
        self._used = False

    def use(self, plan: object) -> None:
        """Consume the permit to send the request of `plan`.

        Raises:
            AssertionError: It belongs to another plan or was used before: a bug in an action.
        """
        if self._used or plan is not self._plan:
            raise AssertionError("a permit covers one request for the plan that was confirmed")
        self._used = True


Verification: TypeAlias = Callable[[], Awaitable[R_co]]


class Action(msgspec.Struct, Generic[P, R], frozen=True):
    """How a type of plan is compared, sent, and verified.

    Attributes:
        identity: Returns a value that is equal for plans of the same change.
        send: Uses the permit, sends the request, and returns the verification.
    """

    identity: Callable[[P], object]
    send: Callable[[Client, P, Permit], Awaitable[Verification[R]]]


class Cluster(Protocol):
    """The cluster that plans are made from."""

    @property
    def client(self) -> Client:
        """Return the client for the change."""

    async def collect(self, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        """Collect evidence."""


class Port(Protocol[P, R]):
    """The environment of an attempt."""

    @property
    def target(self) -> str:
        """Return the changed object, as named in errors."""

    @property
    def inspect(self) -> str:
        """Return the command that shows the present state."""

    async def plan(self) -> P:
        """Collect evidence and plan.

        Raises:
            PlanRefused: The state does not allow the change.
        """

    async def confirm(self, plan: P) -> bool:
        """Return whether to act; False for a dry run or a declined confirmation."""

    async def plan_again(self) -> P:
        """Collect evidence again and plan.

        Raises:
            PlanRefused: The state does not allow the change.
        """

    def changed(self) -> PlanRefused:
        """Return the error for a second plan that differs from the first."""

    async def is_effective(self, plan: P, outcome: R) -> bool:
        """Return whether the change is visible in the cluster."""

    def record(self, attempt: Attempt[P, R]) -> None:
        """Record the attempt before it continues.

        Called in the states PLANNED and DECLINED or BEGUN, and in VERIFIED, FAILED, or INTERRUPTED.

        Raises:
            EosctlError: The record cannot be written.
        """


async def carry_out(
    action: Action[P, R], client: Client, port: Port[P, R], *, timeout_s: float | None = None
) -> Attempt[P, R]:
    """Run an attempt, and return it as DECLINED or AUDITED.

    Args:
        action: The type of change.
        client: The client for the request.
        port: The environment of the attempt.
        timeout_s: Limit of the request and the action's own verification, in seconds; None for no limit.

    Raises:
        PlanRefused: The state does not allow the change, or it changed before the request: nothing was sent.
        TimeoutError: The action took longer than `timeout_s`.
        EosctlError: The cluster or the audit file failed. After the request, the failure is in the audit file, or the
            message states that it is not.
        KeyboardInterrupt: The user pressed Ctrl-C instead of confirming, which declines.
    """
    attempt: Attempt[P, R] = Attempt(await port.plan())
    port.record(attempt)
    try:
        is_confirmed = await port.confirm(attempt.plan)
    except KeyboardInterrupt as error:
        port.record(replace(attempt.to(State.DECLINED), error=error))
        raise
    if not is_confirmed:
        attempt = attempt.to(State.DECLINED)
        port.record(attempt)
        return attempt
    attempt = attempt.to(State.CONFIRMED)
    again = await port.plan_again()
    if action.identity(again) != action.identity(attempt.plan):
        raise port.changed()
    attempt = replace(attempt.to(State.REREAD), plan=again).to(State.BEGUN)
    port.record(attempt)
    try:
        async with asyncio.timeout(timeout_s):
            verification = await action.send(client, again, Permit(attempt))
            attempt = attempt.to(State.ACTED)
            outcome = await verification()
        effective = await port.is_effective(again, outcome)
    except BaseException as error:  # Record interrupts too, since the request may have arrived.
        ended = State.INTERRUPTED if isinstance(error, asyncio.CancelledError) else State.FAILED
        _audit(port, replace(attempt.to(ended), error=error))
        raise
    return _audit(port, replace(attempt.to(State.VERIFIED), outcome=outcome, verified=effective))


def _audit(port: Port[P, R], attempt: Attempt[P, R]) -> Attempt[P, R]:
    try:
        port.record(attempt)
    except EosctlError as error:
        happened = "was changed" if attempt.state is State.VERIFIED else "may have been changed"
        raise EosctlError(
            f"{port.target} {happened}, but the end of the attempt is not on record.",
            error.what if attempt.error is None else f"{error.what} Before that: {attempt.error}",
            f"See what the cluster shows now: {port.inspect}",
        ) from error
    return attempt.to(State.AUDITED)
