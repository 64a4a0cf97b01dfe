"""``eosctl txn locate`` and ``eosctl group offsets locate``: the partition that a name hashes to, without a cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.render.formats import OutputFormat

#: Kafka's default of `transaction.state.log.num.partitions` and `offsets.topic.num.partitions`.
DEFAULT_PARTITIONS = 50

offsets_app = typer.Typer(help="Committed offsets.", no_args_is_help=True)

Partitions = Annotated[
    int, typer.Option("--partitions", min=1, help="Partitions of the internal topic; Kafka's default is 50.")
]


def locate_transaction(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(metavar="TRANSACTIONAL-ID...", help="The ids to locate.")],
    partitions: Partitions = DEFAULT_PARTITIONS,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Tell which partition of `__transaction_state` a transactional id belongs to; no cluster is asked."""
    from eosctl.analysis.coordinators import TRANSACTION_STATE_TOPIC

    text = _located(context, "txn locate", TRANSACTION_STATE_TOPIC, ids, partitions, output)
    write_result(text, output_file)


@offsets_app.command("locate")
def locate_group(
    context: typer.Context,
    groups: Annotated[list[str], typer.Argument(metavar="GROUP...", help="The groups to locate.")],
    partitions: Partitions = DEFAULT_PARTITIONS,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Tell which partition of `__consumer_offsets` a group's offsets are in; no cluster is asked."""
    from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC

    text = _located(context, "group offsets locate", CONSUMER_OFFSETS_TOPIC, groups, partitions, output)
    write_result(text, output_file)


def _located(
    context: typer.Context, command: str, topic: str, names: list[str], partitions: int, output: OutputFormat
) -> str:
    from eosctl.analysis.locate import coordinator_partition
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.transactions.locate import LOCATED_COLUMNS, LocatedItem

    invocation = invocation_of(context)
    found = [(name, coordinator_partition(topic, name, partitions)) for name in names]
    items = tuple(LocatedItem(name, home.topic, home.partition, partitions) for name, home in found)
    result = listing("locations", command, invocation.now_ms(), items)
    return render_listing(result, LOCATED_COLUMNS, output, invocation.style())
