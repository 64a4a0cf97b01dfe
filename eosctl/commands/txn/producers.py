"""``eosctl txn producers``: the producers of partitions as their leaders know them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import FILTER, EvidenceOptions, ResultOptions
from eosctl.commands.session import perform
from eosctl.render.transactions.producers import render_producers
from eosctl.services.transactions import ProducersRequest, list_producers

_filter = partial(typer.Option, rich_help_panel=FILTER)


def producers(
    invocation: Invocation,
    evidence: EvidenceOptions,
    topic: Annotated[str | None, _filter("--topic", help="Only this topic; default is all.")] = None,
    partition: Annotated[int | None, _filter("--partition", min=0, help="Only this partition.")] = None,
    producer_id: Annotated[int | None, _filter("--producer-id", help="Only this producer id.")] = None,
    open_only: Annotated[bool, _filter("--open", help="Only producers with an open transaction.")] = False,
    *,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """List the producers of partitions as their leaders know them, with the transactional id behind each."""
    connection = evidence.cluster.connection
    request = ProducersRequest(connection, evidence.snapshot, topic, partition, producer_id, open_only)
    snapshot, found = perform(list_producers, request, invocation)
    text = render_producers(snapshot, found, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, complete=require_complete)
