"""The tool that decodes Kafka's files: the lines of ``eosctl decode`` in JSON, and where they end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from eosctl.errors import DecodeError, UsageError
from eosctl.render.decode.batches import log_writer
from eosctl.render.decode.entries import render_entries
from eosctl.render.decode.formats import BytesForm, DecodeFormat
from eosctl.render.decode.rows import METADATA_COLUMNS, OFFSET_COLUMNS, TRANSACTION_COLUMNS, RowText
from eosctl.servers.arguments import DecodeArguments, local_paths
from eosctl.services.decode_entries import (
    CHECKPOINTS,
    PRODUCER_SNAPSHOTS,
    TXN_INDEXES,
    EntryFiles,
    entry_rows,
    offset_indexes,
    read_entries,
    time_indexes,
)
from eosctl.services.decode_input import DamageLog, is_segment, is_segment_of, sources
from eosctl.services.decode_logs import EVERY_RECORD, stream_logs, stream_rows
from eosctl.services.decode_topics import RowOf, metadata_rows, offset_rows, transaction_rows
from eosctl.services.likely_decoder import likely_decoder

JSON: Final = DecodeFormat.JSON
_ENTRIES: Final[Mapping[str, Callable[[], EntryFiles]]] = {
    "index": offset_indexes,
    "time-index": time_indexes,
    "txn-index": lambda: TXN_INDEXES,
    "producer-snapshot": lambda: PRODUCER_SNAPSHOTS,
    "checkpoint": lambda: CHECKPOINTS,
}
_TOPICS: Final[Mapping[str, tuple[str, Callable[[], RowOf], Sequence[tuple[str, int]]]]] = {
    "txn-log": ("__transaction_state", transaction_rows, TRANSACTION_COLUMNS),
    "offsets": ("__consumer_offsets", offset_rows, OFFSET_COLUMNS),
    "metadata-log": ("__cluster_metadata", metadata_rows, METADATA_COLUMNS),
}


class Decoded(NamedTuple):
    """The lines of files.

    Attributes:
        decoder: The kind of the files.
        file_count: The number of files that were opened.
        lines: Their lines, as JSON objects.
        is_cut: Whether more lines follow, which were not read.
        damage: What could not be read, with file and position.
    """

    decoder: str
    file_count: int
    lines: tuple[str, ...]
    is_cut: bool
    damage: tuple[str, ...]


def decode_files(arguments: DecodeArguments) -> Decoded:
    """Decode files up to the wanted number of lines.

    Raises:
        UsageError: A file does not exist, or is not one of Kafka's data directory.
        DecodeError: A file cannot be read.
    """
    paths = local_paths(arguments.files)
    decoder = arguments.decoder or likely_decoder(paths[0])
    if not decoder:
        raise UsageError(
            f"The name of {paths[0]} does not show what it is.",
            "Kafka's files are segments, indexes, snapshots, and checkpoints.",
            "Name the decoder.",
        )
    reported: list[str] = []
    try:
        with _opened(decoder, arguments, DamageLog(reported.append, strict=False)) as (file_count, pieces):
            lines, is_cut = _first_lines(pieces, arguments.max_lines)
    except OSError as error:
        raise DecodeError(
            f"Cannot read {error.filename or 'the input'}.",
            error.strerror or str(error),
            "Name files that exist and that you may read.",
        ) from error
    return Decoded(decoder, file_count, lines, is_cut, tuple(reported))


@contextmanager
def _opened(decoder: str, arguments: DecodeArguments, damage: DamageLog) -> Iterator[tuple[int, Iterable[str]]]:
    """Yield the number of files, and their text in pieces of whole lines."""
    files = list(arguments.files)
    if decoder in _ENTRIES:
        kind = _ENTRIES[decoder]()
        with sources(files, kind.matches, is_text=kind.is_text) as found:
            yield len(found), render_entries(entry_rows(read_entries(kind, found, damage)), JSON)
    elif decoder in _TOPICS:
        topic, rows, columns = _TOPICS[decoder]
        with sources(files, is_segment_of(topic)) as found:
            yield len(found), stream_rows(found, EVERY_RECORD, rows(), RowText(columns, JSON), damage)
    else:
        with sources(files, is_segment) as found:
            writer, deep = log_writer(JSON, BytesForm.UTF8, BytesForm.UTF8), arguments.records
            yield len(found), stream_logs(found, EVERY_RECORD, writer, damage, deep=deep, with_outcomes=False)


def _first_lines(pieces: Iterable[str], count: int) -> tuple[tuple[str, ...], bool]:
    """Return the first lines, and whether there are more."""
    lines: list[str] = []
    for piece in pieces:
        lines += piece.splitlines()
        if len(lines) > count:
            return tuple(lines[:count]), True
    return tuple(lines), False
