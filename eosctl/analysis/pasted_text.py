"""Parse pasted text: names of errors, settings, and issues, and ids for follow-up commands.

Patterns are compiled on first use, since a single name needs none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.analysis.pasted_ids import LazyPattern, read_ids
from eosctl.model.reference import LONGEST_PASTED, PastedText

_TERMINAL_CODES: Final = LazyPattern(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CAUSE: Final = LazyPattern(r"^[ \t]*(?:Caused by|caused by|Root cause|root cause)\b:?", re.MULTILINE)
_CLASS: Final = LazyPattern(
    r"(?<![\w.$])(?:[A-Za-z_][\w$]*\.)*(_?[A-Z][\w$]*?(?:Exception|Error|OutOfRange|Aborted))\b(?!\s*Handler)"
)
_CODE: Final = LazyPattern(r"(?<!\w)(_?[A-Z][A-Z0-9]+(?:_+[A-Z0-9]+)+|_[A-Z]{3,})(?!\w|\.\w)")
_ERRC: Final = LazyPattern(r"\b(?:tx_errc|tx::errc|error_code|errc)::(\w+)")
_RUST: Final = LazyPattern(r"\(([A-Z][a-z]+(?:[A-Z][a-z]+)+)\)")
_MODULE: Final = LazyPattern(r"\b(?:errors|kerr|Errors)\.([A-Z]\w+)\b")
_LIBRDKAFKA: Final = LazyPattern(r"\bRD_KAFKA_RESP_ERR_(\w+)")
_GO: Final = LazyPattern(r"(?<![\w.])(?:\w+\.)?(Err[A-Z]\w+)\b")
_ISSUE: Final = LazyPattern(r"\b((?:KIP[ -]?|(?:KAFKA|FLINK|EOS-[A-Z]{3})-)\d+)\b", re.IGNORECASE)
_LIBRDKAFKA_ISSUE: Final = LazyPattern(r"\blibrdkafka ?#?-?(\d+(?:\.\d+)*)\b")
_SETTING: Final = LazyPattern(r"(?<![\w./$-])([a-z][a-z0-9]*(?:[._-][a-z0-9]+){1,9})(?![\w/])")
_TOPIC: Final = LazyPattern(
    r"(?<![\w/])(__(?:transaction_state|consumer_offsets|cluster_metadata|share_group_state))(?:-\d+)?"
)
_CAMEL: Final = LazyPattern(r"(?<![\w.])([A-Z][a-z]+(?:[A-Z][a-z]*)+)(?![\w.])")
_NUMBER: Final = LazyPattern(
    r"(?i:\b(?:error[ _]?code|errorcode|err(?:or)?|code|val)\b\"?\s*(?:[=:]|is|was)?\s*[(\[]?\s*)"
    # Spring prints a process id between the level and three dashes.
    r"(-?\d{1,3})(?![\w.-]|\s+---)"
    r"|\[Error (-?\d{1,3})\]|(?:^|[:,] |\()\[(\d{1,3})\] (?=[A-Z][a-z]+ [A-Z][a-z]+)",
    re.MULTILINE,
)
_LOCAL: Final = LazyPattern(r"\borigin\W{1,6}local\b")
"""An error object of node-rdkafka that a broker did not send; it has -1 in place of a code."""


def plain_text(text: str) -> str:
    """Return the first MiB of a text without terminal codes; replace invalid Unicode by question marks."""
    readable = text[:LONGEST_PASTED].encode("utf-8", "replace").decode("utf-8")
    return _TERMINAL_CODES.re.sub("", readable) if "\x1b" in readable else readable


def read_pasted(text: str) -> PastedText:
    """Return the names and ids in a text.

    Args:
        text: Words, a log line, a stack trace, or a tool's output; only the first MiB is read.
    """
    plain = plain_text(text)
    return PastedText(
        plain, tuple(dict.fromkeys(_names(plain))), tuple(dict.fromkeys(_numbers(plain))), read_ids(plain)
    )


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
    is_local = _LOCAL.re.search(text) is not None
    for match in _NUMBER.re.finditer(text):
        number = int(next(group for group in match.groups() if group is not None))
        if not (is_local and number == -1):
            yield number
