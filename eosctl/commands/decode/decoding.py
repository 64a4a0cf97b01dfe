"""How the decoders work through logs: every batch as it comes, damage told where it is, memory bounded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from eosctl.analysis.decode.selection import Selection
from eosctl.commands.invocation import note
from eosctl.errors import DecodeError, UsageError
from eosctl.render.escaping import utf8_text
from eosctl.storage.inputs import STDIN, base_offset_of, find_files, is_segment_file, spooled
from eosctl.storage.names import METADATA_TOPIC, Suffix, is_metadata_snapshot, parse_partition_directory
from eosctl.storage.producer_replay import CompletedTxn, ProducerReplay
from eosctl.storage.scan import LogBatch, LogDamage, LogRun, scan_log, scan_runs
from eosctl.wire.errors import WireError
from eosctl.wire.records.header import CONTROL, TRANSACTIONAL

if TYPE_CHECKING:
    from eosctl.analysis.decode.outcomes import Outcome
    from eosctl.analysis.decode.summary import LogSummary
    from eosctl.render.decode.batches import LogWriter
    from eosctl.render.decode.formats import DecodeFormat, KafkaDialect
    from eosctl.render.decode.kafka_text import KafkaLogWriter
    from eosctl.render.decode.rows import Row
    from eosctl.render.decode.state_lines import StateLines
    from eosctl.wire.records.header import BatchHeader
    from eosctl.wire.records.record import Record

#: Text is handed on in pieces of about this many characters.
_PIECE_CHARACTERS = 1 << 16
EVERY_RECORD = Selection()


class Source(NamedTuple):
    """A file, and the name under which people know it."""

    path: Path
    name: str


class StoppedAtDamage(Exception):  # noqa: N818 - a wish of the user, no error
    """Ends the decoding at the first damage."""


class DamageLog:
    """Tells standard error what cannot be read, and counts it."""

    def __init__(self, *, strict: bool) -> None:
        """Choose whether the first damage is the last."""
        self.count = 0
        self._strict = strict

    def tell(self, file: str, position: int, what: str) -> None:
        """Report one place; with `strict` nothing is read behind it."""
        self.count += 1
        note(f"damaged: {file}: byte {position}: {what}")

    def stop_if_strict(self) -> None:
        """End the decoding if one damage is enough."""
        if self._strict and self.count:
            raise StoppedAtDamage


@contextmanager
def sources(arguments: list[str], matches: Callable[[Path], bool]) -> Iterator[list[Source]]:
    """Find the files to read; `-` is standard input.

    Raises:
        UsageError: An argument names nothing, or nothing is left to read.
    """
    if arguments == [STDIN]:
        with spooled() as path:
            yield [Source(path, "-")]
        return
    try:
        found = [Source(path, str(path)) for path in find_files(arguments, matches)]
    except FileNotFoundError as error:
        raise UsageError(
            f"There is no file {error}.", "", "Name files, directories or patterns, or - for stdin."
        ) from None
    if not found:
        raise UsageError("There is nothing to decode.", "The directories hold no files of this kind.", "Name a file.")
    yield found


def segment_files(path: Path) -> bool:
    """Tell whether a file of a directory is a live `.log`."""
    return is_segment_file(Suffix.LOG)(path)


def write_all(pieces: Iterable[str]) -> None:
    """Write text to standard output as it comes, in larger pieces."""
    held: list[str] = []
    size = 0
    try:
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size > _PIECE_CHARACTERS:
                sys.stdout.write(utf8_text("".join(held)))
                held, size = [], 0
    except StoppedAtDamage:
        pass
    except BrokenPipeError:
        raise  # the reader has seen enough
    except OSError as error:
        sys.stdout.write(utf8_text("".join(held)))
        raise DecodeError(
            f"Cannot read {error.filename or 'the input'}.",
            error.strerror or str(error),
            "Name files that exist and that you may read.",
        ) from error
    sys.stdout.write(utf8_text("".join(held)))
    sys.stdout.flush()


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
        selection: Which batches and records are wanted.
        writer: Writes them.
        damage: Is told what cannot be read.
        deep: Whether records are written too.
        with_outcomes: Whether each batch says what became of its transaction, which takes a look ahead.
    """
    from eosctl.analysis.decode.outcomes import Outcomes
    from eosctl.render.decode.batches import state_of

    yield writer.head()
    outcomes, partition = Outcomes(()), None
    by_record = selection.looks_at_records
    filtered = bool(selection.producer_ids) or by_record or selection.only is not None
    one_by_one = filtered or deep or with_outcomes
    for source in files:
        if with_outcomes and source.path.parent != partition:
            partition = source.path.parent
            outcomes = Outcomes(completed_from(source))
        yield writer.start(source.name, base_offset_of(source.path))
        for fact in scan_log(source.path) if one_by_one else scan_runs(source.path):
            if isinstance(fact, LogRun):
                yield writer.run(fact)
                continue
            if isinstance(fact, LogDamage):
                damage.tell(source.name, fact.position, f"{fact.kind}: {fact.what}{resume_text(fact)}")
                yield writer.damage(source.name, fact.position, fact.kind, fact.what, fact.resumes_at)
                damage.stop_if_strict()
                continue
            if filtered and not selection.keeps_batch(fact.header, outcomes.of):
                continue
            state = outcomes.of(fact.header).value if with_outcomes and not fact.header.is_control else state_of(fact)
            yield writer.batch(fact, state)
            if not fact.crc_valid:
                yield _tell(writer, damage, source, fact.position, "crc-mismatch", "the stored checksum is wrong")
            if deep:
                lines = None if by_record or is_metadata_log(source.path) else writer.record_lines(fact)
                yield _records_text(source, fact, selection, writer, damage) if lines is None else lines


