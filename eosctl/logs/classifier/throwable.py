"""Parse stack traces: the classes of the cause chain, and a fingerprint that does not depend on line numbers."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Final

from eosctl.model.log_event import LoggedException

_CLASS: Final = r"(?:[A-Za-z][\w$]*\.)+[A-Z][\w$]*"
"""A class in its package, or in its namespace, which begins with a capital letter in .NET."""
_MARGIN: Final = r"[^\S\n]*+"
"""Ends with its line: one that took all blank lines that follow would be searched anew from each of them."""
_FIRST: Final = re.compile(
    rf"^{_MARGIN}(?:[A-Z][^\n]{{0,200}}? )??({_CLASS}(?:Exception|Error|Throwable|Failure|Death))\b"
    r"(?:`\d{1,2}\[[^\n:]{0,300}\])?(?::|\s*$)",
    re.MULTILINE,
)
_INLINE: Final = re.compile(r"(?<![\w$])(?<![\w$]\.)((?:[A-Za-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error))\b")
"""A class in passing, searched from the beginning of a name alone; namespaces of .NET begin with capital letters."""
_CAUSE: Final = re.compile(rf"\n([ \t]*)(?:(Caused by|Wrapped by): |---> )({_CLASS})")
"""A cause in Java, or in .NET, which prints an arrow."""
PANIC: Final = "panic"
"""The name of the end of a program in Go, which has no classes of errors."""
_PANIC: Final = re.compile(r"\npanic: ")
_QUOTED: Final = re.compile(rf"[ \t]*({_CLASS}(?:Exception|Error))(?::|[ \t]*(?:\n|$))")
"""The message of an exception that was made from its cause alone: the text of the cause (``Throwable.toString``)."""
_SENT: Final = re.compile(rf" due to:\n({_CLASS}(?:Exception|Error))(?::|[ \t]*(?:\n|$))")
"""The cause in the message of Streams' exception about a record that was not sent, which has a line of its own."""
_SUPPRESSED: Final = re.compile(r"\n([ \t]+)Suppressed: ")
_FRAME: Final = re.compile(r"\n[^\S\n]++at ([\w.$/@<>-]+)\(")
_MARKED: Final = re.compile(r"^! ?", re.MULTILINE)
"""Dropwizard marks the lines of a stack trace."""
_VOLATILE: Final = re.compile(r"\$\$Lambda[^.\n]*|\$\d+|0x[0-9a-f]+")
_LONGEST_REMEMBERED: Final = 8192
_TRACEBACK: Final = "Traceback (most recent call last):"
_PYTHON_END: Final = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)
_PYTHON_FRAME: Final = re.compile(r'^  File "([^"]*)", line \d+, in (\S+)', re.MULTILINE)


def parse_throwable(text: str) -> LoggedException | None:
    """Parse the text after a header line.

    Args:
        text: The rest of the event: Java's stack trace (with or without frames) or Python's traceback.

    Returns:
        The exception, or None if the text has none. Suppressed exceptions do not count as causes.
    """
    return (_parse if len(text) > _LONGEST_REMEMBERED else _remembered)(text)


def _parse(text: str) -> LoggedException | None:
    text = _lines(text)
    chain = _chain(text)
    if not chain:
        return None
    if _TRACEBACK in text:
        return _exception(chain, tuple(f"{name}:{function}" for name, function in _PYTHON_FRAME.findall(text)))
    return _exception(chain, tuple(_FRAME.findall(text)))


_remembered = lru_cache(maxsize=512)(_parse)
"""The same failure repeats in the same place and with the same message."""


def parse_chain(text: str) -> tuple[str, ...]:
    """Return the classes of ``parse_throwable``'s exception from the outermost to the root; empty without one."""
    return (_parse_chain if len(text) > _LONGEST_REMEMBERED else _remembered_chain)(text)


def _parse_chain(text: str) -> tuple[str, ...]:
    return _chain(_lines(text))


_remembered_chain = lru_cache(maxsize=512)(_parse_chain)


def _lines(text: str) -> str:
    """Return the text with a line break before the first line: a search for it is faster than one for line starts."""
    return f"\n{_MARKED.sub('', text) if text.startswith('!') else text}"


def _chain(text: str) -> tuple[str, ...]:
    if _TRACEBACK in text:
        return _python_chain(text)
    first = _FIRST.search(text)
    if first is None:
        return (PANIC,) if _PANIC.search(text) else ()
    if not any(sign in text for sign in ("Caused by", "Wrapped by", " ---> ")):
        return (first[1], *_quoted(text, first.end()))
    depths = [len(found[1]) for found in _SUPPRESSED.finditer(text)] if "Suppressed" in text else []
    suppressed_depth = min(depths, default=1 << 30)
    causes = [found for found in _CAUSE.finditer(text) if len(found[1]) < suppressed_depth]
    chain = [first[1], *(found[3] for found in causes)]
    # Logback can print the root first, followed by the exceptions that wrap it.
    if causes and causes[0][2] == "Wrapped by":
        chain.reverse()
        return tuple(chain)
    return (*chain, *_quoted(text, causes[-1].end() + 1)) if causes else tuple(chain)


def _quoted(text: str, start: int) -> tuple[str, ...]:
    """Return the class that the message of the last exception begins with, as in ``KafkaException: a.b.C: why``."""
    found = _QUOTED.match(text, start) or (_SENT.search(text, start) if " due to:\n" in text else None)
    return (found[1],) if found else ()


def parse_inline(text: str) -> LoggedException | None:
    """Parse an exception that a message names in passing, as in ``due to a.b.CException: why``."""
    if "Exception" not in text and "Error" not in text:
        return None
    found = _INLINE.search(text)
    return _exception((found[1],), ()) if found else None


def _python_chain(text: str) -> tuple[str, ...]:
    chain = []
    for part in text.split(_TRACEBACK)[1:]:
        ends = [found[1] for found in _PYTHON_END.finditer(part) if found[1] not in ("During", "The")]
        chain += ends[:1]
    return tuple(reversed(chain))


@lru_cache(maxsize=512)
def _exception(chain: tuple[str, ...], frames: tuple[str, ...]) -> LoggedException:
    lasting = _VOLATILE.sub("", "\n".join((*chain, *frames, "")))
    fingerprint = hashlib.sha1(lasting.encode(), usedforsecurity=False).hexdigest()[:16]
    return LoggedException(chain[0], chain[-1], chain, fingerprint)
