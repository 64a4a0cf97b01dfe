"""Read records that are named values (JSON, logfmt): find the parts by the names that programs use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from eosctl.logs.carriers.counted import with_counts
from eosctl.logs.carriers.nesting import flattened, level_like, message_like, parsed, time_like, trace_like
from eosctl.logs.files.hosts import host_of_values
from eosctl.logs.levels import COLUMNS, NUMBERS, level_of, level_of_number

_MESSAGE: Final = (
    *("message", "msg", "log", "@m", "short_message", "event", "body", "text", "@mt", "body.stringValue"),
    *("line", "content"),
)
_TIME: Final = (
    *("@timestamp", "timestamp", "time", "ts", "@t", "asctime", "datetime", "date", "t", "timeMillis", "eventTime"),
    *("timeUnixNano", "observedTimestamp", "created", "created_at", "createdAt"),
)
_LINES: Final = ("MESSAGE", "textPayload", "line", "_raw", "LogMessage", "LogEntry")
_STAMPS: Final = ("receiveTimestamp", "__REALTIME_TIMESTAMP", "_time", "ingestionTime", "TimeGenerated")
"""Collectors' names for a line, and for the time next to it."""
_LOGGER: Final = (
    *("logger_name", "log.logger", "loggerName", "logger", "logger.name", "SourceContext", "scope", "category", "name"),
    *("class", "module", "component", "caller"),
)
_THREAD: Final = ("thread_name", "process.thread.name", "thread", "threadName", "logger.thread_name", "thread.name")
_APPLICATION: Final = (
    "service",
    "service.name",
    "application",
    "app",
    "appName",
    "applicationName",
    "application.name",
)
_PINO: Final = frozenset({"pid", "hostname", "name"})
_STACK: Final = (
    *("stack_trace", "error.stack_trace", "exception", "stacktrace", "exc_info", "stack", "error.stack", "err.stack"),
    *("@x", "exception.stacktrace", "exception.stack_trace", "exception.stackTrace", "stackTrace", "error.stacktrace"),
    *("throwable", "error", "err", "full_message"),
)
_FAILURE: Final = (
    *("error", "err", "e", "exception", "cause", "reason", "detail", "error_message", "errorMessage", "error.message"),
    *("err.message", "exception.message", "exc.message"),
)
"""Names for the description of an error, if the message has only the attempted operation."""
_OF_A_FAILURE: Final = re.compile(
    r"[._-](?i:err|error|exception|cause|reason)$|[a-z0-9](?:Err|Error|Exception|Cause|Reason)$"
)
"""The end of the names that programs make themselves for the same, such as ``sarama_error`` and ``kafkaErr``."""
_SAID: Final = ("err.message", "error.message", "reason.message", "exception.message", "cause.message")
_OF_NODE: Final = re.compile(r"\n[ \t]+at [^\n]{0,300}(?:\.[cm]?[jt]s:\d+|\bnode:|\(internal/)")
"""A stack of JavaScript, whose error has no class that the record could be known by: its text says what failed."""
_IDENTITIES: Final = {
    "transactionalid": "transactional.id",
    "transactiontimeout": "transaction.timeout",
    "transactiontimeoutms": "transaction.timeout.ms",
    "groupid": "group.id",
    "consumergroup": "group.id",
    "consumergroupid": "group.id",
    "producerid": "producer_id",
    "producerepoch": "producer epoch",
    "componentid": "component_id",
    "clientid": "clientId",
    "otelcolcomponentid": "component_id",
    "addr": "addr",
    "brokeraddr": "addr",
    "errorcode": "error code",
    "errcode": "error code",
}
"""Names of a record's subjects: as programs spell them, without signs and in lower case, and as in the catalog."""
_ERRORS: Final = ("err", "error", "exception", "cause")
"""Objects with the parts of an error; clients in Node name its number ``code`` or ``errno``."""
_OF_GROUPS: Final = re.compile(r"(?i)\b(?:auto)?(?:commit|group|heartbeat|join|sync|rebalanc|offset|generation)")
"""Words of messages about a consumer group, in which the name ``group`` is that of the group."""
_OF_TRANSACTIONS: Final = re.compile(r"(?i)\b(?:abort|batch|begin|commit|produc|transaction|txn)")
"""The same for the name ``txn``, which is the transactional id if it is not a number."""
_CONTAINERS: Final = ("fields", "attributes", "jsonPayload", "payload", "context", "properties", "extra")
"""Objects that contain the record, or parts of it, one level down."""
_SIGNS: Final = re.compile(r"[ ._-]|^kafka")
_TRACE: Final = re.compile(r"^[^\S\n]*+at |Exception|Error|Throwable|Traceback", re.MULTILINE)
_PLACEHOLDER: Final = re.compile(r"\{[@$]?(\w{1,80})(?:[,:][^{}\n]{0,40})?\}")
_PAIR: Final = re.compile(r'([\w.@-]+)=("(?:[^"\\]|\\.)*"|[^\s"]*)')


