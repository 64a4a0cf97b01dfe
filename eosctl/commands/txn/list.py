"""``eosctl txn list``: the transactions of all coordinators."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import FILTER, EvidenceOptions, ResultOptions, parse_duration_ms
from eosctl.commands.session import perform
from eosctl.render.transactions.listing import render_transactions
from eosctl.services import transactions

_filter = partial(typer.Option, rich_help_panel=FILTER)


def list_transactions(
    invocation: Invocation,
    evidence: EvidenceOptions,
    states: Annotated[
        list[str] | None, _filter("--state", metavar="STATE", help="Only this state; repeatable.")
    ] = None,
    producer_ids: Annotated[
        list[int] | None, _filter("--producer-id", help="Only this producer id; repeatable.")
    ] = None,
    running_longer_than: Annotated[
        int | None,
        _filter(
            "--running-longer-than",
            metavar="DURATION",
            parser=parse_duration_ms,
            help="Only transactions that have been open for longer, e.g. 15m.",
        ),
    ] = None,
    pattern: Annotated[str | None, _filter("--pattern", metavar="REGEX", help="Only ids that match.")] = None,
    open_only: Annotated[bool, _filter("--open", help="Only transactions that are open.")] = False,
    *,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """List the transactions of all coordinators, open ones first, the oldest at the top.

    Brokers filter by state, producer id and duration where they can; the filters are applied to their answer as well.
    """
    request = transactions.TransactionsRequest(
        evidence.cluster.connection,
        evidence.snapshot,
        tuple(states or ()),
        tuple(producer_ids or ()),
        running_longer_than,
        pattern,
        open_only,
    )
    snapshot, found = perform(transactions.list_transactions, request, invocation)
    text = render_transactions(snapshot, found, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, complete=require_complete)
