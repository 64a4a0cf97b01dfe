"""``eosctl group lag`` and ``group pending``: what groups have before them, and which offsets transactions hold."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import LooksOptions, ResultOptions
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.transactions.lag import render_lags, render_pending
from eosctl.services.groups import GroupsRequest, find_pending_offsets, measure_groups

Groups = Annotated[list[str] | None, typer.Argument(metavar="GROUP...", help="Only these groups; default is all.")]


def show_lag(
    invocation: Invocation,
    groups: Groups = None,
    *,
    looks: LooksOptions,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Show the lag of groups as a read_committed reader has it: readable, blocked by which transaction, overhead.

    LAG is what other tools show, in offsets. READABLE are records that the group will be given; ABORTED and MARKERS
    are skipped; BLOCKED offsets lie behind the last stable offset. Exit code 3 when a group is blocked by a
    transaction that hangs, is stalled, or is past its timeout.
    """
    found = perform(measure_groups, _request(groups, looks), invocation)
    text = render_lags(
        found.snapshot, found.lags, found.holders, invocation.now_ms(), result.output, invocation.style()
    )
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
    """Show offsets that open transactions hold (UNSTABLE_OFFSET_COMMIT), and which transaction holds each.

    A group with such an offset cannot start reading that partition before the transaction ends. On a live cluster the
    coordinators' answers are held against the log of __consumer_offsets as well: an offset of which the two say
    different things is named (KAFKA-17507). Exit code 3 then, and when a transaction will not end by itself or is late.
    """
    found = perform(find_pending_offsets, _request(groups, looks), invocation)
    held = (found.pins, found.holders, found.stale)
    text = render_pending(found.snapshot, *held, invocation.now_ms(), result.output, invocation.style())
    code = ExitCode.FINDINGS if found.needs_action else ExitCode.DONE
    emit(text, result, found.snapshot.gaps, code, complete=require_complete)


def _request(groups: list[str] | None, looks: LooksOptions) -> GroupsRequest:
    return GroupsRequest(tuple(groups or ()), looks.cluster.connection, looks.snapshot, looks.second_look_after)
