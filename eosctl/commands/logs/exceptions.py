"""``eosctl logs exceptions``: when which exception was thrown, and how often."""

from __future__ import annotations

import typer

from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.logs.engine import Engine, Pattern, Zone
from eosctl.commands.logs.places import Paths
from eosctl.commands.options import Output, OutputFile
from eosctl.commands.session import callbacks
from eosctl.errors import ExitCode
from eosctl.render.formats import OutputFormat
from eosctl.services.log_engine import EngineChoice


def count_exceptions(
    context: typer.Context,
    paths: Paths,
    zone: Zone = None,
    pattern: Pattern = None,
    engine: Engine = EngineChoice.AUTO,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Count stack traces by minute, class, root cause, application and host: the fast look at a lot of logs.

    Exit codes: 0 done, 2 usage, 4 a file could not be read to its end.
    """
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.logs.exceptions import EXCEPTION_COLUMNS, exception_item
    from eosctl.services.count_exceptions import ExceptionsRequest
    from eosctl.services.count_exceptions import count_exceptions as count_in

    invocation = invocation_of(context)
    with callbacks(invocation.now_ms) as shown:
        counted = count_in(ExceptionsRequest(tuple(paths), zone, pattern, engine), shown)
    for name, reason in counted.unread.items():
        note(f"not read to its end: {name}: {reason}")
    items = tuple(exception_item(*one.key, one.event_count, one.file, one.offset) for one in counted.counts)
    result = listing("log-exceptions", "logs exceptions", invocation.now_ms(), items)
    text = render_listing(result, EXCEPTION_COLUMNS, output, invocation.style(), empty="No stack traces.")
    write_result(text, output_file)
    raise typer.Exit(ExitCode.INCOMPLETE if counted.unread else 0)
