"""The one way to change a cluster: plan, confirm, read again, act, verify, audit.

An attempt is an immutable value that moves along `_FOLLOWING`. `carry_out` drives it, and everything outside of the
attempt is a `Port`: reading the cluster, asking a person, writing the audit file. A request can be sent only with a
`Permit`, and a permit can be made only of an attempt that is confirmed, was read again, and is on record as begun.
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
    """Where an attempt is; one that is refused ends with `PlanRefused` where it is.

    Attributes:
        PLANNED: A plan was made of a first reading.
        DECLINED: It was not confirmed, or it was a dry run. An end: nothing was sent.
        CONFIRMED: The user ordered it, or typed the target.
        REREAD: A second reading gives the same plan.
        BEGUN: The audit file says that the request is about to be sent.
        ACTED: The cluster took the request.
        VERIFIED: The cluster was read afterwards; the attempt says whether it shows the change.
        FAILED: The request or the reading afterwards failed; the cluster may have changed.
        INTERRUPTED: The user stopped it; the cluster may have changed.
        AUDITED: The audit file says how it ended. An end.
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
    """Return the states that an attempt can reach in one step; empty for an end."""
    return _FOLLOWING.get(state, frozenset())


class Attempt(msgspec.Struct, Generic[P, R], frozen=True):
    """One attempt to change a cluster.

    Attributes:
        plan: The plan of the latest reading.
        state: Where the attempt is.
        outcome: What the action reported after it acted; None before.
        verified: Whether the cluster shows the change.
        error: Why it failed or was interrupted.
    """

    plan: P
    state: State = State.PLANNED
    outcome: R | None = None
    verified: bool = False
    error: BaseException | None = None

    def to(self, state: State) -> Attempt[P, R]:
        """Return the attempt in its next state.

        Raises:
            AssertionError: The state cannot follow: a mistake in the protocol, never the user's.
        """
        if state not in may_follow(self.state):
            raise AssertionError(f"{state.value} cannot follow {self.state.value}")
        return replace(self, state=state)


class Permit:
    """What a request to change a cluster is sent with: it covers one plan, and it can be used once."""

    def __init__(self, attempt: Attempt[P, R]) -> None:
        if attempt.state is not State.BEGUN:
            raise AssertionError(f"an attempt that is {attempt.state.value} may not send")
        self._plan: object = attempt.plan
        self._used = False

    def use(self, plan: object) -> None:
        """Take the permit for sending what `plan` says.

        Raises:
            AssertionError: It is for another plan, or it was used before: a mistake in an action, never the user's.
        """
        if self._used or plan is not self._plan:
            raise AssertionError("a permit covers one request for the plan that was confirmed")
        self._used = True


Verification: TypeAlias = Callable[[], Awaitable[R_co]]


class Action(msgspec.Struct, Generic[P, R], frozen=True):
    """How one kind of plan is compared, sent, and verified.

    Attributes:
        identity: What is equal in two plans for the same thing.
        send: Uses the permit, sends the request, and returns what reads the cluster afterwards.
    """

    identity: Callable[[P], object]
    send: Callable[[Client, P, Permit], Awaitable[Verification[R]]]


class Cluster(Protocol):
    """How plans reach the cluster."""

    @property
    def client(self) -> Client:
        """Return the client that the change is made through."""

    async def collect(self, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        """Collect evidence."""


class Port(Protocol[P, R]):
    """What an attempt needs of the world around it."""

    @property
    def target(self) -> str:
        """What is changed, as errors name it."""

    @property
    def inspect(self) -> str:
        """Return the command that shows the present state."""

    async def plan(self) -> P:
        """Read the cluster and plan; raises PlanRefused where the state does not allow the change."""

    async def confirm(self, plan: P) -> bool:
        """Return whether to act: False for a dry run, and for a person who does not agree."""

    async def plan_again(self) -> P:
        """Read the cluster once more and plan; raises as `plan`."""

    def changed(self) -> PlanRefused:
        """Return the refusal for a second plan that differs from the first."""

    async def is_effective(self, plan: P, outcome: R) -> bool:
        """Return whether the cluster shows the change."""

    def record(self, attempt: Attempt[P, R]) -> None:
        """Keep what happened, before the attempt goes on; raises EosctlError where it cannot be kept.

        It is called in the states PLANNED and BEGUN, and in VERIFIED, FAILED, or INTERRUPTED.
        """


async def carry_out(
    action: Action[P, R], client: Client, port: Port[P, R], *, timeout_s: float | None = None
) -> Attempt[P, R]:
    """Make one attempt, and return it as DECLINED or AUDITED.

    Args:
        action: The kind of change.
        client: Where the request is sent.
        port: The world around the attempt.
        timeout_s: Bounds the request and the action's own verification, in seconds; None for no limit.

    Raises:
        PlanRefused: The state does not allow the change, or it changed before the request: nothing was sent.
        TimeoutError: The action took longer than `timeout_s`.
        EosctlError: The cluster or the audit file failed. Where that is after the request, the audit file has the
            failure, or the message says that it does not.
    """
    attempt: Attempt[P, R] = Attempt(await port.plan())
    port.record(attempt)
    if not await port.confirm(attempt.plan):
        return attempt.to(State.DECLINED)
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
    except BaseException as error:  # an interrupt too: the request may have arrived, and the record must say so
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
