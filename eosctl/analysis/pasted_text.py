"""Parse pasted text: names of errors, settings, and issues, and ids for follow-up commands.

Patterns are compiled on first use, since a single name needs none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from eosctl.model.reference import PastedText

LONGEST: Final = 65_536


class _Lazy:
    """A pattern that is compiled on first use."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._source = (pattern, flags)

    @cached_property
    def re(self) -> re.Pattern[str]:
        return re.compile(*self._source)


_TERMINAL_CODES: Final = _Lazy(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CAUSE: Final = _Lazy(r"^[ \t]*(?:Caused by|caused by|Root cause|root cause)\b:?", re.MULTILINE)
_CLASS: Final = _Lazy(
    r"(?<![\w.$])(?:[A-Za-z_][\w$]*\.)*(_?[A-Z][\w$]*?(?:Exception|Error|OutOfRange|Aborted))\b(?!\s*Handler)"
)
_CODE: Final = _Lazy(r"(?<!\w)(_?[A-Z][A-Z0-9]+(?:_+[A-Z0-9]+)+|_[A-Z]{3,})(?!\w|\.\w)")
_ERRC: Final = _Lazy(r"\b(?:tx_errc|tx::errc|error_code|errc)::(\w+)")
_RUST: Final = _Lazy(r"\(([A-Z][a-z]+(?:[A-Z][a-z]+)+)\)")
_MODULE: Final = _Lazy(r"\b(?:errors|kerr|Errors)\.([A-Z]\w+)\b")
_LIBRDKAFKA: Final = _Lazy(r"\bRD_KAFKA_RESP_ERR_(\w+)")
_GO: Final = _Lazy(r"(?<![\w.])(?:\w+\.)?(Err[A-Z]\w+)\b")
_ISSUE: Final = _Lazy(r"\b((?:KIP[ -]?|(?:KAFKA|FLINK|EOS-[A-Z]{3})-)\d+)\b", re.IGNORECASE)
_LIBRDKAFKA_ISSUE: Final = _Lazy(r"\blibrdkafka ?#?-?(\d+(?:\.\d+)*)\b")
_SETTING: Final = _Lazy(r"(?<![\w./$-])([a-z][a-z0-9]*(?:[._-][a-z0-9]+){1,9})(?![\w/])")
_TOPIC: Final = _Lazy(
    r"(?<![\w/])(__(?:transaction_state|consumer_offsets|cluster_metadata|share_group_state))(?:-\d+)?"
)
_CAMEL: Final = _Lazy(r"(?<![\w.])([A-Z][a-z]+(?:[A-Z][a-z]*)+)(?![\w.])")
_NUMBER: Final = _Lazy(
    r"(?i:\b(?:error[ _]?code|errorcode|err(?:or)?|code|val)\b\"?\s*(?:[=:]|is|was)?\s*[(\[]?\s*)(-?\d{1,3})(?![\w.-])"
    r"|\[Error (-?\d{1,3})\]|(?:^|[:,] |\()\[(\d{1,3})\] (?=[A-Z][a-z]+ [A-Z][a-z]+)",
    re.MULTILINE,
)
_ID: Final = r"(?:[\"'`](?P<quoted>[^\"'`\n]{1,255})[\"'`]|(?P<value>[^\s,;\"'`<>()\[\]{}]{1,255}))"
_VALUES: Final = (
    (
        "transactional_id",
        _Lazy(rf"(?i:\btransactional[ ._-]?id)(?:\"?\s*[=:]\s*|\s+(?:is\s+)?(?=[\"'`]|\S*[\d_-])){_ID}"),
    ),
    ("transactional_id", _Lazy(rf"\[tx_id={_ID}")),
    ("transactional_id", _Lazy(rf"(?i:\btransactionalid)\s+{_ID}(?=\s+(?:with|due|append|failed|has))")),
    ("group", _Lazy(rf"(?i:\bgroup[ ._-]?id)(?:\"?\s*[=:]\s*){_ID}")),
    ("group", _Lazy(rf"(?i:\b(?:consumer )?group)\s+(?=[\"'`]|\S*[\d_-]){_ID}")),
    ("producer_id", _Lazy(r"(?i:\bproducer(?:[ _]?id)?|\bpid)\"?\s*[=: ]\s*(?P<value>\d+)")),
    ("epoch", _Lazy(r"(?i:\b(?:producer)?[ _]?epoch)\"?\s*[=: ]\s*(?P<value>\d+)")),
    ("broker", _Lazy(r"(?i:\b(?:broker|node)(?: id)?)\s*[=:]?\s*(?P<value>\d+)\b")),
)
_PARTITION: Final = _Lazy(
    r"(?:(?i:\bpartition|\btopic-partition|\bon|\bfor|\bin)\s+|[\s\[(=:])(?P<topic>(?!\d)[\w.][\w.-]{0,248}?)-(?P<partition>\d{1,5})"
    r"(?=$|[\s,;:.)\]}@'\"])(?!\.\d)"
)
_TOPIC_FIELDS: Final = _Lazy(
    r"(?i:\btopic)\"?\s*[=: ]\s*[\"'`]?(?P<topic>[\w.][\w.-]{0,248})[\"'`]?[,;\s]+"
    r"(?i:partition)\"?\s*[=: ]\s*(?P<partition>\d+)"
)
_NO_ID: Final = frozenset(
    {
        "null",
        "none",
        "is",
        "was",
        "not",
        "and",
        "or",
        "the",
        "has",
        "with",
        "for",
        "in",
        "authorization",
        "invalid",
        "unknown",
        "id",
    }
)


def plain_text(text: str) -> str:
    """Return the first 64 KiB of a text without terminal codes; replace invalid Unicode by question marks."""
    readable = text[:LONGEST].encode("utf-8", "replace").decode("utf-8")
    return _TERMINAL_CODES.re.sub("", readable) if "\x1b" in readable else readable


def read_pasted(text: str) -> PastedText:
    """Return the names and ids in a text.

    Args:
        text: Words, a log line, a stack trace, or a tool's output; only the first 64 KiB are read.
    """
    plain = plain_text(text)
    return PastedText(plain, tuple(dict.fromkeys(_names(plain))), tuple(dict.fromkeys(_numbers(plain))), _values(plain))


def _names(text: str) -> Iterator[str]:
    parts = _CAUSE.re.split(text)
    # The root cause comes last in a stack trace.
    for part in reversed(parts):
        yield from (match[1] for match in _CLASS.re.finditer(_without_frames(part)))
    yield from (f"tx::errc::{match[1]}" for match in _ERRC.re.finditer(text))
    for pattern in (_MODULE, _LIBRDKAFKA, _CODE, _GO, _RUST, _ISSUE):
        for match in pattern.re.finditer(text):
            yield re.sub(r"^KIP[ -]?", "KIP-", match[1].upper()) if pattern is _ISSUE else match[1]
    yield from (f"librdkafka-{match[1]}" for match in _LIBRDKAFKA_ISSUE.re.finditer(text))
    yield from (match[1] for match in _TOPIC.re.finditer(text))
    yield from (match[1] for match in _CAMEL.re.finditer(text))
    yield from (match[1] for match in _SETTING.re.finditer(text))


def _without_frames(text: str) -> str:
    """Return a stack trace without its frames, which name code instead of errors."""
    return "\n".join(line for line in text.splitlines() if not re.match(r"\s+(?:at |\.\.\. \d)", line))


def _numbers(text: str) -> Iterator[int]:
    for match in _NUMBER.re.finditer(text):
        yield int(next(group for group in match.groups() if group is not None))


def _values(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, pattern in _VALUES:
        for match in pattern.re.finditer(text):
            value = (match.groupdict().get("quoted") or match["value"]).rstrip(".:!?")
            if value and value.lower() not in _NO_ID:
                found.setdefault(name, value)
                break
    ids = {value for name, value in found.items() if name in ("transactional_id", "group")}
    places = (*_TOPIC_FIELDS.re.finditer(text), *_PARTITION.re.finditer(text))
    place = next((one for one in places if f"{one['topic']}-{one['partition']}" not in ids), None)
    if place:
        topic, partition = place["topic"], place["partition"]
        found |= {"topic": topic, "partition": partition, "topic_partition": f"{topic}-{partition}"}
    return found
