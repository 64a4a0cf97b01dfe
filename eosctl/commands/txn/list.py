"""``eosctl txn list``: the transactions of all coordinators."""

from __future__ import annotations

from typing import Annotated

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import options
from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import (
    FILTER,
    ConnectionOptions,
    ResultOptions,
    SnapshotFile,
    duration_option,
    filter_option,
)
from eosctl.commands.session import perform
from eosctl.render.transactions.listing import render_transactions
from eosctl.services.transactions import TransactionsRequest
from eosctl.services.transactions import list_transactions as read_transactions

TransactionsOptions = Annotated[
    TransactionsRequest,
    options(
        connection=ConnectionOptions,
        snapshot_file=SnapshotFile,
        states=filter_option("--state", metavar="STATE", help="State to show; repeatable."),
        producer_ids=filter_option("--producer-id", help="Producer id to show; repeatable."),
        running_longer_than_ms=duration_option(
            "--running-longer-than", help="Minimum age of open transactions, e.g. 15m.", rich_help_panel=FILTER
        ),
        pattern=filter_option(
            "--transactional-id-pattern", metavar="REGEX", help="Regular expression that ids must match."
        ),
        open_only=filter_option("--open", help="Show only open transactions."),
    ),
]


def list_transactions(
    invocation: Invocation,
    request: TransactionsOptions,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """List transactions, the oldest open ones first.

    Asks all transaction coordinators. Brokers filter by state, producer id, and duration where their release supports
    it; the filters are also applied to the result.

    Examples:
        eosctl txn list -b kafka-1:9092
        eosctl txn list -b kafka-1:9092 --open --running-longer-than 15m
        eosctl txn list -b kafka-1:9092 --state Ongoing -o json
    """
    snapshot, found = perform(read_transactions, request, invocation)
    text = render_transactions(snapshot, found, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, complete=require_complete)
