"""Read what people paste: names of errors, settings, and issues, and the ids that the next commands need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.model.reference import PastedText

LONGEST: Final = 65_536
_TERMINAL_CODES: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CAUSE: Final = re.compile(r"^\s*(?:Caused by|caused by|Root cause|root cause)\b:?", re.MULTILINE)
_CLASS: Final = re.compile(
    r"(?<![\w.$])(?:[a-z_][\w$]*\.)*(_?[A-Z][\w$]*?(?:Exception|Error|OutOfRange|Aborted))\b(?!\s*Handler)"
)
_CODE: Final = re.compile(r"(?<![\w.])(_?[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+|_[A-Z]{3,})(?![\w.])")
_ERRC: Final = re.compile(r"\b(?:tx_errc|tx::errc|error_code|errc)::(\w+)")
_MODULE: Final = re.compile(r"\b(?:errors|kerr|Errors)\.([A-Z]\w+)\b")
_LIBRDKAFKA: Final = re.compile(r"\bRD_KAFKA_RESP_ERR_(\w+)")
_GO: Final = re.compile(r"(?<![\w.])(?:\w+\.)?(Err[A-Z]\w+)\b")
_ISSUE: Final = re.compile(r"\b((?:KIP|KAFKA|FLINK|EOS-[A-Z]{3})-\d+)\b", re.IGNORECASE)
_LIBRDKAFKA_ISSUE: Final = re.compile(r"\blibrdkafka ?#?-?(\d+(?:\.\d+)*)\b")
_SETTING: Final = re.compile(r"(?<![\w./$-])([a-z][a-z0-9]*(?:[._-][a-z0-9]+){1,9})(?![\w/])")
_TOPIC: Final = re.compile(
    r"(?<![\w/])(__(?:transaction_state|consumer_offsets|cluster_metadata|share_group_state))(?:-\d+)?"
)
_CAMEL: Final = re.compile(r"(?<![\w.])([A-Z][a-z]+(?:[A-Z][a-z]*)+)(?![\w.])")
_NUMBER: Final = re.compile(
    r"(?i:\b(?:error[ _]?code|errorcode|err(?:or)?|code|val)\b\"?\s*(?:[=:]|is|was)?\s*[(\[]?\s*)(-?\d{1,3})(?![\w.-])"
    r"|\[Error (-?\d{1,3})\]|^\[(\d{1,3})\] (?=[A-Z])",
    re.MULTILINE,
)
_ID: Final = r"(?:[\"'`](?P<quoted>[^\"'`\n]{1,255})[\"'`]|(?P<value>[^\s,;\"'`<>()\[\]{}]{1,255}))"
_VALUES: Final = (
    (
        "transactional_id",
        re.compile(rf"(?i:\btransactional[ ._-]?id)(?:\"?\s*[=:]\s*|\s+(?:is\s+)?(?=[\"'`]|\S*[\d_-])){_ID}"),
    ),
    ("transactional_id", re.compile(rf"\[tx_id={_ID}")),
    ("transactional_id", re.compile(rf"(?i:\btransactionalid)\s+{_ID}(?=\s+(?:with|due|append|failed|has))")),
    ("group", re.compile(rf"(?i:\bgroup[ ._-]?id)(?:\"?\s*[=:]\s*){_ID}")),
    ("group", re.compile(rf"(?i:\b(?:consumer )?group)\s+(?=[\"'`]|\S*[\d_-]){_ID}")),
    ("producer_id", re.compile(r"(?i:\bproducer(?:[ _]?id)?|\bpid)\"?\s*[=: ]\s*(?P<value>\d+)")),
    ("epoch", re.compile(r"(?i:\b(?:producer)?[ _]?epoch)\"?\s*[=: ]\s*(?P<value>\d+)")),
    ("broker", re.compile(r"(?i:\b(?:broker|node)(?: id)?)\s*[=:]?\s*(?P<value>\d+)\b")),
)
_PARTITION: Final = re.compile(
    r"(?:(?i:\bpartition|\btopic-partition|\bon|\bfor|\bin)\s+|[\s\[(=:])(?P<topic>(?!\d)[\w.][\w.-]{0,248}?)-(?P<partition>\d{1,5})"
    r"(?=$|[\s,;:.)\]}@'\"])(?!\.\d)"
)
_TOPIC_FIELDS: Final = re.compile(
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


def read_pasted(text: str) -> PastedText:
    """Return what a text names.

    Args:
        text: Words, a log line, a stack trace, or a tool's output; what is beyond 64 KiB is not read.
    """
    plain = _TERMINAL_CODES.sub("", text[:LONGEST])
    return PastedText(plain, tuple(dict.fromkeys(_names(plain))), tuple(dict.fromkeys(_numbers(plain))), _values(plain))


def _names(text: str) -> Iterator[str]:
    parts = _CAUSE.split(text)
    # What caused the rest comes last in a stack trace, and is what the reader asks about.
    for part in reversed(parts):
        yield from (match[1] for match in _CLASS.finditer(_without_frames(part)))
    for pattern in (_MODULE, _LIBRDKAFKA, _ERRC, _CODE, _GO, _ISSUE):
        for match in pattern.finditer(text):
            yield match[1].upper() if pattern is _ISSUE else match[1]
    yield from (f"librdkafka-{match[1]}" for match in _LIBRDKAFKA_ISSUE.finditer(text))
    yield from (match[1] for match in _TOPIC.finditer(text))
    yield from (match[1] for match in _CAMEL.finditer(text))
    yield from (match[1] for match in _SETTING.finditer(text))


def _without_frames(text: str) -> str:
    """Return a stack trace without its frames: they name code, not errors."""
    return "\n".join(line for line in text.splitlines() if not re.match(r"\s+(?:at |\.\.\. \d)", line))


def _numbers(text: str) -> Iterator[int]:
    for match in _NUMBER.finditer(text):
        yield int(next(group for group in match.groups() if group is not None))


def _values(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, pattern in _VALUES:
        for match in pattern.finditer(text):
            value = (match.groupdict().get("quoted") or match["value"]).rstrip(".:!?")
            if value and value.lower() not in _NO_ID:
                found.setdefault(name, value)
                break
    ids = {value for name, value in found.items() if name in ("transactional_id", "group")}
    places = (*_TOPIC_FIELDS.finditer(text), *_PARTITION.finditer(text))
    place = next((one for one in places if f"{one['topic']}-{one['partition']}" not in ids), None)
    if place:
        topic, partition = place["topic"], place["partition"]
        found |= {"topic": topic, "partition": partition, "topic_partition": f"{topic}-{partition}"}
    return found