class Entry(NamedTuple):
    """The parts of a record, as ``Record`` has them, and whether its level is a number."""

    time: str
    level: str
    thread: str
    logger: str
    application: str
    message: str
    rest: str
    host: str
    is_level_number: bool


def read_entry(values: Mapping[str, Any]) -> Entry:
    """Find the parts of a record among its named values; names are tried exactly, then in any case.

    A part without a known name is recognized by its shape.
    """
    values = flattened(_without_line_numbers(values), _MESSAGE, _TIME, COLUMNS)
    names = _Names(values)
    told_message = _rendered(names.text(*_MESSAGE), names) or message_like(values)
    if (inner := parsed(told_message)) is not None:
        values = {**values, **flattened(inner, _MESSAGE, _TIME, COLUMNS)}
        names = _Names(values)
        told_message = names.text(*_MESSAGE) or told_message
    if words := _words_of_label(names, told_message):
        told_message = f"{told_message}: {words}"
    message, _, more = told_message.partition("\n")
    message = with_counts(message, values)
    stack = _stack(names, message)
    texts = "\n".join((message, more, stack))
    described = (*map(names.text, _FAILURE), *names.texts_called(_OF_A_FAILURE))
    failures = [text for text in dict.fromkeys(described) if text and text not in texts]
    # A message has only the attempted operation where the error has a value of its own.
    if failures and message and not stack:
        message = f"{message}: {failures.pop(0)}"
    elif message and _OF_NODE.search(stack) and (said := names.text(*_SAID)) and said not in message:
        message = f"{message.rstrip(' :')}: {said}"
    below = (more, stack, *failures, _identities(values, message))
    level, is_level_number = _level(names, values)
    # Pino and Bunyan have no loggers: their name is that of the program.
    program = names.text("name") if is_level_number and values.keys() >= _PINO else ""
    return Entry(
        _time(values, names),
        level,
        names.text(*_THREAD),
        "" if program else names.text(*_LOGGER),
        names.text(*_APPLICATION) or program,
        message.rstrip("\r"),
        "\n".join(part for part in below if part.strip()),
        host_of_values(values),
        is_level_number,
    )


