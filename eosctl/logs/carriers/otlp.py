"""Read the OpenTelemetry Collector's JSON: requests with ``resourceLogs``, one in the file or one on each line.

Shape: ``opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest`` in JSON, as the file exporter writes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from eosctl.logs.carriers.documents import Piece
from eosctl.logs.levels import level_of_number

OTLP: Final = "export-otlp"
_SIGN: Final = re.compile(rb'\{\s*"(?:resourceLogs|resource_logs)"\s*:\s*\[')
_BLANK: Final = re.compile(r"\s*")
_NANOSECONDS: Final = 6
"""The digits of a time in nanoseconds behind the milliseconds."""


def is_otlp(start: bytes) -> bool:
    """Return whether a file begins with a request of OpenTelemetry."""
    return _SIGN.match(start) is not None


def otlp_pieces(data: bytes) -> Iterator[Piece]:
    """Yield the records of all requests in a file, each at the line of its request; other text is a last piece."""
    text = data.decode("utf-8-sig", "surrogateescape")
    decoder = json.JSONDecoder(strict=False)
    position = line = offset = 0
    while True:
        blank = _BLANK.match(text, position)
        begin = blank.end() if blank else position
        line += text.count("\n", position, begin)
        offset += len(text[position:begin].encode("utf-8", "surrogateescape"))
        if begin >= len(text):
            return
        try:
            request, end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            yield Piece(offset, line, None, text[begin:])
            return
        for number, record in enumerate(_records(request)):
            # The position identifies a record, so records of one request have different ones.
            yield Piece(offset + number, line, record, "")
        line += text.count("\n", begin, end)
        offset += len(text[begin:end].encode("utf-8", "surrogateescape"))
        position = end


def _records(request: Any) -> Iterator[Mapping[str, Any]]:
    for resource in _items(request, "resourceLogs", "resource_logs"):
        shared = _attributes(resource.get("resource"))
        for scope in _items(resource, "scopeLogs", "scope_logs"):
            for record in _items(scope, "logRecords", "log_records"):
                yield _record(record, shared, scope.get("scope"))


def _record(record: Mapping[str, Any], shared: Mapping[str, Any], scope: Any) -> Mapping[str, Any]:
    named = {name: value for name, value in record.items() if isinstance(value, (str, int))}
    stamp = str(next((named[one] for one in ("timeUnixNano", "observedTimeUnixNano") if one in named), ""))
    logger = scope.get("name", "") if isinstance(scope, Mapping) else ""
    body = _value(record.get("body"))
    message = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    values = {
        **_attributes(record),
        "@timestamp": stamp[:-_NANOSECONDS],
        "level": _level(named),
        "logger": logger,
        "message": message,
        "service.name": shared.get("service.name", shared.get("k8s.container.name", "")),
        "host.name": shared.get("k8s.pod.name", shared.get("host.name", "")),
    }
    return {name: value for name, value in values.items() if value != ""}


def _level(named: Mapping[str, Any]) -> str:
    numbers = (str(named[one]) for one in ("severityNumber", "severity_number") if one in named)
    words = (str(named[one]) for one in ("severityText", "severity_text") if one in named)
    return next(words, "") or next((level_of_number("severityNumber", number) for number in numbers), "")


def _attributes(owner: Any) -> Mapping[str, Any]:
    return {str(one.get("key", "")): _value(one.get("value")) for one in _items(owner, "attributes")}


def _value(wrapped: Any) -> Any:
    """Return the value of ``AnyValue``, e.g. ``{"stringValue": "text"}``."""
    if not isinstance(wrapped, Mapping):
        return "" if wrapped is None else wrapped
    name, value = next(iter(wrapped.items()), ("", ""))
    if name == "kvlistValue":
        return {str(one.get("key", "")): _value(one.get("value")) for one in _items(value, "values")}
    return [_value(one) for one in _items(value, "values")] if name == "arrayValue" else value


def _items(owner: Any, *names: str) -> Sequence[Mapping[str, Any]]:
    found = next((owner[name] for name in names if name in owner), ()) if isinstance(owner, Mapping) else ()
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else ()
