"""``eosctl top``: open and hanging transactions in a live view."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from typing import Annotated

import typer

from eosctl.command_line.incomplete import end_reading
from eosctl.command_line.invocation import Invocation, note, write_error, write_result
from eosctl.command_line.next_command import connected_steps, with_connection
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    ClusterOptions,
    Count,
    Output,
    SecondLookAfter,
    check_format,
    duration_option,
)
from eosctl.errors import EosctlError, ExitCode
from eosctl.model.plan import MarkerOutcome, MarkerPlan
from eosctl.model.transaction_life import WatchedTransaction
from eosctl.render.formats import OutputFormat
from eosctl.render.live import frames, row_count
from eosctl.render.page import Style
from eosctl.render.reference import render_explanations
from eosctl.render.top.board import HEAD_LINES, ROWS_WITHOUT_TERMINAL, Confirm, render_board
from eosctl.render.transactions.plan import before_question, render_marker
from eosctl.render.transactions.watch import render_look
from eosctl.services.callbacks import Callbacks
from eosctl.services.change_transaction import Dialog, Terms, abort_transaction, target_of
from eosctl.services.explain import answer
from eosctl.services.watch_transactions import TransactionWatchRequest, keep_watching, watch_transactions


def top(
    invocation: Invocation,
    interval: Annotated[int | None, duration_option("--interval", help="Time between two readings.")] = None,
    count: Count = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Never offer the abort of a transaction.")] = False,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    *,
    cluster: ClusterOptions,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show open transactions in a live view.

    Lists open and hanging transactions, the worst and oldest first, with partitions, hidden offsets, and the groups
    that wait. What could not be read is shown above the list. Enter describes a transaction, e explains its verdict,
    / filters, and a plans the abort of a hanging one: nothing is written before its partition is typed.

    Without an --interval, it reads every 5 s, at high cost each minute; r reads now. Keys need Textual
    (pip install 'eosctl[top]'); without it, a terminal, or with --count, it prints readings; 4 if the last has gaps.

    Examples:
        eosctl top -b kafka-1:9092
        eosctl top --profile prod --read-only
        eosctl top -b kafka-1:9092 --count 1 -o json
    """
    check_format("top", output)
    request = TransactionWatchRequest(cluster.connection, interval, count, 0, second_look_after_ms=second_look_after)
    is_plain = count is not None or output is OutputFormat.JSON or not sys.stdout.isatty()
    if not is_plain and find_spec("textual") is not None:
        from eosctl.render.top.app import TopActions, TopApp

        watch = partial(keep_watching, request, callbacks=Callbacks(invocation.now_ms))
        terms = Terms(cluster.connection, second_look_after_ms=second_look_after)
        abort = None if read_only else partial(_abort, terms, invocation)
        actions = TopActions(watch, abort, partial(_explain, invocation.cluster), invocation.now_ms)
        raise typer.Exit(ExitCode.INTERRUPTED if TopApp(actions).show() else ExitCode.DONE)
    if not is_plain:
        note("Textual is not installed, so no keys work. Install it with: pip install 'eosctl[top]'")
    with frames(output, write_result) as show:
        last = watch_transactions(
            request,
            lambda moments: show(
                render_look(moments, output)
                if output is OutputFormat.JSON
                else render_board(moments[-1], row_count(HEAD_LINES, ROWS_WITHOUT_TERMINAL), invocation.style())
            ),
            Callbacks(invocation.now_ms, note, report_error=write_error),
        )
    end_reading(last.gaps)


def _explain(typed: Mapping[str, str], check_id: str, style: Style) -> str:
    found = answer(check_id)
    return render_explanations(connected_steps(found.explanations, typed), found.pasted.values, style)


def _abort(terms: Terms, invocation: Invocation, one: WatchedTransaction, confirm: Confirm, style: Style) -> str:
    """Carry out `txn abort` for a row, with the view as its dialog."""
    (where, *_), now_ms = one.partitions, invocation.now_ms()

    def shown(plan: MarkerPlan, official: str, outcome: MarkerOutcome | None) -> str:
        return before_question(render_marker("txn abort", plan, official, outcome, now_ms, OutputFormat.TABLE, style))

    dialog = Dialog[MarkerPlan](lambda plan, official, target: confirm(shown(plan, official, None), target))
    target = target_of(where.topic, where.partition, one.producer_id, one.first_offset)
    try:
        changed = abort_transaction(target, terms, dialog, Callbacks(invocation.now_ms))
    except EosctlError as error:
        raise with_connection(error, invocation.cluster) from None
    return shown(changed.plan, changed.official, changed.outcome)
