"""``eosctl txn blame`` and ``eosctl fencing explain``: who took a transactional id from whom, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import options
from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import ConnectionOptions, ResultOptions, SnapshotFile
from eosctl.commands.session import perform
from eosctl.render.transactions.blame import render_blame
from eosctl.services.blame import BlameRequest
from eosctl.services.blame import blame as find_blame

BlameOptions = Annotated[
    BlameRequest,
    options(
        name=typer.Argument(
            metavar="TRANSACTIONAL-ID|PRODUCER-ID", help="Transactional id, or one of its producer ids."
        ),
        connection=ConnectionOptions,
        snapshot_file=SnapshotFile,
        data_dirs=typer.Option(
            "--data-dir", metavar="DIR", help="Directory to read the transaction log from; repeatable."
        ),
        logs=typer.Option(
            "--logs", metavar="PATH", help="Logs of applications and brokers, to identify the processes."
        ),
    ),
]


def blame(
    invocation: Invocation,
    request: BlameOptions,
    last: Annotated[int, typer.Option("--last", min=0, help="Number of recent steps to show.")] = 20,
    *,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Show who fenced a transactional id, and why.

    Reads the transaction log, live or from files, and logs. Each change of ownership gets a verdict: a newer instance,
    a timeout, an administrator, the client's own recovery, expiration, a moved Streams task, two applications with one
    id, or a stale offset read after a takeover.

    Examples:
        eosctl txn blame payment-service -b kafka-1:9092
        eosctl txn blame payment-service --data-dir data/ --logs payment.log
    """
    found = perform(find_blame, request, invocation)
    text = render_blame(found.blame, last, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, found.gaps, complete=require_complete)
