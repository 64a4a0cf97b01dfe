"""Read exports of log stores: responses of search APIs, tables, and journald's export format.

Elasticsearch and OpenSearch ``_search``, CloudWatch Insights, Loki ``query_range``, Azure Monitor, Splunk and Graylog
searches, OpenTelemetry's JSON, the CSV of Kibana, Splunk, CloudWatch, and Datadog, and ``journalctl -o export``. Each
record becomes the line that it contains, with its timestamp and machine; a record that the store has parsed (it has a
level) keeps its named values.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

from eosctl.logs.carriers.documents import Piece
from eosctl.logs.carriers.otlp import OTLP, is_otlp, otlp_pieces
from eosctl.logs.carriers.unnamed_columns import ROWS, names_of_rows
from eosctl.logs.levels import COLUMNS, NUMBERS, is_level, level_of_number, names_level

TABLE: Final = "export-table"
JSON: Final = "export-json"
JOURNAL: Final = "export-journal"
_MESSAGES: Final = (
    *("message", "@message", "_raw", "log", "msg", "line", "logmessage", "logentry", "log_s", "event.original"),
    *("body", "textpayload", "rawdata", "content", "log message", "text"),
)
_TIMES: Final = (
    *("@timestamp", "timestamp", "_time", "time", "timegenerated", "ts", "date", "datetime", "@ingestiontime"),
    *("__realtime_timestamp", "date and time"),
)
_HOSTS: Final = ("host.name", "host", "hostname", "computer", "kubernetes.pod.name", "podname", "pod", "instance")
_SERVICES: Final = (
    *("service", "service.name", "app", "kubernetes.labels.app", "kubernetes.container.name", "container"),
    *("containername", "source", "@logstream", "filename"),
)
_JSON_SIGNS: Final = re.compile(
    rb'"hits"\s*:\s*\{|"results"\s*:\s*\[\s*\[|"resultType"\s*:\s*"streams"|"tables"\s*:\s*\[\s*\{|"_source"\s*:\s*\{'
    rb'|"results"\s*:\s*\[\s*\{[^{}]*"(?:_raw|message)"\s*:|"messages"\s*:\s*\[\s*\{[^\[\]]{0,999}"message"\s*:\s*\{'
)
_JSON_LINES: Final = re.compile(rb"\{[^\n]*\}\r?\n\{[^\n]")
"""One record per line. This is not a response, which is a single value."""
_HIT: Final = re.compile(r'"_source"\s*:\s*(?=\{)')
_SIGN_BYTES: Final = 4_096
csv.field_size_limit(1 << 24)


def export_of(sample: bytes) -> str:
    """Return the name of the export that a file's beginning matches; empty if it matches none.

    Args:
        sample: The first part of a file.
    """
    start = sample[:_SIGN_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"__CURSOR="):
        return JOURNAL
    if is_otlp(start):
        return OTLP
    if start.startswith(b"{") and _JSON_SIGNS.search(start) and not _JSON_LINES.match(start):
        return JSON
    return TABLE if _columns(start.decode("utf-8", "replace"), is_whole=len(start) < _SIGN_BYTES - 4) else ""


def export_pieces(data: bytes, export: str) -> Iterator[Piece]:
    """Yield the records of an export, each as a collector's record with a line.

    Args:
        data: The whole file.
        export: A name that ``export_of`` returned.
    """
    if export == JOURNAL:
        yield from _journal(data)
    elif export == OTLP:
        yield from otlp_pieces(data)
    elif export == JSON:
        yield from _answer(data)
    else:
        yield from _table(data)


class _Columns(NamedTuple):
    """The columns of a table."""

    delimiter: str
    names: Sequence[str]
    has_header: bool


def _columns(beginning: str, *, is_whole: bool) -> _Columns | None:
    """Return the columns of a table of log records, which have a message and a time; None for another text.

    Args:
        beginning: The first part of the table.
        is_whole: Whether its last row is complete.
    """
    for delimiter in (",", "\t", ";"):
        rows: list[list[str]] = []
        with suppress(csv.Error):
            rows.extend(islice(csv.reader(io.StringIO(beginning, newline=""), delimiter=delimiter), ROWS + 1))
        if not rows or len(rows[0]) < 2:
            continue
        folded = set(map(_folded, rows[0]))
        if folded & set(_MESSAGES) and folded & set(_TIMES):
            return _Columns(delimiter, rows[0], has_header=True)
        # Without quotes it may be a layout of lines, whose stack traces do not have the columns.
        if beginning.startswith('"') and (named := names_of_rows(rows if is_whole else rows[:-1])):
            return _Columns(delimiter, named, has_header=False)
    return None


def _folded(name: str) -> str:
    """Return a column's name in lower case, without the zone that Azure adds to the names of times."""
    return name.strip().lower().removesuffix(" [utc]")


def _table(data: bytes) -> Iterator[Piece]:
    text = data.decode("utf-8-sig", "surrogateescape")
    lines = [f"{line}\n" for line in text.split("\n")]
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line.encode("utf-8", "surrogateescape")))
    found = _columns(text[:_SIGN_BYTES].lstrip(), is_whole=len(text) <= _SIGN_BYTES)
    if found is None:
        return
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=found.delimiter)
    started = 0
    try:
        for row in reader:
            first, started = started, reader.line_num
            # A file of several exports repeats the names.
            if not any(row) or (found.has_header and row == found.names):
                continue
            is_cut = not found.has_header and len(row) < len(found.names)
            values = None if is_cut else store_record(dict(zip(found.names, row, strict=False)))
            yield Piece(offsets[min(first, len(lines))], first, values, "a row with too few columns" if is_cut else "")
    except csv.Error as error:
        yield Piece(offsets[min(started, len(lines))], started, None, f"{error}")


