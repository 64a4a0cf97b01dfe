"""Build the expressions that every relevant record matches, for a linear-time engine (RE2).

An expression may match too many lines, never too few. It matches raw lines, in which JSON has escapes and the logger
is at any position, so it requires only text that both leave unchanged.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.records.literals import required_literal

_LEVEL: Final = (
    r"(?:level|lvl|severity|severitytext|severity_text|status|levelname|loglevel|log_level|@l)\"? ?[:=] ?\"?"
)
_SERIOUS: Final = (
    *(r"(?i:error|fatal|critical|severe)", r"%[0-3]\|", r"^[EF]\d{4} ", "^(?:fail|crit): "),
    rf"(?i:{_LEVEL}(?:e|f|err|ftl|crit|emerg|emergency|alert|panic|dpanic)\b)",
    rf"(?i:{_LEVEL}(?:[0-3]|[56]0)\b)",
)
"""Levels that make a record an event without a category; librdkafka, klog, pino, and GELF write them as signs."""
_THROWN: Final = "Exception|Throwable|Failure|Death|Traceback"
_NAMED: Final = "(?i:transactional[ ._-]?id)"
"""A named value that structured records write in many forms."""
_UNSAFE: Final = re.compile(r"[]\[\"'\\/<>&=\t]")
"""Characters that JSON may escape, and those between a logger and its message."""
_TELLING_CHARS: Final = 6
_RARE_CHARS: Final = 12
"""A text of this length is rare enough by itself, and costs the engine less than a pattern around it."""
_OPEN_END: Final = re.compile(r"(?:\.\{0,\d+\}|\\s\*|\[ \\t\]\*)*\$$")


@cache
def meaning_anchors() -> tuple[str, ...]:
    """Return the expressions; every relevant record has a line that matches at least one of them."""
    parts = {_anchor(pattern) for category in load_catalog().categories for pattern in category.patterns}
    return (*sorted(parts), *_SERIOUS, _THROWN, _NAMED)


def _anchor(pattern: str) -> str:
    literal = max(_UNSAFE.split(required_literal(pattern)), key=len)
    if len(literal) >= _RARE_CHARS:
        return re.escape(literal)
    if _UNSAFE.search(pattern) is None and "^" not in pattern:
        return f"(?:{_OPEN_END.sub('', pattern)})"
    if len(literal) >= _TELLING_CHARS:
        return re.escape(literal)
    return f"(?:{_OPEN_END.sub('', pattern)})"
