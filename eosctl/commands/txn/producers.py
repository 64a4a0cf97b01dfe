"""``eosctl txn producers``: the producers of partitions as their leaders know them."""

from __future__ import annotations

from typing import Annotated

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import EvidenceOptions, ResultOptions, filter_option
from eosctl.commands.session import perform
from eosctl.render.transactions.producers import render_producers
from eosctl.services.transactions import ProducersRequest, list_producers


def producers(
    invocation: Invocation,
    evidence: EvidenceOptions,
    topic: Annotated[str | None, filter_option("--topic", help="Topic to show; all by default.")] = None,
    partition: Annotated[int | None, filter_option("--partition", min=0, help="Partition to show.")] = None,
    producer_id: Annotated[int | None, filter_option("--producer-id", help="Producer id to show.")] = None,
    open_only: Annotated[bool, filter_option("--open", help="Show only producers with an open transaction.")] = False,
    *,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """List the producers of partitions.

    Shows the producer state of each partition leader and the transactional id behind each producer.

    Examples:
        eosctl txn producers --topic orders -b kafka-1:9092
        eosctl txn producers --topic orders --partition 2 --open -b kafka-1:9092
    """
    connection = evidence.cluster.connection
    request = ProducersRequest(
        connection=connection,
        snapshot_file=evidence.snapshot,
        topic=topic,
        partition=partition,
        producer_id=producer_id,
        open_only=open_only,
    )
    snapshot, found = perform(list_producers, request, invocation)
    text = render_producers(snapshot, found, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, complete=require_complete)