def _level(names: _Names, values: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the level among named values, and whether it is a number."""
    if text := names.text(*COLUMNS) or level_like(values):
        return level_of(text), text.strip().isdecimal()
    found = ((name, names.text(name)) for name in NUMBERS if name != "PRIORITY" or names.has(name))
    return next(((level, True) for name, text in found if text and (level := level_of_number(name, text))), ("", False))


def _words_of_label(names: _Names, message: str) -> str:
    """Return the text next to a message of one word: programs label what a library logs with the library's name.

    >>> _words_of_label(_Names({"msg": "rdkafka", "text": "Connect failed"}), "rdkafka")
    'Connect failed'
    """
    if not message or " " in message.strip():
        return ""
    others = (names.text(name) for name in _MESSAGE if names.has(name))
    return next((text for text in others if text != message and " " in text.strip()), "")


def _rendered(text: str, names: _Names) -> str:
    """Return a message template of Serilog with the values of its placeholders; one without a value stays.

    >>> _rendered("Consuming {Topic:l} failed", _Names({"Topic": "orders", "@mt": ""}))
    'Consuming orders failed'
    """
    if "{" not in text or not names.has("@mt"):
        return text
    return _PLACEHOLDER.sub(lambda found: names.text(found[1]) or found[0], text)


def _without_line_numbers(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out the number of a line of source code, which has a name of messages."""
    return {name: value for name, value in values.items() if not (name == "line" and isinstance(value, int))}


def is_record(values: Mapping[str, Any]) -> bool:
    """Return whether named values are a log record: they have a message, or a collector's line, and a time."""
    names = _Names(flattened(values, _MESSAGE, _TIME, COLUMNS))
    # Journald's line may be an array of bytes or null.
    has_line = _LINES[0] in values or bool(names.text(*_MESSAGE, *_LINES))
    return has_line and bool(names.text(*_TIME, *_STAMPS) or "instant" in values)


def parse_pairs(line: str) -> dict[str, str]:
    """Parse ``name=value name="value with \\"quotes\\""``; the first value of a repeated name counts."""
    values: dict[str, str] = {}
    for name, value in _PAIR.findall(line):
        values.setdefault(name, _unquoted(value))
    return values


class _Names:
    """Named values: a dotted name may refer to nested objects; names match exactly, or else in any case."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._lowered: dict[str, Any] | None = None

    def text(self, *names: str) -> str:
        """Return the first of these names' values that is text or a number."""
        for name in names:
            value = self._values.get(name)
            if value is None and "." in name:
                value = self._nested(name)
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                return str(value)
        if self._lowered is None:
            self._lowered = {
                str(name).lower().lstrip("_"): value
                for name, value in self._values.items()
                if isinstance(value, str | int | float) and not isinstance(value, bool)
            }
        found = next((str(self._lowered[name.lower()]) for name in names if name.lower() in self._lowered), "")
        return found or self._text_below(names)

    def _text_below(self, names: tuple[str, ...]) -> str:
        inner = (self._values.get(name) for name in _CONTAINERS)
        return next((text for one in inner if isinstance(one, Mapping) and (text := _Names(one).text(*names))), "")

    def texts_called(self, names: re.Pattern[str]) -> Iterator[str]:
        """Yield the texts of more than one word whose names match."""
        for name, value in self._values.items():
            if isinstance(value, str) and " " in value and names.search(name):
                yield value

    def has(self, name: str) -> bool:
        """Return whether there is a value of exactly this name."""
        return name in self._values

    def lines(self, name: str) -> str:
        """Return a named list of lines, joined; empty if it is not such a list."""
        value = self._values.get(name)
        if value is None and "." in name:
            value = self._nested(name)
        return "\n".join(value) if isinstance(value, list) and all(isinstance(line, str) for line in value) else ""

    def tree(self, name: str) -> Mapping[str, Any] | None:
        """Return a nested object."""
        value = self._values.get(name)
        return value if isinstance(value, Mapping) else None

    def trace_by_shape(self) -> str:
        """Return the value, of any name, that looks like a stack trace."""
        return trace_like(self._values)

    def _nested(self, name: str) -> Any:
        value: Any = self._values
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value


def _stack(names: _Names, message: str) -> str:
    """Return the stack trace; empty if the candidate only repeats the message, or is not a stack trace."""
    for name in _STACK:
        found = names.text(name) or names.lines(name)
        if found and found.strip() != message and _TRACE.search(found):
            return found.removeprefix(message).lstrip("\n") if found.startswith(f"{message}\n") else found
    if thrown := _thrown(names):
        return thrown
    for kind, text in (
        ("error.type", "error.message"),
        ("exception.type", "exception.message"),
        ("err.type", "err.message"),
    ):
        if name := names.text(kind):
            return f"{name}: {names.text(text)}"
    shaped = names.trace_by_shape()
    # A message of many lines is not a second stack trace.
    return "" if shaped.startswith(message) else shaped


def _thrown(names: _Names) -> str:
    """Return log4j2's and logback's trees of throwables as a stack trace."""
    lines: list[str] = []
    thrown = names.tree("thrown") or names.tree("throwable") or names.tree("exception")
    while isinstance(thrown, Mapping):
        prefix = "Caused by: " if lines else ""
        kind = thrown.get("name") or thrown.get("className") or thrown.get("exception_class") or thrown.get("class")
        frames = thrown.get("extendedStackTrace") or thrown.get("stepArray") or thrown.get("stacktrace")
        if not kind:
            lines += [frames] if isinstance(frames, str) else []
            break
        lines.append(f"{prefix}{kind}: {thrown.get('message') or thrown.get('exception_message') or ''}")
        if isinstance(frames, list):
            lines += [
                f"\tat {frame.get('class') or frame.get('className')}.{frame.get('method') or frame.get('methodName')}("
                for frame in frames
                if isinstance(frame, Mapping)
            ]
        elif isinstance(frames, str):
            lines.append(frames)
        thrown = thrown.get("cause")
    return "\n".join(lines)


def _identities(values: Mapping[str, Any], message: str) -> str:
    """Return the ids among named values, and one level below, as text logs print them."""
    found: dict[str, str] = {}
    nested = [value for value in values.values() if isinstance(value, Mapping)]
    for group in (values, *nested):
        for name, value in group.items():
            known = _IDENTITIES.get(_SIGNS.sub("", str(name).lower()))
            if known and isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                found.setdefault(known, str(value).strip())
    for name in _ERRORS:
        error = values.get(name)
        if isinstance(error, Mapping) and str(code := error.get("code", error.get("errno", ""))).strip("-").isdecimal():
            found.setdefault("code", str(code))
    # Redpanda Connect names its inputs and outputs by labels.
    if "@service" in values and isinstance(label := values.get("label"), str) and label.strip():
        found.setdefault("component_id", label.strip())
    named = values.get("group")
    if isinstance(named, str) and named.strip() and _OF_GROUPS.search(message):
        found.setdefault("group.id", named.strip())
    named = values.get("txn")
    if isinstance(named, str) and not named.strip().isdecimal() and named.strip() and _OF_TRANSACTIONS.search(message):
        found.setdefault("transactional.id", named.strip())
    ids = [f"{name}={value}" for name, value in found.items()]
    topic, partition = values.get("topic"), values.get("partition")
    if isinstance(topic, str) and str(partition).isdecimal():
        ids.append(f"topic-partition {topic}-{partition}")
    elif isinstance(topic, str) and topic.strip():
        ids.append(f"topic={topic.strip()}")
    return " ".join(ids)


def _time(values: Mapping[str, Any], names: _Names) -> str:
    instant = values.get("instant")
    if isinstance(instant, Mapping):
        try:
            return f"{instant.get('epochSecond', 0)}.{int(instant.get('nanoOfSecond', 0)):09d}"
        except (TypeError, ValueError):
            return ""
    stamp = names.text(*_TIME) or time_like(values)
    if stamp.isdecimal() and len(stamp) in (16, 19):  # micro- and nanoseconds since the epoch
        return stamp[:13]
    return stamp


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value, strict=False))
    except ValueError:
        return value[1:-1]