def _answer(data: bytes) -> Iterator[Piece]:
    text = data.decode("utf-8-sig", "surrogateescape")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = {"hits": {"hits": [{"_source": hit} for hit in _whole_hits(text)]}}
        yield Piece(len(data), text.count("\n"), None, "a truncated response")
    position = line = counted = offset = 0
    for values in _records(answer):
        carried = store_record(values)
        # The position of a record is that of its message in the document.
        written = json.dumps(str(carried.get("_raw", carried.get("message", ""))), ensure_ascii=False)[1:41]
        found = text.find(written, position) if written.strip('"') else -1
        found = found if found >= 0 else text.find(written)
        if found >= position:
            offset += len(text[counted:found].encode("utf-8", "surrogateescape"))
            line += text.count("\n", counted, found)
            position = counted = found
        yield Piece(offset, line, carried, "")
        position += 1


def _records(answer: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a response of any store."""
    if not isinstance(answer, Mapping):
        return
    hits = answer.get("hits")
    if isinstance(hits, Mapping):
        for hit in _items(hits.get("hits")):
            source = hit.get("_source")
            yield source if isinstance(source, Mapping) else hit
    yield from _results(answer)
    data = answer.get("data")
    for stream in _items(data.get("result")) if isinstance(data, Mapping) else ():
        found = stream.get("stream")
        labels = found if isinstance(found, Mapping) else {}
        for value in stream.get("values") or ():
            if isinstance(value, list) and len(value) > 1:
                yield {**labels, "_time": str(value[0])[:13], "_raw": value[1]}
    for table in _items(answer.get("tables")):
        names = [str(column.get("name", "")) for column in _items(table.get("columns"))]
        for row in table.get("rows") or ():
            if isinstance(row, list):
                yield dict(zip(names, row, strict=False))


def _results(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a response of CloudWatch Insights, Splunk, or Graylog."""
    for row in answer.get("results") or ():
        if isinstance(row, list):
            yield {str(cell["field"]): cell.get("value") for cell in _items(row) if "field" in cell}
        elif isinstance(row, Mapping):
            yield row
    for hit in _items(answer.get("messages")):
        if isinstance(message := hit.get("message"), Mapping):
            yield {**message, "host": message.get("source", "")}


def _whole_hits(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the complete hits of a truncated search response."""
    decoder = json.JSONDecoder(strict=False)
    for found in _HIT.finditer(text):
        try:
            values, _ = decoder.raw_decode(text, found.end())
        except (ValueError, RecursionError):
            return
        if isinstance(values, Mapping):
            yield values


def _items(values: Any) -> Iterator[Mapping[str, Any]]:
    return (one for one in values if isinstance(one, Mapping)) if isinstance(values, list) else iter(())


def _journal(data: bytes) -> Iterator[Piece]:
    """Yield the entries of journald's export format: ``NAME=value``, or a name, eight bytes of length, and bytes."""
    position, line = 0, 0
    while position < len(data):
        start, first, values = position, line, {}
        while position < len(data) and data[position : position + 1] != b"\n":
            end = data.find(b"\n", position)
            end = len(data) if end < 0 else end
            name, sign, value = data[position:end].partition(b"=")
            position, line = end + 1, line + 1
            if not sign:
                size = int.from_bytes(data[position : position + 8], "little")
                value = data[position + 8 : position + 8 + size]
                line += value.count(b"\n") + 1
                position += 8 + size + 1
            values[name.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
        position, line = position + 1, line + 1
        if values:
            yield Piece(start, first, values, "")


def store_record(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a log store's record as a collector's record with a line, unless the store has the line's only level."""
    flat = dict(_flat(values))
    named = {_folded(name): value for name, value in flat.items() if value not in (None, "", "-")}
    message = next((named[name] for name in _MESSAGES if name in named), "")
    stamp = str(next((named[name] for name in _TIMES if name in named), "")).replace(" @ ", " ")
    level = _level(named)
    if level and not (_is_line(str(message)) and names_level(str(message))):
        return {**values, "@timestamp": stamp, "level": level}
    host = str(next((named[name] for name in _HOSTS if name in named), ""))
    service = str(next((named[name] for name in _SERVICES if name in named), ""))
    carried = {"_raw": str(message), "_time": stamp, "host": host, "source": service}
    return {name: value for name, value in carried.items() if value or name in ("_raw", "_time")}


_WORDS: Final = frozenset(name.lower() for name in COLUMNS)
_NUMBERS: Final = frozenset(name.lower() for name in NUMBERS if name != "PRIORITY")


def _level(named: Mapping[str, Any]) -> str:
    """Return the level in the columns of a record: one of a known name, or one whose value is a level."""
    words = (str(value) for name, value in named.items() if name in _WORDS or name.rpartition(".")[2] in _WORDS)
    if word := next(words, ""):
        return word
    others = (str(value) for name, value in named.items() if name not in _MESSAGES and isinstance(value, str))
    if word := next((text for text in others if is_level(text)), ""):
        return word
    numbers = (level_of_number(name, str(value)) for name, value in named.items() if name in _NUMBERS)
    return next(filter(None, numbers), "")


def _is_line(message: str) -> bool:
    """Return whether a message is a complete log line with its own timestamp."""
    return re.match(r".{0,12}\d\d:\d\d:\d\d|\[?\d{4}-\d\d-\d\d", message) is not None


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
