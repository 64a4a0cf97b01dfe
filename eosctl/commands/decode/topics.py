"""``eosctl decode txn-log``, ``offsets`` and ``metadata-log``: the internal topics, record by record."""

from __future__ import annotations

from typing import Annotated, NamedTuple, NoReturn

import typer

from eosctl.command_line.invocation import note, write_remark
from eosctl.command_line.values import parse_bounds, parse_times
from eosctl.commands.decode.ending import write_and_end
from eosctl.commands.decode.options import Dialect, Files, Form, Offsets, ProducerIds, Strict, Times
from eosctl.commands.options import filter_option
from eosctl.errors import UsageError
from eosctl.render.decode.formats import DecodeFormat, KafkaDialect
from eosctl.render.decode.rows import HISTORY_COLUMNS, METADATA_COLUMNS, OFFSET_COLUMNS, TRANSACTION_COLUMNS, RowText
from eosctl.render.decode.state_lines import OffsetLines, TransactionLines
from eosctl.services.decode_input import DamageLog, is_segment_of, sources
from eosctl.services.decode_logs import dump_logs, select_records, stream_rows
from eosctl.services.decode_topics import RowOf, metadata_rows, offset_rows, transaction_rows


class RecordsOptions(NamedTuple):
    """The options that choose records of a topic, and their format."""

    offsets: Offsets = None
    times: Times = None
    strict: Strict = False
    output: Form = DecodeFormat.TABLE


def decode_txn_log(
    files: Files,
    transactional_id: Annotated[
        str | None, filter_option("--transactional-id", help="Transactional id to show.")
    ] = None,
    history: Annotated[
        str | None,
        typer.Option("--states-of", metavar="ID", help="Transactional id whose states and their durations are shown."),
    ] = None,
    producer_ids: ProducerIds = None,
    *,
    records: RecordsOptions,
    dialect: Dialect = KafkaDialect.KAFKA_4_3,
) -> None:
    """Decode the transaction log (`__transaction_state`).

    Takes the directories of its partitions, or a directory above them.

    Examples:
        eosctl decode txn-log data/
        eosctl decode txn-log data/ --states-of payment-service
    """
    wanted, chosen = transactional_id if history is None else history, frozenset(producer_ids or ())
    row = transaction_rows(wanted, chosen, timed=history is not None)
    columns = TRANSACTION_COLUMNS if history is None else HISTORY_COLUMNS
    lines = TransactionLines() if wanted is None and not chosen else None
    _decode("__transaction_state", files, records, row, RowText(columns, records.output), dialect, lines)


def decode_offsets(
    files: Files,
    group: Annotated[str | None, filter_option("--group", metavar="GROUP", help="Group to show.")] = None,
    *,
    records: RecordsOptions,
    dialect: Dialect = KafkaDialect.KAFKA_4_3,
) -> None:
    """Decode `__consumer_offsets`.

    Prints committed, pending, and aborted offsets, tombstones, and groups with their members.

    Examples:
        eosctl decode offsets data/
        eosctl decode offsets data/ --group billing -o json
    """
    lines = OffsetLines() if group is None else None
    writer = RowText(OFFSET_COLUMNS, records.output)
    _decode("__consumer_offsets", files, records, offset_rows(group), writer, dialect, lines)


def decode_metadata_log(
    files: Files,
    types: Annotated[
        list[str] | None, filter_option("--type", metavar="RECORD", help="Type of record to show; repeatable.")
    ] = None,
    *,
    records: RecordsOptions,
) -> None:
    """Decode the KRaft metadata log.

    Prints topics, partitions, features, producer id blocks, brokers, and settings.

    Examples:
        eosctl decode metadata-log data/__cluster_metadata-0
        eosctl decode metadata-log data/ --type ProducerIdsRecord
    """
    if records.output is DecodeFormat.KAFKA:
        raise UsageError("The dump tool's text of the metadata log is not offered.", "", "Choose -o json.")
    writer = RowText(METADATA_COLUMNS, records.output)
    _decode("__cluster_metadata", files, records, metadata_rows(frozenset(types or ())), writer)


def _decode(
    topic: str,
    files: list[str],
    records: RecordsOptions,
    row: RowOf,
    writer: RowText,
    dialect: KafkaDialect = KafkaDialect.KAFKA_4_3,
    lines: TransactionLines | OffsetLines | None = None,
) -> NoReturn:
    selection = select_records((), parse_bounds(records.offsets, "--offset"), parse_times(records.times))
    damage = DamageLog(note, strict=records.strict)
    known = lines if records.output is DecodeFormat.TSV else None
    with sources(files, is_segment_of(topic)) as found:
        if records.output is DecodeFormat.KAFKA:
            from eosctl.render.decode.kafka_text import dump_writer  # only this format decodes all records

            dumped = dump_logs(found, damage, dump_writer(dialect), write_remark, deep=True, topic=topic)
            write_and_end(dumped, damage)
        write_and_end(stream_rows(found, selection, row, writer, damage, known), damage)
