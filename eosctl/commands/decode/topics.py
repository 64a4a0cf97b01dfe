"""``eosctl decode txn-log``, ``offsets`` and ``metadata-log``: the internal topics, record by record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eosctl.analysis.decode.selection import Selection
from eosctl.commands.decode.options import (
    FILTER,
    Dialect,
    Files,
    Form,
    Offsets,
    ProducerIds,
    Strict,
    Times,
    parse_bounds,
    parse_times,
)
from eosctl.render.decode.formats import DecodeFormat, KafkaDialect

if TYPE_CHECKING:
    from eosctl.analysis.decode.outcomes import Outcome
    from eosctl.render.decode.state_lines import StateLines
    from eosctl.wire.records.header import BatchHeader
    from eosctl.wire.records.record import Record

Row = dict[str, Any]

TransactionalId = Annotated[
    str | None, typer.Option("--transactional-id", help="Only this transactional id.", rich_help_panel=FILTER)
]
History = Annotated[
    str | None,
    typer.Option("--history", metavar="ID", help="The life of a transactional id: each state and how long it lasted."),
]
Group = Annotated[str | None, typer.Option("--group", help="Only this group.", rich_help_panel=FILTER)]
RecordType = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="RECORD", help="Only this type of record; repeatable.", rich_help_panel=FILTER),
]


def decode_txn_log(
    files: Files,
    transactional_id: TransactionalId = None,
    history: History = None,
    producer_ids: ProducerIds = None,
    offsets: Offsets = None,
    times: Times = None,
    strict: Strict = False,
    output: Form = DecodeFormat.TABLE,
    dialect: Dialect = KafkaDialect.KAFKA_4_3,
) -> None:
    """Decode the transaction state log: give the directories of `__transaction_state`, or one above them."""
    from eosctl.analysis.decode.entries import transaction_row
    from eosctl.render.decode.rows import HISTORY_COLUMNS, TRANSACTION_COLUMNS, with_duration

    wanted = history if history is not None else transactional_id
    chosen = frozenset(producer_ids or ())
    previous: list[Row] = []

    def row(record: Record, header: BatchHeader, outcome: Outcome) -> Row | None:
        found = transaction_row(record, header)
        if wanted is not None and found["transactional_id"] != wanted:
            return None
        if chosen and found.get("producer_id") not in chosen:
            return None
        if history is None:
            return found
        timed = with_duration(found, previous[-1] if previous else None)
        previous[:] = [found]
        return timed

    selection = Selection(offsets=parse_bounds(offsets, "--offset"), times=parse_times(times))
    columns = TRANSACTION_COLUMNS if history is None else HISTORY_COLUMNS
    lines = None
    if output is DecodeFormat.TSV and wanted is None and not chosen:
        from eosctl.render.decode.state_lines import TransactionLines

        lines = TransactionLines()
    _decode_topic(files, "__transaction_state", selection, row, columns, output, dialect, strict=strict, lines=lines)


def decode_offsets(
    files: Files,
    group: Group = None,
    offsets: Offsets = None,
    times: Times = None,
    strict: Strict = False,
    output: Form = DecodeFormat.TABLE,
    dialect: Dialect = KafkaDialect.KAFKA_4_3,
) -> None:
    """Decode `__consumer_offsets`: committed, pending and aborted offsets, tombstones, and groups with members."""
    from eosctl.analysis.decode.entries import offsets_row
    from eosctl.render.decode.rows import OFFSET_COLUMNS

    def row(record: Record, header: BatchHeader, outcome: Outcome) -> Row | None:
        found = offsets_row(record, header, outcome)
        return found if group is None or found["group"] == group else None

    selection = Selection(offsets=parse_bounds(offsets, "--offset"), times=parse_times(times))
    lines = None
    if output is DecodeFormat.TSV and group is None:
        from eosctl.render.decode.state_lines import OffsetLines

        lines = OffsetLines()
    _decode_topic(
        files, "__consumer_offsets", selection, row, OFFSET_COLUMNS, output, dialect, strict=strict, lines=lines
    )


def decode_metadata_log(
    files: Files,
    types: RecordType = None,
    offsets: Offsets = None,
    times: Times = None,
    strict: Strict = False,
    output: Form = DecodeFormat.TABLE,
) -> None:
    """Decode the KRaft metadata log: topics, partitions, features, producer id blocks, brokers, settings."""
    from eosctl.analysis.decode.entries import metadata_row
    from eosctl.errors import UsageError
    from eosctl.render.decode.rows import METADATA_COLUMNS

    if output is DecodeFormat.KAFKA:
        raise UsageError("The dump tool's text of the metadata log is not offered.", "", "Choose -o json.")
    wanted = frozenset(types or ())

    def row(record: Record, header: BatchHeader, outcome: Outcome) -> Row | None:
        found = metadata_row(record)
        return found if not wanted or found["record"] in wanted else None

    selection = Selection(offsets=parse_bounds(offsets, "--offset"), times=parse_times(times))
    _decode_topic(
        files, "__cluster_metadata", selection, row, METADATA_COLUMNS, output, KafkaDialect.KAFKA_4_3, strict=strict
    )


def _decode_topic(
    files: list[str],
    topic: str,
    selection: Selection,
    row: Callable[[Record, BatchHeader, Outcome], Row | None],
    columns: tuple[tuple[str, int], ...],
    output: DecodeFormat,
    dialect: KafkaDialect,
    *,
    strict: bool,
    lines: StateLines | None = None,
) -> None:
    from eosctl.commands.decode.decoding import (
        DamageLog,
        dump_logs,
        segment_files,
        sources,
        stream_rows,
        write_all,
    )

    damage = DamageLog(strict=strict)

    def of_topic(path: Path) -> bool:
        return segment_files(path) and path.parent.name.rpartition("-")[0] == topic

    with sources(files, of_topic) as found:
        if output is DecodeFormat.KAFKA:
            write_all(dump_logs(found, damage, dialect, deep=True, topic=topic))
        else:
            write_all(stream_rows(found, selection, row, columns, output, damage, lines))
    raise typer.Exit(1 if damage.count else 0)
