"""Unwrap lines that collectors keep unparsed in JSON, next to their source and time.

Filebeat, Vector, Logstash, Fluent Bit and Fluentd, journald, Loki, Google Cloud, CloudWatch, and Splunk. A record that
a collector has parsed (it has a level or a logger) is left unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from eosctl.logs.carriers.exports import store_record
from eosctl.logs.files.applications import application_of
from eosctl.logs.files.hosts import host_of_values
from eosctl.logs.levels import level_of, with_priority


class Inner(NamedTuple):
    """A line without its wrapper.

    Attributes:
        stream: The stream or service that it belongs to; empty if the file has only one.
        text: The line, or several lines that the collector has joined.
        whole: Whether it is complete.
        stamp: The time in the wrapper at which it was written.
        host: The machine that the wrapper names.
        path: The file from which it was read, according to the wrapper.
    """

    stream: str
    text: bytes
    whole: bool = True
    stamp: str = ""
    host: str = ""
    path: str = ""


_CARRIED: Final = {
    "MESSAGE": ("__REALTIME_TIMESTAMP",),
    "textPayload": ("timestamp", "receiveTimestamp"),
    "log": ("time", "timestamp", "@timestamp", "date"),
    "line": ("timestamp", "ts"),
    "_raw": ("_time",),
    "LogMessage": ("TimeGenerated",),
    "LogEntry": ("TimeGenerated",),
    "message": ("@timestamp", "timestamp", "time", "date", "ingestionTime"),
}
"""Collectors' field names for the line, and for the time next to it."""
_AMBIGUOUS: Final = frozenset({"log", "line", "message"})
"""Field names that programs use for their own messages."""
_TAKEN_APART: Final = ("level", "severity", "lvl", "log_level", "loglevel", "levelname", "log.level", "logger_name")
"""Fields next to a program's own message, or to a line that the collector has parsed."""
_COLLECTORS: Final = (
    *("ingestionTime", "agent", "beat", "@metadata", "source_type", "@version", "kubernetes", "log.file.path"),
    "tailed_path",
)
"""Fields that collectors put next to a ``message``: CloudWatch, Beats, Vector, Logstash, Fluent Bit, Fluentd."""
_PATHS: Final = ("log.file.path", "tailed_path", "filename", "file", "path", "file_path", "filepath", "log_file")
_JOURNAL_MARKS: Final = (b"\x1e", b"data: ")
"""What ``journalctl -o json-seq`` and ``-o json-sse`` write before each object."""
_DOCKER_BUFFER_BYTES: Final = 16 * 1024


def read_carried(line: bytes) -> Inner | None:
    """Return a line without the collector's wrapper; None if it is not wrapped in this way."""
    if line.startswith(_JOURNAL_MARKS):
        line = line.removeprefix(b"data: ").lstrip(b"\x1e")
    if not line.startswith(b"{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    stored = _hit(entry)
    return carried_in(entry if stored is None else store_record(stored))


def _hit(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the record of a search hit that has a line to itself: dumps of Elasticsearch, and exports of Splunk."""
    source, result = entry.get("_source"), entry.get("result")
    if isinstance(source, dict):
        return source
    return result if isinstance(result, dict) and "_raw" in result else None


def carried_in(entry: Mapping[str, Any]) -> Inner | None:
    """Return the line in a collector's record; None if the record is a program's own."""
    path = _path(entry)
    for name, stamps in _CARRIED.items():
        text = _line(entry, name)
        stamp = next((entry[other] for other in stamps if other in entry), None)
        if not isinstance(text, str) or stamp is None:
            continue
        if name in _AMBIGUOUS and _is_taken_apart(entry):
            continue
        if name == "message" and not _is_collected(entry):
            continue
        return Inner(
            stream=_service(entry) or (application_of(Path(path)) if path else ""),
            text=with_priority(text.rstrip("\r\n").encode("utf-8", "replace"), _level(entry)),
            whole=_is_whole(name, text, entry),
            stamp=str(stamp)[: 13 if str(stamp).isdecimal() else None],
            host=host_of_values(entry),
            path=path,
        )
    return None


def _level(entry: Mapping[str, Any]) -> str:
    """Return the level that a collector has for a line: Google Cloud's and journald's."""
    named = next((entry[name] for name in ("severity", "PRIORITY", "level") if name in entry), "")
    return level_of(str(named)) if isinstance(named, str | int) else ""


def _line(entry: Mapping[str, Any], name: str) -> object:
    """Return the line under a name; journald stores one that is not plain text as an array of bytes.

    ``journalctl -o json`` writes null for a field of more than 4,096 bytes; its line is empty.
    """
    value = entry.get(name)
    if isinstance(value, list) and value and all(isinstance(one, int) and 0 <= one < 256 for one in value):
        return bytes(value).decode("utf-8", "replace")
    return "" if value is None and name == "MESSAGE" and name in entry else value


def _is_whole(name: str, text: str, entry: Mapping[str, Any]) -> bool:
    """Return whether a line ends here: container engines split long lines, and set a flag or omit the line break."""
    if "logtag" in entry:
        return bool(entry["logtag"] == "F")
    return name != "log" or "stream" not in entry or ends_line(text.encode("utf-8", "replace"))


def ends_line(text: bytes) -> bool:
    """Return whether Docker's text ends a line: it splits only a full buffer, and collectors may drop line breaks."""
    return text.endswith(b"\n") or len(text) < _DOCKER_BUFFER_BYTES


def _is_collected(entry: Mapping[str, Any]) -> bool:
    below = entry.get("log")
    return any(sign in entry for sign in _COLLECTORS) or (isinstance(below, dict) and "file" in below)


def _is_taken_apart(entry: Mapping[str, Any]) -> bool:
    below = entry.get("log")
    return any(name in entry for name in _TAKEN_APART) or (isinstance(below, dict) and "level" in below)


def _path(entry: Mapping[str, Any]) -> str:
    below = entry.get("log")
    file = below.get("file") if isinstance(below, dict) else None
    paths = (file.get("path") if isinstance(file, dict) else None, *(entry.get(name) for name in _PATHS))
    return next((path for path in paths if isinstance(path, str) and "/" in path.replace("\\", "/")), "")


def _service(entry: Mapping[str, Any]) -> str:
    """Return the name of the program that wrote a collector's line."""
    for name in ("SYSLOG_IDENTIFIER", "_SYSTEMD_UNIT", "logStreamName", "source"):
        if isinstance(entry.get(name), str):
            return str(entry[name])
    labels = (entry.get("kubernetes"), entry.get("labels"), (entry.get("resource") or {}))
    for group in labels:
        inner = group.get("labels", group) if isinstance(group, dict) else {}
        for name in ("pod_name", "pod", "container_name", "container", "app"):
            if isinstance(inner, dict) and isinstance(inner.get(name), str):
                return str(inner[name])
    return ""
