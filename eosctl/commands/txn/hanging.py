"""``eosctl txn hanging``: open transactions that hold readers back."""

from __future__ import annotations

from typing import Annotated

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import LooksOptions, ResultOptions, filter_option
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.transactions.hanging import render_hanging
from eosctl.services.hanging import HangingRequest, find_hanging


def hanging_transactions(
    invocation: Invocation,
    looks: LooksOptions,
    show_all: Annotated[bool, filter_option("--all", help="Show healthy open transactions as well.")] = False,
    *,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Find transactions that block readers.

    Compares every open producer on every partition leader with the state of its coordinator, twice. Shows cause,
    evidence, and impact. Exit code 3 when a transaction hangs, is stalled, or is past its timeout.

    Examples:
        eosctl txn hanging -b kafka-1:9092
        eosctl txn hanging --snapshot evidence.json -o json
    """
    request = HangingRequest(looks.cluster.connection, looks.snapshot, looks.second_look_after, show_all)
    snapshot, verdicts, needs_action = perform(find_hanging, request, invocation)
    empty = "No open transactions." if show_all else "Nothing hangs."
    text = render_hanging(snapshot, verdicts, invocation.now_ms(), result.output, invocation.style(), empty=empty)
    code = ExitCode.FINDINGS if needs_action else ExitCode.DONE
    emit(text, result, snapshot.gaps, code, complete=require_complete)
