"""What goes into a bundle beside the snapshot: the ends of logs, and data directories without anybody's records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from eosctl.collect.bundles.bundle import Part
from eosctl.collect.bundles.redaction import redacted_lines
from eosctl.model.bundle import MissingPart
from eosctl.storage.names import Suffix, parse_partition_directory, parse_segment_file
from eosctl.storage.scan import LogDamage, scan_log
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import encode_retained

LOG_BYTES: Final = 32 << 20
SEGMENT_BYTES: Final = 256 << 20
SMALL_FILE_BYTES: Final = 16 << 20
# Kafka's own bookkeeping: ids, epochs, offsets, states; no application's data.
KEPT_WHOLE: Final = frozenset({"__transaction_state", "__cluster_metadata"})
_STRIPPED: Final = "keys, values and headers of records emptied"


def log_parts(paths: Iterable[Path], missing: list[MissingPart]) -> Iterator[Part]:
    """Yield the ends of log files (32 MiB each), with their secrets masked.

    Args:
        paths: Files, or directories that are searched for files with ``log`` in their name.
        missing: Gets what could not be taken.
    """
    for number, path in enumerate(_files(paths, lambda p: "log" in p.name or p.suffix in (".txt", ".out", ".json"))):
        if path.suffix in (".gz", ".zst", ".lz4", ".bz2", ".xz"):
            missing.append(MissingPart(str(path), "compressed logs are left out; unpack it first"))
            continue
        if path.stat().st_size > LOG_BYTES:
            missing.append(MissingPart(str(path), f"only its last {LOG_BYTES >> 20} MiB are here"))
        yield Part(
            f"logs/{number:03d}-{path.name}",
            "log",
            "secrets masked",
            _guarded(redacted_lines(path, LOG_BYTES), path, missing),
        )


def data_dir_parts(directories: Iterable[Path], missing: list[MissingPart]) -> Iterator[Part]:
    """Yield the files of brokers' data directories; segments of topics lose keys, values and headers of their records.

    Args:
        directories: Data directories, one or several a broker.
        missing: Gets what could not be taken.
    """
    for number, directory in enumerate(directories):
        for path in _files([directory], lambda p: True):
            name = f"data-dirs/{number:03d}-{directory.name}/{path.relative_to(directory).as_posix()}"
            segment, home = parse_segment_file(path.name), parse_partition_directory(path.parent.name)
            is_log = segment is not None and segment.suffix is Suffix.LOG
            size_bytes = path.stat().st_size
            if size_bytes > (SEGMENT_BYTES if is_log else SMALL_FILE_BYTES):
                missing.append(MissingPart(str(path), f"{size_bytes:,} bytes are too many for a bundle"))
            elif not is_log and (home is None and not _is_broker_file(path.name)):
                missing.append(MissingPart(str(path), "not a file of Kafka's"))
            elif is_log and (home is None or home.topic not in KEPT_WHOLE):
                yield Part(name, "data-dir", _STRIPPED, _guarded(_stripped(path, missing), path, missing))
            else:
                yield Part(name, "data-dir", "", _guarded(iter([path.read_bytes()]), path, missing))


def _is_broker_file(name: str) -> bool:
    return name == "meta.properties" or name.endswith("-checkpoint")


def _stripped(path: Path, missing: list[MissingPart]) -> Iterator[bytes]:
    """Write every batch anew with empty records: offsets, epochs, sequences, times and markers stay."""
    for item in scan_log(path):
        if isinstance(item, LogDamage):
            missing.append(MissingPart(f"{path} from byte {item.position}", f"no batch is there: {item.what}"))
            continue
        if item.header.is_control:
            yield item.buffer[item.buffer_position : item.buffer_position + item.header.size_bytes]
            continue
        try:
            records = [record._replace(key=None, value=b"", headers=()) for record in item.records()]
            yield encode_retained(item.header, records)
        except (WireError, ValueError, OverflowError) as error:
            missing.append(MissingPart(f"{path} at byte {item.position}", f"the batch cannot be rewritten: {error}"))


def _guarded(pieces: Iterator[bytes], path: Path, missing: list[MissingPart]) -> Iterator[bytes]:
    try:
        yield from pieces
    except OSError as error:
        missing.append(MissingPart(str(path), f"it could not be read to its end: {error.strerror or error}"))


def _files(paths: Iterable[Path], wanted: Callable[[Path], bool]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            found = (inner for inner in path.rglob("*") if inner.is_file() and not inner.is_symlink())
            yield from sorted(inner for inner in found if wanted(inner))
        else:
            yield path
