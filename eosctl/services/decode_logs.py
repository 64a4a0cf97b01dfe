"""Decode logs batch by batch, with bounded memory, and report damage with its position.

Writers (`eosctl.analysis.decode.writers`) create the text, so that the decoder does not depend on a format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

from eosctl.analysis.decode.batch_state import state_of
from eosctl.analysis.decode.outcomes import Outcome, Outcomes
from eosctl.analysis.decode.selection import Selection
from eosctl.analysis.decode.summary import LogSummary
from eosctl.analysis.decode.writers import DumpWriter, LogWriter, RecordWriter, RowWriter, StateLines
from eosctl.model.log_bounds import EVERYTHING, Bounds, Only
from eosctl.services.decode_input import DamageLog, Source, is_segment, readable
from eosctl.storage.inputs import base_offset_of
from eosctl.storage.names import METADATA_TOPIC, is_metadata_snapshot, parse_partition_directory
from eosctl.storage.producer_replay import CompletedTxn, ProducerReplay
from eosctl.storage.scan import LogBatch, LogDamage, LogRun, scan_log, scan_runs
from eosctl.wire.errors import WireError
from eosctl.wire.records.header import CONTROL, TRANSACTIONAL, BatchHeader
from eosctl.wire.records.record import Record

EVERY_RECORD: Final = Selection()
Row = dict[str, Any]


def select_records(
    producer_ids: Iterable[int] = (),
    offsets: Bounds = EVERYTHING,
    times: Bounds = EVERYTHING,
    only: Only | None = None,
) -> Selection:
    """Return the selection of batches and records: a record must pass all filters; times are ms since the epoch."""
    return Selection(frozenset(producer_ids), offsets, times, only)


@lru_cache
def is_metadata_log(path: Path) -> bool:
    """Return whether a file is a segment or snapshot of the metadata log, by its directory's name or its own."""
    home = parse_partition_directory(path.absolute().parent.name)
    return is_metadata_snapshot(path.name) or (home is not None and home.topic == METADATA_TOPIC)


def stream_logs(
    files: Iterable[Source],
    selection: Selection,
    writer: LogWriter,
    damage: DamageLog,
    *,
    deep: bool,
    with_outcomes: bool,
) -> Iterator[str]:
    """Yield the text of logs, batch by batch.

    Args:
        files: The logs.
        selection: The selected batches and records.
        writer: Writes them.
        damage: Called for each part that cannot be read.
        deep: Whether to write records, too.
        with_outcomes: Whether each batch shows the outcome of its transaction, which requires reading ahead.
    """
    yield writer.head()
    outcomes, partition = Outcomes(()), None
    filtered = bool(selection.producer_ids) or selection.selects_records or selection.only is not None
    one_by_one = filtered or deep or with_outcomes
    for source in readable(files, damage):
        if with_outcomes and source.path.parent != partition:
            partition = source.path.parent
            outcomes = Outcomes(completed_from(source))
        yield writer.start(source.name, base_offset_of(source.path))
        for fact in scan_log(source.path) if one_by_one else scan_runs(source.path):
            if isinstance(fact, LogRun):
                yield writer.run(fact)
                continue
            if isinstance(fact, LogDamage):
                damage.add(source.name, fact.position, f"{fact.kind}: {fact.what}{resume_text(fact)}")
                yield writer.damage(source.name, fact.position, fact.kind, fact.what, fact.resumes_at)
                damage.stop_if_strict()
                continue
            if filtered and not selection.keeps_batch(fact.header, outcomes.of):
                continue
            state = outcomes.of(fact.header).value if with_outcomes and not fact.header.is_control else state_of(fact)
            yield writer.batch(fact, state)
            if not fact.crc_valid:
                yield _report_damage(
                    writer, damage, source, fact.position, "crc-mismatch", "the stored checksum is wrong"
                )
            if deep:
                yield from _deep_text(source, fact, selection, writer, damage)


