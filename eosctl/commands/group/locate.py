"""``eosctl group offsets locate``: the partition that a group hashes to, without a cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import invocation_of, write_result
from eosctl.commands.options import InternalPartitions, Output, OutputFile
from eosctl.render.formats import OutputFormat
from eosctl.render.transactions.locate import render_locations
from eosctl.services.locate_coordinator import DEFAULT_PARTITIONS, locate_groups


def locate_group(
    context: typer.Context,
    groups: Annotated[list[str], typer.Argument(metavar="GROUP...", help="Groups to locate.")],
    partitions: InternalPartitions = DEFAULT_PARTITIONS,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show the coordinator partition of a group.

    Computes the partition of `__consumer_offsets`. No cluster is contacted.

    Examples:
        eosctl group offsets locate billing
        eosctl group offsets locate billing audit --partitions 100
    """
    invocation, found = invocation_of(context), locate_groups(groups, partitions)
    now_ms, style = invocation.now_ms(), invocation.style()
    write_result(render_locations("group offsets locate", now_ms, found, partitions, output, style), output_file)
