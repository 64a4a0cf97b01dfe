"""``eosctl txn locate``: the partition that a transactional id hashes to, without a cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import invocation_of, write_result
from eosctl.commands.options import InternalPartitions, Output, OutputFile
from eosctl.render.formats import OutputFormat
from eosctl.render.transactions.locate import render_locations
from eosctl.services.locate_coordinator import DEFAULT_PARTITIONS, locate_transactional_ids


def locate_transaction(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(metavar="TRANSACTIONAL-ID...", help="Transactional ids to locate.")],
    partitions: InternalPartitions = DEFAULT_PARTITIONS,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show the coordinator partition of a transactional id.

    Computes the partition of `__transaction_state`. No cluster is contacted.

    Examples:
        eosctl txn locate payment-service
        eosctl txn locate payments-a payments-b --partitions 100
    """
    invocation, found = invocation_of(context), locate_transactional_ids(ids, partitions)
    now_ms, style = invocation.now_ms(), invocation.style()
    write_result(render_locations("txn locate", now_ms, found, partitions, output, style), output_file)
