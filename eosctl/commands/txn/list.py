"""``eosctl txn list``: the transactions of all coordinators."""

from __future__ import annotations

from typing import Annotated

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.values import parse_duration_ms
from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import EvidenceOptions, ResultOptions, filter_option
from eosctl.commands.session import perform
from eosctl.render.transactions.listing import render_transactions
from eosctl.services import transactions


def list_transactions(
    invocation: Invocation,
    evidence: EvidenceOptions,
    states: Annotated[
        list[str] | None, filter_option("--state", metavar="STATE", help="State to show; repeatable.")
    ] = None,
    producer_ids: Annotated[
        list[int] | None, filter_option("--producer-id", help="Producer id to show; repeatable.")
    ] = None,
    running_longer_than: Annotated[
        int | None,
        filter_option(
            "--running-longer-than",
            metavar="DURATION",
            parser=parse_duration_ms,
            help="Minimum age of open transactions, e.g. 15m.",
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        filter_option("--transactional-id-pattern", metavar="REGEX", help="Regular expression that ids must match."),
    ] = None,
    open_only: Annotated[bool, filter_option("--open", help="Show only open transactions.")] = False,
    *,
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
    request = transactions.TransactionsRequest(
        connection=evidence.cluster.connection,
        snapshot_file=evidence.snapshot,
        states=tuple(states or ()),
        producer_ids=tuple(producer_ids or ()),
        running_longer_than_ms=running_longer_than,
        pattern=pattern,
        open_only=open_only,
    )
    snapshot, found = perform(transactions.list_transactions, request, invocation)
    text = render_transactions(snapshot, found, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, complete=require_complete)
