"""``eosctl txn``: transactions as coordinators and partition leaders see them, and what can be done about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.gate import RequireComplete
from eosctl.commands.incomplete import note_gaps
from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    Bootstrap,
    CommandConfig,
    Output,
    OutputFile,
    Overrides,
    Profile,
    SecondLookAfter,
    SnapshotFile,
    Timeout,
    parse_duration_ms,
)
from eosctl.commands.session import load_or_capture
from eosctl.errors import EosctlError, EvidenceIncomplete, ExitCode, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

FILTER = "Filter"


def list_transactions(
    context: typer.Context,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    snapshot: SnapshotFile = None,
    states: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE", help="Only this state; repeatable.", rich_help_panel=FILTER),
    ] = None,
    producer_ids: Annotated[
        list[int] | None,
        typer.Option("--producer-id", help="Only this producer id; repeatable.", rich_help_panel=FILTER),
    ] = None,
    running_longer_than: Annotated[
        int | None,
        typer.Option(
            "--running-longer-than",
            metavar="DURATION",
            parser=parse_duration_ms,
            help="Only transactions that have been open for longer, e.g. 15m.",
            rich_help_panel=FILTER,
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option("--pattern", metavar="REGEX", help="Only ids that match.", rich_help_panel=FILTER),
    ] = None,
    open_only: Annotated[
        bool, typer.Option("--open", help="Only transactions that are open.", rich_help_panel=FILTER)
    ] = False,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
    require_complete: RequireComplete = False,
) -> None:
    """List the transactions of all coordinators, open ones first, the oldest at the top.

    Brokers filter by state, producer id and duration where they can; the filters are applied to their answer as well.
    """
    from eosctl.analysis.lifetime import classify_transactions
    from eosctl.collect.transactions import TransactionQuery
    from eosctl.commands.txn.evidence import LATENESS, LISTED
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.transactions.listing import TRANSACTION_COLUMNS, TransactionItem, transaction_items

    invocation = invocation_of(context)
    matches = _compile(pattern)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    wanted = _states(states or (), open_only=open_only or running_longer_than is not None)
    query = TransactionQuery(wanted, tuple(producer_ids or ()), running_longer_than)
    evidence = load_or_capture(
        connection,
        snapshot,
        LISTED,
        now_ms=invocation.now_ms,
        second_look_after_ms=0,
        query=query,
        explaining=LATENESS,
    )

    def is_wanted(item: TransactionItem) -> bool:
        return (
            (not wanted or item.state in wanted)
            and (not producer_ids or item.producer_id in producer_ids)
            and (matches is None or matches.search(item.transactional_id) is not None)
            and (running_longer_than is None or (item.age_ms or 0) > running_longer_than)
        )

    items = transaction_items(evidence, classify_transactions(evidence))
    chosen = tuple(item for item in items if is_wanted(item))
    result = listing("transactions", "txn list", invocation.now_ms(), chosen, evidence)
    text = render_listing(result, TRANSACTION_COLUMNS, output, invocation.style(), empty="No transactions.")
    write_result(text, output_file)
    note_gaps(output, evidence.gaps)
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and evidence.gaps else 0)


def describe_transactions(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(metavar="TRANSACTIONAL-ID...", help="The ids to describe.")],
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    snapshot: SnapshotFile = None,
    history: Annotated[
        int, typer.Option("--history", min=0, help="How many of the last records of the transaction log to show.")
    ] = 20,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
    require_complete: RequireComplete = False,
) -> None:
    """Show transactional ids in full: state, producers on their partitions, last steps in the transaction log.

    Exit code 1 when one of the ids is unknown; the others are shown all the same.
    """
    from eosctl.analysis.lifetime import classify_transactions
    from eosctl.analysis.locate import locate_transactional_id
    from eosctl.analysis.state_log import history_by_id
    from eosctl.commands.txn.evidence import DESCRIBED
    from eosctl.render.envelope import listing
    from eosctl.render.listing import Column, render_listing
    from eosctl.render.transactions.life import LifeItem, producer_items, render_lives, step_item
    from eosctl.render.transactions.listing import transaction_items

    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    evidence = load_or_capture(connection, snapshot, DESCRIBED, now_ms=invocation.now_ms, second_look_after_ms=500)
    known = {item.transactional_id: item for item in transaction_items(evidence, classify_transactions(evidence))}
    records = history_by_id(evidence)
    lives = []
    for transactional_id in dict.fromkeys(ids):
        if transactional_id not in known:
            continue
        home = locate_transactional_id(evidence, transactional_id)
        item = known[transactional_id]
        last = records.get(transactional_id, ())
        lives.append(
            LifeItem(
                transaction=item,
                log_partition=None if home is None else home.partition.partition,
                producers=producer_items(evidence.producers, item.producer_id),
                history=tuple(step_item(entry) for entry in last[max(0, len(last) - history) :]),
            )
        )
    result = listing("transaction-lives", "txn describe", invocation.now_ms(), tuple(lives), evidence)
    if output in (OutputFormat.TABLE, OutputFormat.WIDE):
        write_result(render_lives(lives, invocation.style()), output_file)
    else:
        columns = (
            Column[LifeItem]("TRANSACTIONAL-ID", lambda life: life.transaction.transactional_id),
            Column[LifeItem]("STATE", lambda life: life.transaction.state),
            Column[LifeItem]("PRODUCER-ID", lambda life: str(life.transaction.producer_id)),
            Column[LifeItem]("EPOCH", lambda life: str(life.transaction.producer_epoch)),
        )
        write_result(render_listing(result, columns, output), output_file)
    note_gaps(output, evidence.gaps)
    missing = [transactional_id for transactional_id in ids if transactional_id not in known]
    unheard = [gap for gap in evidence.gaps if gap.kind is EvidenceKind.TRANSACTIONS]
    if missing and unheard:
        error = EvidenceIncomplete if require_complete else EosctlError
        raise error(
            f"The list of transactional ids is incomplete, so {', '.join(missing)} cannot be described.",
            "; ".join(f"{gap.subject}: {gap.error or gap.reason.value}" for gap in unheard),
            unheard[0].next_step,
        )
    if missing:
        raise EosctlError(
            f"Unknown transactional id: {', '.join(missing)}.",
            "No coordinator knows it: it never existed, it expired, or this principal may not describe it.",
            "List the known ones: eosctl txn list",
        )
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and evidence.gaps else 0)


def hanging_transactions(
    context: typer.Context,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,  # type: ignore[assignment]
    snapshot: SnapshotFile = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Also transactions that are open and well.", rich_help_panel=FILTER)
    ] = False,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
    require_complete: RequireComplete = False,
) -> None:
    """Find transactions that hold readers back, with cause, evidence and blast radius.

    Every open producer on every partition leader is compared with what the coordinators know, twice. Exit code 3 when
    one hangs, is stalled, or is past its timeout.
    """
    from eosctl.analysis.bootstrap import bootstrap_of
    from eosctl.analysis.hanging import classify_open_transactions
    from eosctl.collect.transactions import TransactionQuery
    from eosctl.commands.txn.evidence import EXPLAINED, JUDGED, NEEDS_ACTION, NOT_WORTH_A_LOOK, WEIGHED
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.transactions.hanging import render_verdicts
    from eosctl.render.transactions.listing import HANG_COLUMNS, hang_items

    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    evidence = load_or_capture(
        connection,
        snapshot,
        JUDGED,
        now_ms=invocation.now_ms,
        second_look_after_ms=second_look_after,
        query=TransactionQuery(describe_idle=False),
        explaining=EXPLAINED,
        describing=frozenset() if show_all else WEIGHED,
    )
    verdicts = classify_open_transactions(evidence)
    shown = [verdict for verdict in verdicts if show_all or verdict.status not in NOT_WORTH_A_LOOK]
    shown.sort(key=lambda verdict: (verdict.status not in NEEDS_ACTION, -(verdict.transaction.age_ms or 0)))
    result = listing("open-transactions", "txn hanging", invocation.now_ms(), hang_items(shown), evidence)
    empty = "No open transactions." if show_all else "Nothing hangs."
    text = render_listing(result, HANG_COLUMNS, output, invocation.style(), empty=empty)
    if output in FOR_PEOPLE:
        text += render_verdicts(shown, bootstrap_of(evidence), invocation.style())
    write_result(text, output_file)
    note_gaps(output, evidence.gaps)
    if any(verdict.status in NEEDS_ACTION for verdict in verdicts):
        raise typer.Exit(ExitCode.FINDINGS)
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and evidence.gaps else 0)


def producers(
    context: typer.Context,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    snapshot: SnapshotFile = None,
    topic: Annotated[
        str | None, typer.Option("--topic", help="Only this topic; default is all.", rich_help_panel=FILTER)
    ] = None,
    partition: Annotated[
        int | None, typer.Option("--partition", min=0, help="Only this partition.", rich_help_panel=FILTER)
    ] = None,
    producer_id: Annotated[
        int | None, typer.Option("--producer-id", help="Only this producer id.", rich_help_panel=FILTER)
    ] = None,
    open_only: Annotated[
        bool, typer.Option("--open", help="Only producers with an open transaction.", rich_help_panel=FILTER)
    ] = False,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
    require_complete: RequireComplete = False,
) -> None:
    """List the producers of partitions as their leaders know them, with the transactional id behind each."""
    from eosctl.analysis.partitions import require_partition, require_topic
    from eosctl.commands.txn.evidence import PRODUCERS
    from eosctl.model.transaction import TopicPartition
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.transactions.producers import PRODUCER_COLUMNS, producer_rows

    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    evidence = load_or_capture(connection, snapshot, PRODUCERS, now_ms=invocation.now_ms, second_look_after_ms=0)
    if topic is not None and partition is not None:
        require_partition(evidence, TopicPartition(topic, partition))
    elif topic is not None:
        require_topic(evidence, topic)
    rows = tuple(
        row
        for row in producer_rows(evidence)
        if topic in (None, row.topic)
        and partition in (None, row.partition)
        and producer_id in (None, row.producer_id)
        and (not open_only or row.open_since_offset is not None)
    )
    result = listing("producers", "txn producers", invocation.now_ms(), rows, evidence)
    write_result(
        render_listing(result, PRODUCER_COLUMNS, output, invocation.style(), empty="No producers."), output_file
    )
    note_gaps(output, evidence.gaps)
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and evidence.gaps else 0)


def _states(names: Sequence[str], *, open_only: bool) -> tuple[str, ...]:
    """Return the states that are meant, as Kafka spells them; none when all are."""
    from eosctl.model.transaction import TransactionState

    known = {state.lower(): state for state in TransactionState}
    unknown = [name for name in names if name.lower() not in known]
    if unknown:
        raise UsageError(
            f"There is no state {unknown[0]}.",
            "",
            f"Choose of: {', '.join(state.value for state in TransactionState)}.",
        )
    chosen = [known[name.lower()] for name in names] or list(TransactionState)
    if not open_only:
        return tuple(state.value for state in chosen) if names else ()
    found = tuple(state.value for state in chosen if state.is_open)
    if not found:
        raise UsageError(
            f"No transaction in state {', '.join(names)} is open.",
            "--open and --running-longer-than are about transactions in Ongoing, PrepareCommit and PrepareAbort.",
            "Leave one of the filters out.",
        )
    return found


def _compile(pattern: str | None) -> re.Pattern[str] | None:
    import re

    if pattern is None:
        return None
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"--pattern {pattern!r} is not a regular expression.", str(error), "Quote it, or mend it."
        ) from error
