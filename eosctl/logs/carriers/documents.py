"""Read records from one JSON document, or from JSON over many lines: exports of consoles, and pretty printers.

Each record becomes one line of JSON for the scanner, with its position in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from eosctl.logs.carriers.structured import is_record

_BETWEEN: Final = re.compile(r"[\s,\[\]]*")
_LIST: Final = re.compile(r'\{\s*"(?:events|entries|logEvents|records|results|items|logs|data)"\s*:\s*\[')
"""The beginning of an export that has the records in one of its values: responses of CloudWatch and search servers."""
_FIRST: Final = 3
"""Number of records that show whether a document contains records: journald leaves out long messages."""
_BEGINS: Final = re.compile(rb"\s*(?:\[\s*\{|\{\s*[\r\n])")


class Piece(NamedTuple):
    """A record with its position (byte, and line from 0); for text that is not JSON, the record is None."""

    offset: int
    line: int
    values: Mapping[str, Any] | None
    text: str


def holds_records(sample: bytes) -> bool:
    """Return whether the first part of a file is a document of log records, which have a message and a time."""
    if not _BEGINS.match(sample) and not _LIST.match(sample[:200].decode("utf-8", "replace").lstrip()):
        return False
    first = (piece.values for piece in islice(pieces_of(sample), _FIRST) if piece.values is not None)
    return any(is_record(values) for values in first)


def pieces_of(data: bytes) -> Iterator[Piece]:
    """Yield the records of a document; text from a position that is not JSON is one last piece.

    Args:
        data: The whole file, or its first part.
    """
    text = data.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder(strict=False)
    found = _LIST.match(text, len(text) - len(text.lstrip()))
    position = counted = offset = line = 0
    if found:
        position = found.end()
    while True:
        between = _BETWEEN.match(text, position)
        position = between.end() if between else position
        if position >= len(text) or (found and text[position] in '"}'):
            return
        offset += len(text[counted:position].encode("utf-8", "surrogateescape"))
        line += text.count("\n", counted, position)
        counted = position
        try:
            values, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            yield Piece(offset, line, None, text[counted:])
            return
        yield Piece(offset, line, values if isinstance(values, dict) else None, text[counted:position])
