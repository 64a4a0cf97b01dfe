"""``eosctl logs exceptions``: when which exception was thrown, and how often."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import typer

from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.logs.engine import Engine, Pattern, Zone
from eosctl.commands.logs.places import Paths
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import ExitCode
from eosctl.render.formats import OutputFormat
from eosctl.services.log_engine import EngineChoice, spark_session, takes_spark
from eosctl.services.log_format import find_zone, layouts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spark_log_analytics.sources import SourceFile
    from spark_log_analytics.traces import ExceptionCount


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
    from eosctl.services.log_places import existing
    from spark_log_analytics.scan import plan_scan

    invocation = invocation_of(context)
    sources, unread = plan_scan(existing(paths), find_zone(zone), layouts_of(pattern))
    unreadable = {one.name: one.reason for one in unread if one.is_failure}
    if takes_spark(engine, paths, note):
        with spark_session(note) as spark:
            from spark_log_analytics.trace_job import exceptions_on_spark

            counts, damaged = exceptions_on_spark(spark, sources)
    else:
        counts, damaged = _count_here(sources)
    for name, reason in (*unreadable.items(), *damaged.items()):
        note(f"not read to its end: {name}: {reason}")
    items = tuple(exception_item(*one.key, one.event_count, one.file, one.offset) for one in counts)
    result = listing("log-exceptions", "logs exceptions", invocation.now_ms(), items)
    text = render_listing(result, EXCEPTION_COLUMNS, output, invocation.style(), empty="No stack traces.")
    write_result(text, output_file)
    raise typer.Exit(ExitCode.INCOMPLETE if unreadable or damaged else 0)


def _count_here(sources: Iterable[SourceFile]) -> tuple[tuple[ExceptionCount, ...], dict[str, str]]:
    from eosctl.render.progress import show_progress
    from spark_log_analytics.scan import place_in_words, plan_splits
    from spark_log_analytics.traces import count_exceptions as count_in
    from spark_log_analytics.traces import merge_counts

    counts: list[ExceptionCount] = []
    damaged: dict[str, str] = {}
    with show_progress() as progress:
        for split in chain.from_iterable(map(plan_splits, sources)):
            progress(place_in_words(split))
            found = count_in(split)
            counts += found.counts
            if found.error:
                damaged[split.source.name] = found.error
    return merge_counts(counts), damaged
