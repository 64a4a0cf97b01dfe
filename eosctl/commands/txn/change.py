"""``eosctl txn abort|complete|fence``: what can be done about a transaction, each planned before it is done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple, NoReturn, TypeVar

import typer

from eosctl.command_line.confirmation import can_ask, is_typed
from eosctl.command_line.invocation import Invocation, note, write_file, write_result
from eosctl.commands.options import DEFAULT_SECOND_LOOK, ClusterOptions, ResultOptions, SecondLookAfter
from eosctl.commands.session import callbacks
from eosctl.model.plan import FenceOutcome, FencePlan, MarkerOutcome, MarkerPlan
from eosctl.render.formats import OutputFormat
from eosctl.render.page import Style
from eosctl.render.transactions.fence import render_fence
from eosctl.render.transactions.plan import before_question, render_marker
from eosctl.services import change_transaction as service
from eosctl.services.callbacks import Callbacks
from eosctl.services.change_transaction import Changed, Dialog, Terms

P = TypeVar("P", FencePlan, MarkerPlan)
R = TypeVar("R", FenceOutcome, MarkerOutcome)
Yes = Annotated[bool, typer.Option("--yes", help="Carry out the plan.")]
AcceptDataLoss = Annotated[
    str | None,
    typer.Option(
        "--accept-data-loss",
        metavar="TRANSACTIONAL-ID",
        help="Confirmation of the id, if its application does not repeat lost records: Flink, two-phase commits.",
    ),
]
Script = Annotated[
    Path | None, typer.Option("--script", metavar="FILE", help="File for the equivalent command of Kafka's own tools.")
]
ConfirmPartition = Annotated[
    str | None,
    typer.Option(
        "--confirm", metavar="TOPIC-PARTITION", help="Confirmation of the partition, required by protected profiles."
    ),
]
ConfirmId = Annotated[
    str | None,
    typer.Option(
        "--confirm", metavar="TRANSACTIONAL-ID", help="Confirmation of the id, required by protected profiles."
    ),
]


class TargetOptions(NamedTuple):
    """The options that name one open transaction."""

    topic: Annotated[str, typer.Option("--topic", help="Topic of the hanging transaction.")]
    partition: Annotated[int, typer.Option("--partition", min=0, help="Partition of the hanging transaction.")]
    producer_id: Annotated[
        int | None, typer.Option("--producer-id", help="Producer id, if several transactions are open there.")
    ] = None
    start_offset: Annotated[
        int | None, typer.Option("--start-offset", help="First offset, if several transactions are open there.")
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
    """Abort a hanging transaction.

    Without --yes, only the plan is printed. Only a hanging transaction can be aborted; there is no override. The state
    is read again immediately before the marker is written. Afterwards, eosctl verifies that the transaction is gone and
    that the last stable offset has moved. On a terminal, the plan can be confirmed by typing the partition.

    Examples:
        eosctl txn abort --topic orders --partition 2 -b kafka-1:9092
        eosctl txn abort --topic orders --partition 2 --yes -b kafka-1:9092
        eosctl txn abort --topic orders --partition 2 --script abort.sh -b kafka-1:9092
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
    """Write a COMMIT marker that is missing (KAFKA-20734).

    Without --yes, only the plan is printed. Possible only if the transaction log contains the decision to commit this
    transaction; there is no override. The state is read again immediately before the marker is written, and the result
    is verified on the leader.

    Examples:
        eosctl txn complete --topic orders --partition 2 -b kafka-1:9092
        eosctl txn complete --topic orders --partition 2 --yes -b kafka-1:9092
    """
    terms = Terms(cluster.connection, yes, confirm, second_look_after)
    complete = partial(service.complete_transaction, service.target_of(*target), terms)
    _carry_out(complete, partial(render_marker, "txn complete"), script, result, invocation)


def fence_transaction(
    invocation: Invocation,
    transactional_id: Annotated[str, typer.Argument(metavar="TRANSACTIONAL-ID", help="Transactional id to fence.")],
    cluster: ClusterOptions,
    yes: Yes = False,
    confirm: ConfirmId = None,
    accept_data_loss: AcceptDataLoss = None,
    script: Script = None,
    *,
    result: ResultOptions,
) -> None:
    """Fence a transactional id.

    The coordinator aborts the open transaction, and its producer is rejected from then on. Without --yes, only the plan
    is printed. This works for transactions that the coordinator knows; a hanging transaction needs txn abort. The id
    must exist, and its timeout is kept.

    Examples:
        eosctl txn fence payment-service -b kafka-1:9092
        eosctl txn fence payment-service --yes -b kafka-1:9092
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
        page = render(plan, official, None, invocation.now_ms(), OutputFormat.TABLE, invocation.style())
        question = f"Type {target} to carry it out, or press Enter to leave it: "
        return can_ask() and is_typed(target, question, page=before_question(page))

    def keep(path: Path, command: str) -> None:
        write_file(f"#!/bin/sh\n# eosctl txn\n{command}\n", path)
        note(f"script: {path}")

    with callbacks(invocation.now_ms) as shown:
        dialog = Dialog(confirm, None if script is None else partial(keep, script))
        changed = change(dialog, shown._replace(spent_ms=invocation.spent_ms))
    outcome, now_ms = changed.outcome, invocation.now_ms()
    text = render(changed.plan, changed.official, outcome, now_ms, result.output, invocation.style())
    write_result(text, result.output_file)
    if outcome is not None and not changed.verified:
        note(f"not verified: {outcome.detail}")
        raise typer.Exit(1)
    raise typer.Exit
