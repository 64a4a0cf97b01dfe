"""What collectors keep as JSON around a line that they do not understand: the line, its source and its time.

Filebeat, Vector, Logstash, Fluent Bit and Fluentd, journald, Loki, Google Cloud, CloudWatch and Splunk. A record that a
collector has taken apart (it has a level, or a logger) is left as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from eosctl.logs.carriers.exports import store_record
from eosctl.logs.files.applications import application_of
from eosctl.logs.files.hosts import host_of_values


class Inner(NamedTuple):
    """A line without its wrapper.

    Attributes:
        stream: The stream or service that it belongs to; empty when there is one.
        text: The line; several when the collector has joined them.
        whole: Whether it is complete.
        stamp: When the wrapper says that it was written.
        host: The machine that the wrapper names.
        path: The file that the wrapper says it was read from.
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
    "message": ("ingestionTime", "@timestamp", "timestamp", "time", "date"),
}
"""What collectors call the line, and the time beside it."""
_AMBIGUOUS: Final = frozenset({"log", "line", "message"})
"""Names that programs use for their own messages."""
_TAKEN_APART: Final = ("level", "severity", "lvl", "log_level", "loglevel", "levelname", "log.level", "logger_name")
"""What stands beside the message where it is a program's own, or where the collector has taken the line apart."""
_COLLECTORS: Final = (
    *("ingestionTime", "agent", "beat", "@metadata", "source_type", "@version", "kubernetes", "log.file.path"),
    "tailed_path",
)
"""What collectors put beside a ``message``: CloudWatch, Beats, Vector, Logstash, Fluent Bit, Fluentd."""
_PATHS: Final = ("log.file.path", "tailed_path", "filename", "file", "path", "file_path", "filepath", "log_file")
_DOCKER_BUFFER_BYTES: Final = 16 * 1024


def read_carried(line: bytes) -> Inner | None:
    """Take off what a collector put around a line; None when it is not wrapped in this way."""
    if not line.startswith(b"{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    stored = entry.get("_source")
    # One hit of a search a line, as dumps of Elasticsearch have it.
    return carried_in(store_record(stored) if isinstance(stored, dict) else entry)


def carried_in(entry: Mapping[str, Any]) -> Inner | None:
    """Return the line among the named values of a collector's record; None when they are a program's own."""
    path = _path(entry)
    for name, beside in _CARRIED.items():
        text = _text(entry.get(name))
        stamp = next((entry[other] for other in beside if other in entry), None)
        if not isinstance(text, str) or stamp is None:
            continue
        if name in _AMBIGUOUS and _is_taken_apart(entry):
            continue
        if name == "message" and not _is_collected(entry):
            continue
        return Inner(
            _service(entry) or (application_of(Path(path)) if path else ""),
            text.rstrip("\r\n").encode("utf-8", "replace"),
            _is_whole(name, text, entry),
            str(stamp)[: 13 if str(stamp).isdecimal() else None],
            host_of_values(entry),
            path,
        )
    return None


def _text(value: object) -> object:
    """Return a line; journald gives one that is not plain text as an array of its bytes."""
    if isinstance(value, list) and value and all(isinstance(one, int) and 0 <= one < 256 for one in value):
        return bytes(value).decode("utf-8", "replace")
    return value


def _is_whole(name: str, text: str, entry: Mapping[str, Any]) -> bool:
    """Whether a line ends here: containers' engines cut long ones, and tell so by a flag or a missing line end."""
    if "logtag" in entry:
        return bool(entry["logtag"] == "F")
    return name != "log" or "stream" not in entry or ends_line(text.encode("utf-8", "replace"))


def ends_line(text: bytes) -> bool:
    """Whether what Docker keeps ends a line: it parts only what fills its buffer; collectors may drop line ends."""
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
    told = (file.get("path") if isinstance(file, dict) else None, *(entry.get(name) for name in _PATHS))
    return next((path for path in told if isinstance(path, str) and "/" in path.replace("\\", "/")), "")


def _service(entry: Mapping[str, Any]) -> str:
    """Name who wrote a line that a collector keeps."""
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
