"""``eosctl txn producers``: the producers of partitions as their leaders know them."""

from __future__ import annotations

from typing import Annotated

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import options
from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import ConnectionOptions, ResultOptions, SnapshotFile, filter_option
from eosctl.commands.session import perform
from eosctl.render.transactions.producers import render_producers
from eosctl.services.transactions import ProducersRequest, list_producers

ProducersOptions = Annotated[
    ProducersRequest,
    options(
        connection=ConnectionOptions,
        snapshot_file=SnapshotFile,
        topic=filter_option("--topic", help="Topic to show; all by default."),
        partition=filter_option("--partition", min=0, help="Partition to show."),
        producer_id=filter_option("--producer-id", help="Producer id to show."),
        open_only=filter_option("--open", help="Show only producers with an open transaction."),
    ),
]


def producers(
    invocation: Invocation,
    request: ProducersOptions,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """List the producers of partitions.

    Shows the producer state of each partition leader and the transactional id behind each producer.

    Examples:
        eosctl txn producers --topic orders -b kafka-1:9092
        eosctl txn producers --topic orders --partition 2 --open -b kafka-1:9092
    """
    snapshot, found = perform(list_producers, request, invocation)
    text = render_producers(snapshot, found, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, complete=require_complete)
