"""``eosctl timeline``: an incident as lanes over time."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer
from msgspec.structs import replace

from eosctl.command_line.invocation import Invocation, note, remember_output, write_file, write_result
from eosctl.command_line.option_groups import options
from eosctl.command_line.values import parse_moment_ms, parse_partition
from eosctl.commands.gate import RequireComplete
from eosctl.commands.options import ConnectionOptions, OutputFile, SnapshotFile, output_option
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.transactions.timeline import TimelineFormat, render_timeline
from eosctl.services.timeline import TimelineRequest, make_timeline

FOCUS: Final = "Focus"
_focus = partial(typer.Option, rich_help_panel=FOCUS)


TimelineOptions = Annotated[
    TimelineRequest,
    options(
        transactional_id=_focus("--transactional-id", metavar="ID", help="Transactional id."),
        group_id=_focus("--group", metavar="GROUP", help="Consumer group."),
        connection=ConnectionOptions,
        snapshot_file=SnapshotFile,
        data_dirs=typer.Option(
            "--data-dir", metavar="DIR", help="Data directory to read instead of a cluster; repeatable."
        ),
        logs=typer.Option("--logs", metavar="PATH", help="Logs to merge; repeatable."),
    ),
]


def timeline(
    invocation: Invocation,
    request: TimelineOptions,
    partition: Annotated[
        str | None, _focus("--topic-partition", metavar="TOPIC-PARTITION", help="Partition, e.g. orders-2.")
    ] = None,
    begin: Annotated[
        str | None,
        _focus(
            "--from", metavar="TIME", help="Start of the time range: RFC 3339, epoch milliseconds, or relative (-30m)."
        ),
    ] = None,
    end: Annotated[str | None, _focus("--to", metavar="TIME", help="End of the time range, in the same form.")] = None,
    *,
    output: Annotated[
        TimelineFormat, output_option("--output", "-o", callback=remember_output, help="Format of the result.")
    ] = TimelineFormat.TABLE,
    output_file: OutputFile = None,
    require_complete: RequireComplete = False,
) -> None:
    """Merge all evidence about an id into one timeline.

    Combines the transaction log, batches, group commits, and logs. Each actor has its own lane. Select a transactional
    id, a partition, a group, or a time range. With -o html, the timeline is a page.

    Examples:
        eosctl timeline --transactional-id payment-service -b kafka-1:9092
        eosctl timeline --topic-partition orders-2 --from -30m -b kafka-1:9092
        eosctl timeline --transactional-id payments --data-dir data/ --logs app.log -o html --output-file t.html
    """
    now_ms = invocation.now_ms()
    request = replace(
        request,
        partition=parse_partition(partition),
        from_ms=parse_moment_ms(begin, "--from", now_ms),
        until_ms=parse_moment_ms(end, "--to", now_ms),
    )
    found, is_incomplete = perform(make_timeline, request, invocation)
    text = render_timeline(found, invocation.now_ms(), output, invocation.style())
    if output is TimelineFormat.HTML and output_file is not None:
        write_file(text, output_file)
        note(f"page: {output_file}")
    else:
        write_result(text, output_file)
    raise typer.Exit(ExitCode.INCOMPLETE if require_complete and is_incomplete else ExitCode.DONE)
