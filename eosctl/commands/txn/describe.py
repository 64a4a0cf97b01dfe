"""``eosctl txn describe``: everything that is known of a transactional id."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import EvidenceOptions, ResultOptions
from eosctl.commands.session import perform
from eosctl.render.transactions.life import render_lives
from eosctl.services import transactions


def describe_transactions(
    invocation: Invocation,
    ids: Annotated[list[str], typer.Argument(metavar="TRANSACTIONAL-ID...", help="Transactional ids to describe.")],
    evidence: EvidenceOptions,
    history: Annotated[
        int, typer.Option("--last", min=0, help="Number of records of the transaction log to show.")
    ] = 20,
    *,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Show transactional ids in detail.

    Shows the state, the producers on each partition, and the last records in the transaction log. Exit code 2 when an
    id is unknown; the other ids are shown anyway.

    Examples:
        eosctl txn describe payment-service -b kafka-1:9092
        eosctl txn describe payments-a payments-b -b kafka-1:9092 --last 50
    """
    connection, snapshot_file = evidence.cluster.connection, evidence.snapshot
    request = transactions.LivesRequest(tuple(ids), connection, snapshot_file, history, require_complete)
    snapshot, lives, error = perform(transactions.describe_transactions, request, invocation)
    text = render_lives(snapshot, lives, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, complete=require_complete, error=error)
