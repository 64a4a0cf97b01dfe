"""What a record must hold to mean anything, as one regular expression for a linear-time engine (RE2).

The expression may let through too much, never too little: it looks at raw lines, where JSON has escapes and the logger
stands wherever the layout puts it, so only text that survives both is asked for.
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
"""Levels that make a record an event without any category; librdkafka, klog, pino and GELF write them as signs."""
_THROWN: Final = "Exception|Throwable|Failure|Death|Traceback"
_NAMED: Final = "(?i:transactional[ ._-]?id)"
"""A named value that structured records spell in many ways."""
_UNSAFE: Final = re.compile(r"[]\[\"'\\/<>&=\t]")
"""What JSON may escape, and what stands between a logger and its message."""
_TELLING_CHARS: Final = 6
_RARE_CHARS: Final = 12
"""So long a text is rare enough by itself, and costs the engine less than a pattern around it."""
_OPEN_END: Final = re.compile(r"(?:\.\{0,\d+\}|\\s\*|\[ \\t\]\*)*\$$")


@cache
def meaning_anchors() -> tuple[str, ...]:
    """Return the expressions of which a line of every record with a meaning matches one."""
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
