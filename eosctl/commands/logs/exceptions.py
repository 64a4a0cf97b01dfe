"""``eosctl logs exceptions``: when which exception was thrown, and how often."""

from __future__ import annotations

from eosctl.command_line.invocation import Invocation, note
from eosctl.commands.emit import emit
from eosctl.commands.logs.options import Paths, ReadingOptions
from eosctl.commands.options import ResultOptions
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.logs.exceptions import render_exceptions
from eosctl.services import count_exceptions as service


def count_exceptions(invocation: Invocation, paths: Paths, reading: ReadingOptions, result: ResultOptions) -> None:
    """Count stack traces in logs.

    Counts by minute, class, root cause, application, and host. This is the fastest overview of many logs.

    Exit codes: 0 done, 2 bad input, 4 a file was not read to its end, or no record in it was recognized.

    Examples:
        eosctl logs exceptions /var/log/kafka
        kubectl logs payment-0 | eosctl logs exceptions -
    """
    counted = perform(service.count_exceptions, service.ExceptionsRequest(tuple(paths), *reading), invocation)
    for name, reason in counted.unread.items():
        note(f"not counted in full: {name}: {reason}")
    text = render_exceptions(
        counted.counts, invocation.now_ms(), result.output, invocation.style(), is_complete=not counted.unread
    )
    emit(text, result, code=ExitCode.INCOMPLETE if counted.unread else ExitCode.DONE)
