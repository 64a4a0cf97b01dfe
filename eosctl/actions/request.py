"""Changes to transactions that a user can request: abort, complete, fence."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

import msgspec

from eosctl.actions.abort import Target, prepare_abort
from eosctl.actions.complete import prepare_complete
from eosctl.actions.fence import FENCE, prepare_fence
from eosctl.actions.marker import MARKER
from eosctl.actions.protocol import Action, Cluster
from eosctl.model.plan import FenceOutcome, FencePlan, MarkerOutcome, MarkerPlan

P = TypeVar("P")
R = TypeVar("R")


class Request(msgspec.Struct, Generic[P, R], frozen=True):
    """A requested change.

    Attributes:
        name: The command, as in the audit file.
        target: The text to type for confirmation, and the name in errors.
        inspect: The command that shows the present state.
        prepare: Collects evidence and plans.
        action: Sends and verifies the plan.
        official: Returns the equivalent command of Kafka's own tools for a plan and the words after
            `--bootstrap-server`; empty if they have none.
    """

    name: str
    target: str
    inspect: str
    prepare: Callable[[Cluster], Awaitable[P]]
    action: Action[P, R]
    official: Callable[[P, Sequence[str]], str]


def request_abort(target: Target, accept_data_loss: str | None) -> Request[MarkerPlan, MarkerOutcome]:
    """Return the request to abort a hanging transaction."""

    async def prepare(cluster: Cluster) -> MarkerPlan:
        return await prepare_abort(cluster, target, accept_data_loss=accept_data_loss)

    return Request(
        name="txn abort",
        target=str(target.partition),
        inspect="eosctl txn hanging",
        prepare=prepare,
        action=MARKER,
        official=abort_command,
    )


def request_complete(target: Target) -> Request[MarkerPlan, MarkerOutcome]:
    """Return the request to write the COMMIT marker of a committed transaction."""
    return Request(
        name="txn complete",
        target=str(target.partition),
        inspect="eosctl txn hanging",
        prepare=partial(prepare_complete, target=target),
        action=MARKER,
        official=lambda plan, connection: "",
    )


def request_fence(transactional_id: str, accept_data_loss: str | None) -> Request[FencePlan, FenceOutcome]:
    """Return the request to fence a transactional id."""

    async def prepare(cluster: Cluster) -> FencePlan:
        return await prepare_fence(cluster, transactional_id, accept_data_loss=accept_data_loss)

    inspect = f"eosctl txn describe {transactional_id}"
    return Request(
        name="txn fence",
        target=transactional_id,
        inspect=inspect,
        prepare=prepare,
        action=FENCE,
        official=fence_command,
    )


def abort_command(plan: MarkerPlan, connection: Sequence[str]) -> str:
    """Return the `kafka-transactions.sh` line that does what the plan does (Kafka 3.0 and later).

    Args:
        plan: The change.
        connection: The words after `--bootstrap-server`, see `findings.bootstrap.connection_words`.
    """
    words = ["kafka-transactions.sh", "--bootstrap-server", *connection]
    words += ["abort", "--topic", plan.partition.topic, "--partition", str(plan.partition.partition)]
    words += ["--start-offset", str(plan.first_offset)]
    return shlex.join(words)


def fence_command(plan: FencePlan, connection: Sequence[str]) -> str:
    """Return the `kafka-transactions.sh` line that fences the id (Kafka 4.1 and later); see `abort_command`."""
    words = ["kafka-transactions.sh", "--bootstrap-server", *connection]
    words += ["forceTerminateTransaction", "--transactionalId", plan.transaction.transactional_id]
    return shlex.join(words)
