"""``eosctl txn abort|complete|fence``: what can be done about a transaction, each planned before it is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from eosctl.commands.session import Connection
from eosctl.errors import UsageError
from eosctl.render.formats import OutputFormat

if TYPE_CHECKING:
    from eosctl.commands.txn.changing import Change

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
    from eosctl.commands.txn.changes import Aim, Look, abort_of

    aim = Aim.of(topic, partition, producer_id, start_offset)
    look = Look(invocation_of(context), second_look_after)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    change = abort_of(aim, look, accept_data_loss)
    _run(context, change, connection, yes, confirm, script, output, output_file)


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
    from eosctl.commands.txn.changes import Aim, Look, complete_of

    aim = Aim.of(topic, partition, producer_id, start_offset)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    change = complete_of(aim, Look(invocation_of(context), second_look_after))
    _run(context, change, connection, yes, confirm, script, output, output_file)


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
    from eosctl.commands.txn.changes import Look, fence_of

    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    change = fence_of(transactional_id, Look(invocation_of(context)), accept_data_loss)
    _run(context, change, connection, yes, confirm, script, output, output_file)


def _run(
    context: typer.Context,
    change: Change[Any, Any],
    connection: Connection,
    yes: bool,
    confirm: str | None,
    script: Path | None,
    output: OutputFormat,
    output_file: Path | None,
) -> None:
    from eosctl.commands.txn.changing import Consent, run_change

    if confirm is not None and confirm != change.target:
        raise UsageError(
            f"--confirm says {confirm!r}, but the target is {change.target}.", "They must agree.", "Check the target."
        )
    consent = Consent(yes or confirm is not None, confirm is not None)
    result = run_change(change, connection, consent, script, invocation_of(context), output)
    write_result(result.text, output_file)
    if result.warning:
        note(result.warning)
    raise typer.Exit(result.exit_code)
