"""Collect the parts of a bundle in addition to the snapshot: ends of logs, and data directories without records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.collect.bundles.bundle import Part
from eosctl.collect.bundles.log_texts import NotText, log_files, printable, read_log_text
from eosctl.collect.bundles.redaction import redacted_lines
from eosctl.collect.bundles.rewriting import Positions, masked_batches, moved_index, stripped_batches
from eosctl.model.bundle import MissingPart
from eosctl.storage.names import (
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    METADATA_TOPIC,
    PARTITION_METADATA,
    QUORUM_STATE,
    Suffix,
    is_metadata_snapshot,
    parse_partition_directory,
    parse_segment_file,
)

LOG_BYTES: Final = 32 << 20
MAX_LOGS: Final = 10_000
# What a reader of bundles refuses in a name.
_FOREIGN: Final = re.compile(r"[\\:\x00-\x1f]")
SEGMENT_BYTES: Final = 256 << 20
SMALL_FILE_BYTES: Final = 16 << 20
# Internal topics contain ids, epochs, offsets, and states, but no application data.
STATE_TOPIC: Final = "__transaction_state"
_OF_BROKERS: Final = frozenset({CLEAN_SHUTDOWN, META_PROPERTIES, PARTITION_METADATA, QUORUM_STATE})


def log_parts(paths: Iterable[Path], missing: list[MissingPart]) -> Iterator[Part]:
    """Yield the ends of logs (32 MiB each) with masked secrets, as lines of UTF-8.

    Args:
        paths: Files, archives, or directories that are searched for logs.
        missing: Receives the files that could not be included.
    """
    number = 0
    with log_files(paths) as files:
        for path, name, reason in files:
            if reason or number == MAX_LOGS:
                missing.append(MissingPart(name, reason or f"a bundle holds {MAX_LOGS:,} logs at most"))
                continue
            try:
                text = read_log_text(path, LOG_BYTES)
            except NotText as error:
                missing.append(MissingPart(name, str(error)))
                continue
            except OSError as error:
                missing.append(MissingPart(name, f"it could not be read: {error.strerror or error}"))
                continue
            if text.gap:
                missing.append(MissingPart(name, text.gap))
            part_name = f"logs/{number:03d}-{_FOREIGN.sub('_', printable(path.name))}"
            yield Part(part_name, "log", "secrets masked", redacted_lines(text.data, is_cut=text.is_cut))
            number += 1


def data_dir_parts(directories: Iterable[Path], missing: list[MissingPart]) -> Iterator[Part]:
    """Yield the files of brokers' data directories.

    Segments of topics lose the keys, values, and headers of their records. The metadata log and its snapshots keep
    their records with masked passwords, keys, and tokens.

    Args:
        directories: Data directories, one or several per broker.
        missing: Receives the files that could not be included.
    """
    for number, directory in enumerate(directories):
        positions: dict[Path, Positions] = {}
        for path in sorted(_files(directory), key=_logs_first):
            name = printable(f"data-dirs/{number:03d}-{directory.name}/{path.relative_to(directory).as_posix()}")
            contents = _contents(path)
            size_bytes = path.stat().st_size
            if contents is None:
                missing.append(MissingPart(printable(str(path)), "not a file of Kafka's"))
            elif size_bytes > contents.max_bytes:
                missing.append(MissingPart(printable(str(path)), f"{size_bytes:,} bytes are too many for a bundle"))
            else:
                index = path.with_name(path.name.replace(Suffix.LOG, Suffix.OFFSET_INDEX))
                pieces = contents.read(path, missing, positions.setdefault(index, {}))
                yield Part(name, "data-dir", contents.redaction, _guarded(pieces, path, missing))


def _logs_first(path: Path) -> tuple[Path, bool, str]:
    """Return the sort key of a directory's files: logs before their indexes, which need the new positions."""
    return path.parent, Suffix.LOG not in path.name, path.name


def _whole(path: Path, missing: list[MissingPart], positions: Positions) -> Iterator[bytes]:
    segment = parse_segment_file(path.name)
    is_index = segment is not None and segment.suffix is Suffix.OFFSET_INDEX
    yield moved_index(path, positions) if is_index else path.read_bytes()


class _Contents(NamedTuple):
    """The bundled content of a file, the removed content, and the maximum size."""

    read: Callable[[Path, list[MissingPart], Positions], Iterator[bytes]]
    redaction: str
    max_bytes: int


_WHOLE: Final = _Contents(_whole, "", SMALL_FILE_BYTES)
_STATE_LOG: Final = _Contents(_whole, "", SEGMENT_BYTES)
_STRIPPED: Final = _Contents(stripped_batches, "keys, values and headers of records emptied", SEGMENT_BYTES)
_MASKED: Final = _Contents(masked_batches, "passwords, keys and tokens masked", SEGMENT_BYTES)


def _contents(path: Path) -> _Contents | None:
    """Return how to include a file, by its name and its directory's; None if it is not a Kafka file."""
    home = parse_partition_directory(path.parent.name)
    segment = parse_segment_file(path.name)
    if is_metadata_snapshot(path.name):
        return _MASKED
    if segment is not None and segment.suffix is Suffix.LOG:
        if home is None or home.topic not in (METADATA_TOPIC, STATE_TOPIC):
            return _STRIPPED
        return _MASKED if home.topic == METADATA_TOPIC else _STATE_LOG
    # A data directory may have the name of a partition directory, such as broker-1.
    is_known = (
        path.name in _OF_BROKERS or path.name.endswith("-checkpoint") or (home is not None and segment is not None)
    )
    return _WHOLE if is_known else None


def _guarded(pieces: Iterator[bytes], path: Path, missing: list[MissingPart]) -> Iterator[bytes]:
    try:
        yield from pieces
    except OSError as error:
        missing.append(MissingPart(printable(str(path)), f"it could not be read to its end: {error.strerror or error}"))


def _files(path: Path) -> Iterator[Path]:
    """Yield the files of a directory; a file is its own only one."""
    if not path.is_dir():
        yield path
        return
    yield from (inner for inner in path.rglob("*") if inner.is_file() and not inner.is_symlink())
