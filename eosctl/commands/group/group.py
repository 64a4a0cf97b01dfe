"""``eosctl group``: what consumer groups really have before them, and which of their offsets transactions hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Final

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
)
from eosctl.commands.session import load_or_capture
from eosctl.errors import ExitCode, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.model.group_commit import StaleOffset
    from eosctl.model.hang import HangVerdict
    from eosctl.model.snapshot import ClusterSnapshot


_ALL_OPEN: Final = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.TRANSACTION_HISTORY,
        EvidenceKind.OFFSETS,
        EvidenceKind.BROKER_CONFIGS,
        EvidenceKind.GROUPS,
        EvidenceKind.GROUP_OFFSETS,
    }
)
LAGGING: Final = _ALL_OPEN | {EvidenceKind.READABLE_RECORDS}
PENDING: Final = _ALL_OPEN | {EvidenceKind.PENDING_OFFSETS}

Groups = Annotated[list[str] | None, typer.Argument(metavar="GROUP...", help="Only these groups; default is all.")]


def show_lag(
    context: typer.Context,
    groups: Groups = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    snapshot: SnapshotFile = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
    require_complete: RequireComplete = False,
) -> None:
    """Show the lag of groups as a read_committed reader has it: readable, blocked by which transaction, overhead.

    LAG is what other tools show, in offsets. READABLE are records that the group will be given; ABORTED and MARKERS
    are skipped; BLOCKED offsets lie behind the last stable offset. Exit code 3 when a group is blocked by a
    transaction that hangs, is stalled, or is past its timeout.
    """
    from eosctl.analysis.hanging import classify_open_transactions
    from eosctl.analysis.lag import measure_lag
    from eosctl.collect.transactions import TransactionQuery
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.transactions.lag import LAG_COLUMNS, lag_item, render_holders
    from eosctl.services.hanging import EXPLAINED, NEEDS_ACTION

    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    evidence = load_or_capture(
        connection,
        snapshot,
        LAGGING,
        now_ms=invocation.now_ms,
        second_look_after_ms=second_look_after,
        query=TransactionQuery(describe_idle=False),
        explaining=EXPLAINED,
    )
    _check_known(evidence, groups or ())
    lags = measure_lag(evidence, classify_open_transactions(evidence), groups or ())
    result = listing("group-lag", "group lag", invocation.now_ms(), tuple(lag_item(lag) for lag in lags), evidence)
    text = render_listing(result, LAG_COLUMNS, output, invocation.style(), empty="No group has committed an offset.")
    holders = _each_once(lag.blocked_by for lag in lags if lag.blocked_by is not None)
    if output in FOR_PEOPLE:
        text += render_holders(holders, invocation.style())
    write_result(text, output_file)
    note_gaps(output, evidence.gaps)
    if any(verdict.status in NEEDS_ACTION for verdict in holders):
        raise typer.Exit(ExitCode.FINDINGS)
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and evidence.gaps else 0)


def show_pending(
    context: typer.Context,
    groups: Groups = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    snapshot: SnapshotFile = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
    require_complete: RequireComplete = False,
) -> None:
    """Show offsets that open transactions hold (UNSTABLE_OFFSET_COMMIT), and which transaction holds each.

    A group with such an offset cannot start reading that partition before the transaction ends. On a live cluster the
    coordinators' answers are held against the log of __consumer_offsets as well: an offset of which the two say
    different things is named (KAFKA-17507). Exit code 3 then, and when a transaction will not end by itself or is late.
    """
    from msgspec.structs import replace

    from eosctl.analysis.hanging import classify_open_transactions
    from eosctl.analysis.lag import find_pins
    from eosctl.collect.transactions import TransactionQuery
    from eosctl.commands.group.stale import find_stale
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.transactions.lag import PIN_COLUMNS, pin_item, render_holders, render_stale, stale_item
    from eosctl.services.hanging import EXPLAINED, NEEDS_ACTION

    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    evidence = load_or_capture(
        connection,
        snapshot,
        PENDING,
        now_ms=invocation.now_ms,
        second_look_after_ms=second_look_after,
        query=TransactionQuery(describe_idle=False),
        explaining=EXPLAINED,
    )
    _check_known(evidence, groups or ())
    pins = find_pins(evidence, classify_open_transactions(evidence), groups or ())
    stale: tuple[StaleOffset, ...] = ()
    if snapshot is None:
        stale, gaps = find_stale(connection, evidence, groups or ())
        evidence = replace(evidence, gaps=tuple(dict.fromkeys((*evidence.gaps, *gaps))))
    items = (*(pin_item(pin) for pin in pins), *(stale_item(offset) for offset in stale))
    result = listing("group-pending", "group pending", invocation.now_ms(), items, evidence)
    text = render_listing(result, PIN_COLUMNS, output, invocation.style(), empty="No offset is held by a transaction.")
    holders = _each_once(verdict for pin in pins for verdict in pin.holders)
    if output in FOR_PEOPLE:
        text += render_holders(holders, invocation.style()) + render_stale(stale, invocation.style())
    write_result(text, output_file)
    note_gaps(output, evidence.gaps)
    if stale or any(verdict.status in NEEDS_ACTION for verdict in holders):
        raise typer.Exit(ExitCode.FINDINGS)
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and evidence.gaps else 0)


def _each_once(verdicts: Iterable[HangVerdict]) -> list[HangVerdict]:
    places = {(v.transaction.partition, v.transaction.producer_id): v for v in verdicts}
    return [places[place] for place in sorted(places)]


def _check_known(evidence: ClusterSnapshot, groups: Sequence[str]) -> None:
    known = {group.group_id for group in evidence.groups} | {pending.group_id for pending in evidence.pending_offsets}
    missing = [group for group in groups if group not in known]
    if missing and not any(gap.kind is EvidenceKind.GROUPS for gap in evidence.gaps):
        raise UsageError(
            f"There is no group {', '.join(missing)}.",
            "No coordinator lists it: it never committed, expired, or this principal may not describe it.",
            "Check the name; eosctl group lag without names shows all.",
        )