def stream_rows(
    found: Iterable[Source],
    selection: Selection,
    row: Callable[[Record, BatchHeader, Outcome], Row | None],
    columns: tuple[tuple[str, int], ...],
    output: DecodeFormat,
    damage: DamageLog,
    lines: StateLines | None = None,
) -> Iterator[str]:
    """Yield the rows of an internal topic's logs; control records are not rows but decide what offsets count.

    Args:
        found: The logs.
        selection: Which records are wanted.
        row: Decodes a record; None for one that is not wanted.
        columns: The columns and their widths.
        output: The format.
        damage: Is told what cannot be read.
        lines: Writes records whose like was seen before, if every record is wanted and the format is its own.
    """
    from eosctl.analysis.decode.outcomes import Outcome, Outcomes
    from eosctl.render.decode.entries import render_damage
    from eosctl.render.decode.rows import row_head, row_writer

    text = _row_text(row, row_writer(columns, output), lines)
    nothing_known = Outcomes(())
    filtered, by_record = selection != Selection(), selection.looks_at_records
    yield row_head(columns, output)
    for source in found:
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
                records = fact.records()
            except WireError as error:
                damage.tell(source.name, error.offset, error.what)
                yield render_damage(source.name, error.offset, error.what, output)
                damage.stop_if_strict()
                continue
            for record in records:
                if by_record and not selection.keeps_record(record):
                    continue
                try:
                    yield text(source.name, record, header, outcome)
                except WireError as error:
                    what = f"record at offset {record.offset}: {error.what} (field {error.field})"
                    damage.tell(source.name, fact.position, what)
                    yield render_damage(source.name, fact.position, what, output)
                    damage.stop_if_strict()


def _row_text(
    row: Callable[[Record, BatchHeader, Outcome], Row | None],
    write: Callable[[str, Row], str],
    lines: StateLines | None,
) -> Callable[[str, Record, BatchHeader, Outcome], str]:
    """Return what turns a record of a file into its line, which is empty where the record is not wanted."""

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


def _records_text(
    source: Source, batch: LogBatch, selection: Selection, writer: LogWriter | KafkaLogWriter, damage: DamageLog
) -> str:
    from eosctl.analysis.record_redactor import redact_records

    try:
        records = batch.records()
    except WireError as error:
        what = f"{error.what} (field {error.field})"
        return _tell(writer, damage, source, error.offset, "records-malformed", what)
    if selection.looks_at_records:
        records = [record for record in records if selection.keeps_record(record)]
    if not batch.header.is_control:
        records = redact_records(records, in_metadata_log=is_metadata_log(source.path))
    return writer.records(batch, records)


def _tell(
    writer: LogWriter | KafkaLogWriter, damage: DamageLog, source: Source, position: int, kind: str, what: str
) -> str:
    damage.tell(source.name, position, f"{kind}: {what}")
    text = writer.damage(source.name, position, kind, what, None)
    damage.stop_if_strict()
    return text


def resume_text(fact: LogDamage) -> str:
    """Say where reading goes on behind a damage."""
    return "; nothing readable follows" if fact.resumes_at is None else f"; goes on at byte {fact.resumes_at}"


def completed_from(source: Source) -> Iterator[CompletedTxn]:
    """Yield the transactions that end in a log or in a later one of its partition."""
    later = sorted(path for path in source.path.parent.iterdir() if segment_files(path))
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
    from eosctl.analysis.decode.outcomes import Outcomes
    from eosctl.analysis.decode.summary import LogSummary
    from eosctl.render.decode.batches import state_of

    summary, replay, partition = LogSummary(), ProducerReplay(), None
    outcomes = Outcomes(())
    for source in files:
        if source.path.parent != partition:
            summary.start_partition()
            summary.transactions_open += len(replay.open_transactions)
            partition, replay = source.path.parent, ProducerReplay()
            outcomes = Outcomes(completed_from(source) if selection.needs_outcomes else ())
        for fact in scan_log(source.path):
            if isinstance(fact, LogDamage):
                damage.tell(source.name, fact.position, f"{fact.kind}: {fact.what}{resume_text(fact)}")
                summary.damaged += 1
                continue
            if not fact.crc_valid:
                damage.tell(source.name, fact.position, "crc-mismatch: the stored checksum is wrong")
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
                    damage.tell(source.name, error.offset, f"records-malformed: {error.what}")
                    summary.damaged += 1
    summary.transactions_open += len(replay.open_transactions)
    return summary


def dump_logs(
    files: Iterable[Source], damage: DamageLog, dialect: KafkaDialect, *, deep: bool, topic: str | None = None
) -> Iterator[str]:
    """Yield the text of Kafka's dump tool for logs; what it writes to standard error goes there."""
    from eosctl.render.decode.kafka_text import KafkaLogWriter
    from eosctl.render.decode.meaning import TOPICS

    for source in files:
        writer = KafkaLogWriter(dialect, TOPICS.get(topic or source.path.parent.name.rpartition("-")[0]))
        yield writer.start(source.name, base_offset_of(source.path))
        invalid_bytes = 0
        for fact in scan_log(source.path):
            if isinstance(fact, LogDamage):  # Kafka's tool reads no further
                invalid_bytes = source.path.stat().st_size - fact.position
                damage.tell(source.name, fact.position, f"{fact.kind}: {fact.what}")
                break
            yield writer.batch(fact, "")
            if not fact.crc_valid:
                damage.tell(source.name, fact.position, "crc-mismatch: the stored checksum is wrong")
                damage.stop_if_strict()
            if deep:
                yield _records_text(source, fact, EVERY_RECORD, writer, damage)
        yield writer.end(invalid_bytes, source.path.name)
        sys.stderr.write("".join(writer.remarks))
        damage.stop_if_strict()
