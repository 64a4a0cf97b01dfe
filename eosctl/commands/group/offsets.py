"""``eosctl group lag`` and ``group pending``: what groups have before them, and which offsets transactions hold."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import LooksOptions, ResultOptions
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.transactions.lag import render_lags, render_pending
from eosctl.services.groups import GroupsRequest, find_pending_offsets, measure_groups

Groups = Annotated[list[str] | None, typer.Argument(metavar="GROUP...", help="Groups to show; all by default.")]


def show_lag(
    invocation: Invocation,
    groups: Groups = None,
    *,
    looks: LooksOptions,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Show the lag of groups as read_committed readers see it.

    LAG is the lag in offsets that other tools show. READABLE counts the records that the group will receive. ABORTED
    and MARKERS are skipped by the reader. BLOCKED counts offsets behind the last stable offset. Exit code 3 when a
    group is blocked by a transaction that hangs, is stalled, or is past its timeout.

    Examples:
        eosctl group lag -b kafka-1:9092
        eosctl group lag billing -b kafka-1:9092 -o json
    """
    found = perform(measure_groups, requested(groups, looks), invocation)
    measured = (found.lags, found.holders, found.first_pins)
    text = render_lags(found.snapshot, *measured, invocation.now_ms(), result.output, invocation.style())
    code = ExitCode.FINDINGS if found.needs_action else ExitCode.DONE
    emit(text, result, found.snapshot.gaps, code, complete=require_complete)


def show_pending(
    invocation: Invocation,
    groups: Groups = None,
    *,
    looks: LooksOptions,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Show offset commits of open transactions.

    Lists offsets in state UNSTABLE_OFFSET_COMMIT and the transaction that holds each. A group with such an offset
    cannot read that partition until the transaction ends. On a live cluster, the coordinators' answers are compared
    with the `__consumer_offsets` log, and differences are reported (KAFKA-17507). Exit code 3 on a difference, and when
    a transaction is late or will not end without help.

    Examples:
        eosctl group pending -b kafka-1:9092
        eosctl group pending billing -b kafka-1:9092
    """
    found = perform(find_pending_offsets, requested(groups, looks), invocation)
    held = (found.pins, found.holders, found.stale)
    text = render_pending(found.snapshot, *held, invocation.now_ms(), result.output, invocation.style())
    code = ExitCode.FINDINGS if found.needs_action else ExitCode.DONE
    emit(text, result, found.snapshot.gaps, code, complete=require_complete)


def requested(groups: list[str] | None, looks: LooksOptions) -> GroupsRequest:
    """Return the request for groups with the options of a command."""
    return GroupsRequest(tuple(groups or ()), looks.cluster.connection, looks.snapshot, looks.second_look_after)
