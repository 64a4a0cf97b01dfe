"""``eosctl txn locate`` and ``group offsets locate``: the partition that a name hashes to, without a cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
from eosctl.commands.options import InternalPartitions, ResultOptions
from eosctl.render.transactions.locate import render_locations
from eosctl.services.locate_coordinator import DEFAULT_PARTITIONS, locate_groups, locate_transactional_ids


def locate_transaction(
    invocation: Invocation,
    ids: Annotated[list[str], typer.Argument(metavar="TRANSACTIONAL-ID...", help="Transactional ids to locate.")],
    partitions: InternalPartitions = DEFAULT_PARTITIONS,
    *,
    result: ResultOptions,
) -> None:
    """Show the coordinator partition of a transactional id.

    Computes the partition of `__transaction_state`. No cluster is contacted.

    Examples:
        eosctl txn locate payment-service
        eosctl txn locate payments-a payments-b --partitions 100
    """
    found, shown = locate_transactional_ids(ids, partitions), (result.output, invocation.style())
    emit(render_locations("txn locate", invocation.now_ms(), found, partitions, *shown), result)


def locate_group(
    invocation: Invocation,
    groups: Annotated[list[str], typer.Argument(metavar="GROUP...", help="Groups to locate.")],
    partitions: InternalPartitions = DEFAULT_PARTITIONS,
    *,
    result: ResultOptions,
) -> None:
    """Show the coordinator partition of a group.

    Computes the partition of `__consumer_offsets`. No cluster is contacted.

    Examples:
        eosctl group offsets locate billing
        eosctl group offsets locate billing audit --partitions 100
    """
    found, shown = locate_groups(groups, partitions), (result.output, invocation.style())
    emit(render_locations("group offsets locate", invocation.now_ms(), found, partitions, *shown), result)
