"""Take the counts of a structured record into its message: ``delivered`` with ``count`` 0 is of an idle program.

A text log has both in one line. Programs that log named values write the same words each time, and the number, which
decides if anything was done, next to them. What failed has its own name; without any failure, the record does not
report one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_DONE: Final = re.compile(r"^(?:[A-Za-z][\w-]{0,30} ){0,3}[A-Za-z]\w{0,30}(?:ed|sent|written|done)$")
"""A message that reports only what was done, not how much."""
_COUNTS: Final = ("count", "total", "messages", "records", "events", "rows")
_FAILURES: Final = ("failed", "failures", "errors", "rejected", "dropped")
_LONGEST: Final = 19
"""Maximum number of digits of a count: those of a signed integer of 64 bits."""


def with_counts(message: str, values: Mapping[str, object]) -> str:
    """Return a message of words with the first count and the first number of failures among a record's values.

    Args:
        message: The message, one line.
        values: The named values of the record.

    >>> with_counts("delivered", {"count": 40, "failed": 0})
    'delivered count=40'
    >>> with_counts("delivered", {"count": 40, "failed": 3})
    'delivered count=40 failed=3'
    """
    if not _DONE.fullmatch(message):
        return message
    count = next(_numbers(_COUNTS, values), "")
    failed = next((one for one in _numbers(_FAILURES, values) if not one.endswith("=0")), "")
    return " ".join(filter(None, (message, count, failed)))


def _numbers(names: tuple[str, ...], values: Mapping[str, object]) -> Iterator[str]:
    """Yield the names with whole numbers as values, and these."""
    for name in names:
        value = values.get(name)
        text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
        if text.isdecimal() and text.isascii() and len(text) <= _LONGEST:
            yield f"{name}={text}"