def stream_rows(
    found: Iterable[Source],
    selection: Selection,
    row: Callable[[Record, BatchHeader, Outcome], Row | None],
    writer: RowWriter,
    damage: DamageLog,
    lines: StateLines | None = None,
) -> Iterator[str]:
    """Yield the rows of an internal topic's logs; control records are not rows but decide what offsets count.

    Args:
        found: The logs.
        selection: The selected records.
        row: Decodes a record; None for a record that is not selected.
        writer: Writes the rows.
        damage: Called for each part that cannot be read.
        lines: Writes records of a known form, if all records are selected and the format is eosctl's own.
    """
    text = _row_text(row, writer.row, lines)
    nothing_known = Outcomes(())
    filtered, by_record = selection != Selection(), selection.selects_records
    yield writer.head()
    for source in readable(found, damage):
        outcomes: Outcomes | None = None
        if lines is not None:
            lines.start(source.name)
        for fact in scan_log(source.path):
            try:
                if isinstance(fact, LogDamage):
                    raise WireError(f"{fact.kind}: {fact.what}{resume_text(fact)}", "", fact.position)
                if not fact.crc_valid:
                    raise WireError("crc-mismatch: the stored checksum is wrong; not decoded", "", fact.position)
                header = fact.header
                if header.attributes & CONTROL or (filtered and not selection.keeps_batch(header, nothing_known.of)):
                    continue
                if not header.attributes & TRANSACTIONAL:
                    outcome = Outcome.PLAIN
                else:
                    outcomes = outcomes or Outcomes(completed_from(source))
                    outcome = outcomes.of(header)
                for record in chain.from_iterable(fact.record_slices()):
                    if by_record and not selection.keeps_record(record):
                        continue
                    try:
                        yield text(source.name, record, header, outcome)
                    except WireError as error:
                        what = f"record at offset {record.offset}: {error.what} (field {error.field})"
                        damage.add(source.name, fact.position, what)
                        yield writer.damage(source.name, fact.position, what)
                        damage.stop_if_strict()
            except WireError as error:
                damage.add(source.name, error.offset, error.what)
                yield writer.damage(source.name, error.offset, error.what)
                damage.stop_if_strict()


def _row_text(
    row: Callable[[Record, BatchHeader, Outcome], Row | None],
    write: Callable[[str, Row], str],
    lines: StateLines | None,
) -> Callable[[str, Record, BatchHeader, Outcome], str]:
    """Return the function that turns a record of a file into a line, which is empty if the record is not selected."""

    def text(file: str, record: Record, header: BatchHeader, outcome: Outcome) -> str:
        if lines is not None and (line := lines.of(record, header, outcome)) is not None:
            return line
        found = row(record, header, outcome)
        if found is None:
            return ""
        if lines is not None:
            lines.learn(record, found)
        return write(file, found)

    return text


def _deep_text(
    source: Source, batch: LogBatch, selection: Selection, writer: RecordWriter, damage: DamageLog
) -> Iterator[str]:
    lines = None if selection.selects_records or is_metadata_log(source.path) else writer.record_lines(batch)
    return _records_text(source, batch, selection, writer, damage) if lines is None else iter((lines,))


def _records_text(
    source: Source, batch: LogBatch, selection: Selection, writer: RecordWriter, damage: DamageLog
) -> Iterator[str]:
    try:
        for records in batch.record_slices():
            kept = records
            if selection.selects_records:
                kept = [record for record in records if selection.keeps_record(record)]
            if not batch.header.is_control:
                from eosctl.analysis.record_redactor import redact_records  # batches alone need none

                kept = redact_records(kept, in_metadata_log=is_metadata_log(source.path))
            yield writer.records(batch, kept)
    except WireError as error:
        what = f"{error.what} (field {error.field})"
        yield _report_damage(writer, damage, source, error.offset, "records-malformed", what)


