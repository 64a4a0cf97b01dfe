"""``eosctl txn list``, ``describe``, and ``producers``: what coordinators and partition leaders know."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import options
from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import (
    FILTER,
    ConnectionOptions,
    EvidenceOptions,
    ResultOptions,
    SnapshotFile,
    duration_option,
    filter_option,
)
from eosctl.commands.session import perform
from eosctl.render.transactions.life import render_lives
from eosctl.render.transactions.listing import render_transactions
from eosctl.render.transactions.producers import render_producers
from eosctl.services import transactions as service

TransactionsOptions = Annotated[
    service.TransactionsRequest,
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
    snapshot, found = perform(service.list_transactions, request, invocation)
    text = render_transactions(snapshot, found, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, complete=require_complete)


def describe_transactions(
    invocation: Invocation,
    ids: Annotated[list[str], typer.Argument(metavar="TRANSACTIONAL-ID...", help="Transactional ids to describe.")],
    evidence: EvidenceOptions,
    history: Annotated[
        int, typer.Option("--last", min=0, help="Number of records of the transaction log to show.")
    ] = 20,
    *,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Show transactional ids in detail.

    Shows the state, the producers on each partition, and the last records in the transaction log. Exit code 2 when an
    id is unknown; the other ids are shown anyway.

    Examples:
        eosctl txn describe payment-service -b kafka-1:9092
        eosctl txn describe payments-a payments-b -b kafka-1:9092 --last 50
    """
    connection, snapshot_file = evidence.cluster.connection, evidence.snapshot
    request = service.LivesRequest(tuple(ids), connection, snapshot_file, history, require_complete)
    snapshot, lives, error = perform(service.describe_transactions, request, invocation)
    text = render_lives(snapshot, lives, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, complete=require_complete, error=error)


ProducersOptions = Annotated[
    service.ProducersRequest,
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
    invocation: Invocation, request: ProducersOptions, result: ResultOptions, require_complete: RequireComplete = False
) -> None:
    """List the producers of partitions.

    Shows the producer state of each partition leader and the transactional id behind each producer.

    Examples:
        eosctl txn producers --topic orders -b kafka-1:9092
        eosctl txn producers --topic orders --partition 2 --open -b kafka-1:9092
    """
    snapshot, found = perform(service.list_producers, request, invocation)
    text = render_producers(snapshot, found, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, snapshot.gaps, complete=require_complete)
