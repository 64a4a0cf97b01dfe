"""``eosctl decode segment``: the batches and records of logs, from files or from a cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from typing import Annotated, NamedTuple

import typer

from eosctl.command_line.invocation import Invocation, note, write_remark
from eosctl.command_line.values import parse_bounds, parse_log_position, parse_times
from eosctl.commands.decode.ending import write_and_end
from eosctl.commands.decode.options import Dialect, Form, Keys, Offsets, ProducerIds, Strict, Times, Values
from eosctl.commands.options import ClusterOptions, filter_option
from eosctl.errors import UsageError
from eosctl.model.log_bounds import Only
from eosctl.render.decode.batches import log_writer
from eosctl.render.decode.formats import BytesForm, DecodeFormat, KafkaDialect
from eosctl.render.decode.summary_text import render_summary
from eosctl.services.callbacks import Callbacks
from eosctl.services.connection import Connection
from eosctl.services.decode_input import DamageLog, Source, is_segment, sources
from eosctl.services.decode_logs import dump_logs, select_records, stream_logs, summarize

LIVE = "From a cluster"
_live_option = partial(typer.Option, rich_help_panel=LIVE)


class LiveOptions(NamedTuple):
    """The options that name what to read of a cluster."""

    topic: Annotated[str | None, _live_option("--topic", help="Topic to read from a cluster.")] = None
    partitions: Annotated[
        list[int] | None, _live_option("--partition", min=0, help="Partition to read; repeatable.")
    ] = None
    begin: Annotated[
        str | None,
        _live_option(
            "--from", metavar="OFFSET|@TIME", help="Start of the range: 1200, @-1h, or @2026-11-21T09:00:00Z."
        ),
    ] = None
    max_bytes: Annotated[
        int, _live_option("--max-bytes", min=1, help="Maximum number of bytes to fetch from a partition.")
    ] = 256 << 20


def decode_segment(
    invocation: Invocation,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE|DIR|PATTERN...", help="Files to decode; - is standard input; none with --topic."),
    ] = None,
    *,
    live: LiveOptions,
    cluster: ClusterOptions,
    records: Annotated[bool, typer.Option("--records", "-r", help="Show the records of each batch as well.")] = False,
    summary: Annotated[bool, typer.Option("--summary", help="Show only totals.")] = False,
    outcomes: Annotated[
        bool, typer.Option("--outcomes", help="Show whether each batch was committed or aborted.")
    ] = False,
    producer_ids: ProducerIds = None,
    offsets: Offsets = None,
    times: Times = None,
    only: Annotated[Only | None, filter_option("--only", help="Kind of batches to show.")] = None,
    keys: Keys = BytesForm.UTF8,
    values: Values = BytesForm.UTF8,
    strict: Strict = False,
    output: Form = DecodeFormat.TABLE,
    dialect: Dialect = KafkaDialect.KAFKA_4_3,
) -> None:
    """Decode log segments, or a topic of a cluster.

    Prints the batches of .log files, and with --records their records. With --topic, the partitions of a topic are
    fetched from a cluster. Damage is reported on standard error with file and byte position, decoding continues with
    the next valid batch, and the exit code is 1.

    Examples:
        eosctl decode segment /var/lib/kafka/orders-0/00000000000000000000.log --records
        eosctl decode segment data/orders-0 --only control -o json
        eosctl decode segment --topic orders --partition 2 --from @-1h -b kafka-1:9092
    """
    selection = select_records(producer_ids or (), parse_bounds(offsets, "--offset"), parse_times(times), only)
    damage = DamageLog(note, strict=strict)
    with _opened(files, live, cluster.connection, invocation) as found:
        if summary:
            write_and_end([render_summary(len(found), summarize(found, selection, damage), output)], damage)
        if output is DecodeFormat.KAFKA:
            from eosctl.render.decode.kafka_text import dump_writer  # only this format decodes all records

            write_and_end(dump_logs(found, damage, dump_writer(dialect), write_remark, deep=records), damage)
        writer, needs = log_writer(output, keys, values), outcomes or selection.needs_outcomes
        write_and_end(stream_logs(found, selection, writer, damage, deep=records, with_outcomes=needs), damage)


def _opened(
    files: list[str] | None, live: LiveOptions, connection: Connection, invocation: Invocation
) -> AbstractContextManager[list[Source]]:
    if live.topic is None:
        if connection.is_given or live.begin is not None:
            raise UsageError("A cluster was named without a topic.", "Files need no cluster.", "Add --topic NAME.")
        if not files:
            raise UsageError("Nothing to decode was named.", "", "Name files, or a topic of a cluster with --topic.")
        return sources(files, is_segment)
    if files:
        raise UsageError("Files and --topic were both given.", "One of them is decoded.", "Leave one of them out.")
    from eosctl.services.decode_live import LiveRequest, fetched  # a client, which files do not need

    from_offset, from_ms = parse_log_position(live.begin, invocation.now_ms())
    request = LiveRequest(
        connection,
        live.topic,
        tuple(live.partitions or ()),
        from_offset=from_offset,
        from_ms=from_ms,
        max_bytes=live.max_bytes,
    )
    return fetched(request, Callbacks(invocation.now_ms, note))