def _report_damage(writer: RecordWriter, damage: DamageLog, source: Source, position: int, kind: str, what: str) -> str:
    damage.add(source.name, position, f"{kind}: {what}")
    text = writer.damage(source.name, position, kind, what, None)
    damage.stop_if_strict()
    return text


def resume_text(fact: LogDamage) -> str:
    """Describe where reading continues after a damage."""
    return "; nothing readable follows" if fact.resumes_at is None else f"; continues at byte {fact.resumes_at}"


def completed_from(source: Source) -> Iterator[CompletedTxn]:
    """Yield the transactions that end in a log or in a later one of its partition."""
    later = sorted(path for path in source.path.parent.iterdir() if is_segment(path))
    logs = [path for path in later if path.name >= source.path.name] if source.path in later else [source.path]
    replay = ProducerReplay()
    for log in logs:
        for fact in scan_log(log):
            if isinstance(fact, LogBatch) and fact.crc_valid:
                try:
                    completed = replay.apply(fact.header, fact.buffer, fact.buffer_position)
                except WireError:
                    continue
                if completed is not None:
                    yield completed


def summarize(files: Iterable[Source], selection: Selection, damage: DamageLog) -> LogSummary:
    """Count what logs hold."""
    summary, replay, partition = LogSummary(), ProducerReplay(), None
    outcomes = Outcomes(())
    for source in readable(files, damage):
        if source.path.parent != partition:
            summary.start_partition()
            summary.transactions_open += len(replay.open_transactions)
            partition, replay = source.path.parent, ProducerReplay()
            outcomes = Outcomes(completed_from(source) if selection.needs_outcomes else ())
        for fact in scan_log(source.path):
            if isinstance(fact, LogDamage):
                damage.add(source.name, fact.position, f"{fact.kind}: {fact.what}{resume_text(fact)}")
                summary.damaged += 1
                continue
            if not fact.crc_valid:
                damage.add(source.name, fact.position, "crc-mismatch: the stored checksum is wrong")
                summary.damaged += 1
            if not selection.keeps_batch(fact.header, outcomes.of):
                continue
            summary.add(fact.header)
            if fact.header.is_control:
                state = state_of(fact)
                summary.transactions_committed += state == "COMMIT"
                summary.transactions_aborted += state == "ABORT"
            if fact.crc_valid:
                try:
                    replay.apply(fact.header, fact.buffer, fact.buffer_position)
                except WireError as error:
                    damage.add(source.name, error.offset, f"records-malformed: {error.what}")
                    summary.damaged += 1
    summary.transactions_open += len(replay.open_transactions)
    return summary


def dump_logs(
    files: Iterable[Source],
    damage: DamageLog,
    writer_of: Callable[[str], DumpWriter],
    remark: Callable[[str], object],
    *,
    deep: bool,
    topic: str | None = None,
) -> Iterator[str]:
    """Yield the text of Kafka's dump tool for logs.

    Args:
        files: The logs.
        damage: Receives the parts that cannot be read.
        writer_of: Creates the writer of a log, by its topic.
        remark: Called with the tool's output to standard error for a log.
        deep: Whether to write records, too.
        topic: The topic, if the directories do not name it.
    """
    for source in readable(files, damage):
        writer = writer_of(topic or source.path.parent.name.rpartition("-")[0])
        yield writer.start(source.name, base_offset_of(source.path))
        invalid_bytes = 0
        for fact in scan_log(source.path):
            if isinstance(fact, LogDamage):  # Kafka's tool reads no further
                invalid_bytes = source.path.stat().st_size - fact.position
                damage.add(source.name, fact.position, f"{fact.kind}: {fact.what}")
                break
            yield writer.batch(fact, "")
            if not fact.crc_valid:
                damage.add(source.name, fact.position, "crc-mismatch: the stored checksum is wrong")
                damage.stop_if_strict()
            if deep:
                yield from _deep_text(source, fact, EVERY_RECORD, writer, damage)
        yield writer.end(invalid_bytes, source.path.name)
        remark("".join(writer.remarks))
        damage.stop_if_strict()
