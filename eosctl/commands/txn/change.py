"""``eosctl txn abort|complete|fence``: what can be done about a transaction, each planned before it is done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple, NoReturn, TypeVar

import typer

from eosctl.commands.confirmation import can_ask, read_line
from eosctl.commands.invocation import Invocation, note, write_file, write_result
from eosctl.commands.options import DEFAULT_SECOND_LOOK, ClusterOptions, ResultOptions, SecondLookAfter
from eosctl.commands.session import callbacks
from eosctl.model.plan import FenceOutcome, FencePlan, MarkerOutcome, MarkerPlan
from eosctl.render.formats import OutputFormat
from eosctl.render.page import Style
from eosctl.render.transactions.fence import render_fence
from eosctl.render.transactions.plan import render_marker
from eosctl.services import change_transaction as service
from eosctl.services.callbacks import Callbacks
from eosctl.services.change_transaction import Changed, Dialog, Terms

P = TypeVar("P", FencePlan, MarkerPlan)
R = TypeVar("R", FenceOutcome, MarkerOutcome)
Yes = Annotated[bool, typer.Option("--yes", help="Carry it out.")]
AcceptDataLoss = Annotated[
    str | None,
    typer.Option(
        "--accept-data-loss",
        metavar="TRANSACTIONAL-ID",
        help="The id again, where its application would not repeat what is lost: Flink, two-phase commits.",
    ),
]
Script = Annotated[
    Path | None, typer.Option("--script", metavar="FILE", help="Write the official command that does the same.")
]
ConfirmPartition = Annotated[
    str | None,
    typer.Option("--confirm", metavar="TOPIC-PARTITION", help="The partition again; protected profiles ask for it."),
]
ConfirmId = Annotated[
    str | None,
    typer.Option("--confirm", metavar="TRANSACTIONAL-ID", help="The id again; protected profiles ask for it."),
]


class TargetOptions(NamedTuple):
    """The options that name one open transaction."""

    topic: Annotated[str, typer.Option("--topic", help="Topic of the hanging transaction.")]
    partition: Annotated[int, typer.Option("--partition", min=0, help="Partition of the hanging transaction.")]
    producer_id: Annotated[
        int | None, typer.Option("--producer-id", help="Its producer id, where several are open there.")
    ] = None
    start_offset: Annotated[
        int | None, typer.Option("--start-offset", help="Its first offset, where several are open there.")
    ] = None


def abort_transaction(
    invocation: Invocation,
    target: TargetOptions,
    cluster: ClusterOptions,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    yes: Yes = False,
    confirm: ConfirmPartition = None,
    accept_data_loss: AcceptDataLoss = None,
    script: Script = None,
    *,
    result: ResultOptions,
) -> None:
    """Abort one hanging transaction: plan by default, carried out with --yes.

    Only what hangs is aborted, there is no override. The state is read again just before the marker is written, and
    afterwards the leader is asked whether the transaction is gone and the last stable offset has moved. On a terminal
    the plan can be confirmed by typing the partition.
    """
    terms = Terms(cluster.connection, yes, confirm, second_look_after, accept_data_loss)
    abort = partial(service.abort_transaction, service.target_of(*target), terms)
    _carry_out(abort, partial(render_marker, "txn abort"), script, result, invocation)


def complete_transaction(
    invocation: Invocation,
    target: TargetOptions,
    cluster: ClusterOptions,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    yes: Yes = False,
    confirm: ConfirmPartition = None,
    script: Script = None,
    *,
    result: ResultOptions,
) -> None:
    """Write the COMMIT marker that a coordinator skipped (KAFKA-20734): plan by default, carried out with --yes.

    Only where the transaction log holds the decision to commit this very transaction; there is no override. The state
    is read again just before, and the leader is asked afterwards.
    """
    terms = Terms(cluster.connection, yes, confirm, second_look_after)
    complete = partial(service.complete_transaction, service.target_of(*target), terms)
    _carry_out(complete, partial(render_marker, "txn complete"), script, result, invocation)


def fence_transaction(
    invocation: Invocation,
    transactional_id: Annotated[str, typer.Argument(metavar="TRANSACTIONAL-ID", help="The id to fence.")],
    cluster: ClusterOptions,
    yes: Yes = False,
    confirm: ConfirmId = None,
    accept_data_loss: AcceptDataLoss = None,
    script: Script = None,
    *,
    result: ResultOptions,
) -> None:
    """Fence a transactional id: its coordinator aborts what is open, its producer is refused. Plan by default.

    For transactions that their coordinator knows; what hangs needs an abort instead. The id is described first, an
    unknown one is refused, and its timeout stays what it is.
    """
    terms = Terms(cluster.connection, yes, confirm, 0, accept_data_loss)
    fence = partial(service.fence_transaction, transactional_id, terms)
    _carry_out(fence, render_fence, script, result, invocation)


def _carry_out(
    change: Callable[[Dialog[P], Callbacks], Changed[P, R]],
    render: Callable[[P, str, R | None, int, OutputFormat, Style], str],
    script: Path | None,
    result: ResultOptions,
    invocation: Invocation,
) -> NoReturn:
    """Make a change with the terminal as its dialog, and write the plan or the outcome."""

    def confirm(plan: P, official: str, target: str) -> bool:
        if not can_ask():
            return False
        note(render(plan, official, None, invocation.now_ms(), OutputFormat.TABLE, invocation.style()).rstrip())
        return read_line(f"\nType {target} to carry it out, or press Enter to leave it: ") == target

    def keep(path: Path, command: str) -> None:
        write_file(f"#!/bin/sh\n{command}\n", path)
        note(f"script: {path}")

    with callbacks(invocation.now_ms) as shown:
        changed = change(Dialog(confirm, None if script is None else partial(keep, script)), shown)
    outcome, now_ms = changed.outcome, invocation.now_ms()
    text = render(changed.plan, changed.official, outcome, now_ms, result.output, invocation.style())
    write_result(text, result.output_file)
    if outcome is not None and not changed.verified:
        note(f"not verified: {outcome.detail}")
        raise typer.Exit(1)
    raise typer.Exit
