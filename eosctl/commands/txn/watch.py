"""``eosctl txn watch``: open transactions as they come and go."""

from __future__ import annotations

from eosctl.command_line.incomplete import end_reading
from eosctl.command_line.invocation import Invocation, note, write_error, write_result
from eosctl.commands.options import KEPT, ClusterOptions, Count, Interval, Output, check_format
from eosctl.render.formats import OutputFormat
from eosctl.render.live import frames
from eosctl.render.transactions.watch import render_look
from eosctl.services import watch_transactions as service
from eosctl.services.callbacks import Callbacks


def watch_transactions(
    invocation: Invocation,
    interval: Interval = 2_000,
    count: Count = None,
    *,
    cluster: ClusterOptions,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Watch open transactions.

    Shows how many are open, their age, and how far the last stable offset lags. On a terminal, the table is redrawn in
    place; elsewhere, each reading is printed below the previous one. With -o json, each reading is one line. Press
    Ctrl-C to stop. With --count, the exit code is 4 if the last reading was incomplete.

    Examples:
        eosctl txn watch -b kafka-1:9092
        eosctl txn watch -b kafka-1:9092 --interval 10s --count 6 -o json
    """
    check_format("txn watch", output)
    request = service.TransactionWatchRequest(cluster.connection, interval, count, KEPT)
    callbacks = Callbacks(invocation.now_ms, note, report_error=write_error)
    with frames(output, write_result) as show:
        last = service.watch_transactions(
            request, lambda moments: show(render_look(moments, output, invocation.style())), callbacks
        )
    end_reading(last.gaps)
