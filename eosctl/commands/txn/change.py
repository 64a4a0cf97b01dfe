"""``eosctl txn abort|complete|fence``: what can be done about a transaction, each planned before it is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    Bootstrap,
    CommandConfig,
    Output,
    OutputFile,
    Overrides,
    Profile,
    SecondLookAfter,
    Timeout,
)
from eosctl.errors import UsageError
from eosctl.model.transaction import TopicPartition
from eosctl.render.formats import OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.commands.txn.attempt import Result

Topic = Annotated[str, typer.Option("--topic", help="Topic of the hanging transaction.")]
Partition = Annotated[int, typer.Option("--partition", min=0, help="Partition of the hanging transaction.")]
ProducerId = Annotated[int | None, typer.Option("--producer-id", help="Its producer id, where several are open there.")]
StartOffset = Annotated[
    int | None, typer.Option("--start-offset", help="Its first offset, where several are open there.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Carry it out.")]
ConfirmPartition = Annotated[
    str | None,
    typer.Option("--confirm", metavar="TOPIC-PARTITION", help="The partition again; protected profiles ask for it."),
]
ConfirmId = Annotated[
    str | None,
    typer.Option("--confirm", metavar="TRANSACTIONAL-ID", help="The id again; protected profiles ask for it."),
]
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


def abort_transaction(
    context: typer.Context,
    topic: Topic,
    partition: Partition,
    producer_id: ProducerId = None,
    start_offset: StartOffset = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,  # type: ignore[assignment]
    yes: Yes = False,
    confirm: ConfirmPartition = None,
    accept_data_loss: AcceptDataLoss = None,
    script: Script = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Abort one hanging transaction: plan by default, carried out with --yes.

    Only what hangs is aborted, there is no override. The state is read again just before the marker is written, and
    afterwards the leader is asked whether the transaction is gone and the last stable offset has moved. On a terminal
    the plan can be confirmed by typing the partition.
    """
    from eosctl.actions.abort import Target
    from eosctl.actions.consent import Consent
    from eosctl.actions.request import request_abort
    from eosctl.commands.txn.attempt import Terms, carry_out_request
    from eosctl.render.transactions.plan import marker_text

    request = request_abort(Target(TopicPartition(topic, partition), producer_id, start_offset), accept_data_loss)
    _check_target(confirm, request.target)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    terms = Terms(Consent(yes, confirm is not None), script, second_look_after, output)
    invocation = invocation_of(context)
    render = marker_text(request.name, invocation.now_ms, invocation.style)
    _end(carry_out_request(request, connection, terms, invocation, render), output_file)


def complete_transaction(
    context: typer.Context,
    topic: Topic,
    partition: Partition,
    producer_id: ProducerId = None,
    start_offset: StartOffset = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,  # type: ignore[assignment]
    yes: Yes = False,
    confirm: ConfirmPartition = None,
    script: Script = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Write the COMMIT marker that a coordinator skipped (KAFKA-20734): plan by default, carried out with --yes.

    Only where the transaction log holds the decision to commit this very transaction; there is no override. The state
    is read again just before, and the leader is asked afterwards.
    """
    from eosctl.actions.abort import Target
    from eosctl.actions.consent import Consent
    from eosctl.actions.request import request_complete
    from eosctl.commands.txn.attempt import Terms, carry_out_request
    from eosctl.render.transactions.plan import marker_text

    request = request_complete(Target(TopicPartition(topic, partition), producer_id, start_offset))
    _check_target(confirm, request.target)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    terms = Terms(Consent(yes, confirm is not None), script, second_look_after, output)
    invocation = invocation_of(context)
    render = marker_text(request.name, invocation.now_ms, invocation.style)
    _end(carry_out_request(request, connection, terms, invocation, render), output_file)


def fence_transaction(
    context: typer.Context,
    transactional_id: Annotated[str, typer.Argument(metavar="TRANSACTIONAL-ID", help="The id to fence.")],
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    yes: Yes = False,
    confirm: ConfirmId = None,
    accept_data_loss: AcceptDataLoss = None,
    script: Script = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Fence a transactional id: its coordinator aborts what is open, its producer is refused. Plan by default.

    For transactions that their coordinator knows; what hangs needs an abort instead. The id is described first, an
    unknown one is refused, and its timeout stays what it is.
    """
    from eosctl.actions.consent import Consent
    from eosctl.actions.request import request_fence
    from eosctl.commands.txn.attempt import Terms, carry_out_request
    from eosctl.render.transactions.fence import fence_text

    request = request_fence(transactional_id, accept_data_loss)
    _check_target(confirm, request.target)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    terms = Terms(Consent(yes, confirm is not None), script, 0, output)
    invocation = invocation_of(context)
    render = fence_text(invocation.now_ms, invocation.style)
    _end(carry_out_request(request, connection, terms, invocation, render), output_file)


def _check_target(confirm: str | None, target: str) -> None:
    if confirm is not None and confirm != target:
        raise UsageError(
            f"--confirm says {confirm!r}, but the target is {target}.", "They must agree.", "Check the target."
        )


def _end(result: Result, output_file: Path | None) -> NoReturn:
    write_result(result.text, output_file)
    if result.warning:
        note(result.warning)
    raise typer.Exit(result.exit_code)
