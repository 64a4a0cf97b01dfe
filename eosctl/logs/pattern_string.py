"""Create a layout from a pattern string of log4j, log4j2, or logback, so that users need no regular expression."""

from __future__ import annotations

import re
from typing import Final

from eosctl.logs.layout_catalog import Layout

_CONVERSION: Final = re.compile(r"%(?:(%)|(-?\d*)(?:\.-?\d+)?([A-Za-z]+)((?:\{[^}]*\})*)(\()?)")
_NAMED_DATES: Final = {
    "": r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3}",
    "DEFAULT": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{3}",
    "ISO8601": r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3}",
    "ABSOLUTE": r"\d\d:\d\d:\d\d[.,]\d{3}",
    "UNIX": r"\d{9,10}",
    "UNIX_MILLIS": r"\d{12,13}",
}
_LETTERS: Final = {"X": r"(?:Z|[+-]\d\d(?::?\d\d)?)", "Z": r"[+-]\d{4}", "a": "[AP]M"}
_CONVERSIONS: Final = {
    "level": r"(?P<level>[A-Za-z]+)",
    "thread": r"(?P<thread>[^\n]*?)",
    "logger": r"(?P<logger>[\w.$\[\]/-]*)",
    "message": r"(?P<message>[^\n]*)",
    "number": r"-?\d*",
    "host": r"(?P<host>[^\s\[\]|,;]*)",
    "any": r"[^\n]*?",
    "nothing": "",
}
_NAMES: Final = {
    **dict.fromkeys(("p", "le", "level"), "level"),
    **dict.fromkeys(("t", "tn", "thread", "threadName"), "thread"),
    **dict.fromkeys(("c", "lo", "logger", "C", "class"), "logger"),
    **dict.fromkeys(("m", "msg", "message"), "message"),
    **dict.fromkeys(("L", "line", "r", "relative", "pid", "processId", "tid", "T", "sn", "sequenceNumber"), "number"),
    **dict.fromkeys(("n", "ex", "exception", "throwable", "xEx", "xThrowable", "rEx", "wEx", "nopex"), "nothing"),
}
_LOOKUP: Final = re.compile(r"\$\{([^}]*)\}")
_HOST_NAMES: Final = re.compile(r"(?:\w+:)*host_?(?:\.?name)?", re.IGNORECASE)
"""Names of the machine in log4j2's lookups and in a context: ``${hostName}``, ``${env:HOSTNAME}``, ``%X{host}``."""
_WRAPPING: Final = frozenset(
    [
        "highlight",
        "style",
        "clr",
        "bold",
        "replace",
        "black",
        "blue",
        "cyan",
        "gray",
        "green",
        "magenta",
        "red",
        "white",
        "yellow",
    ]
)


class PatternError(ValueError):
    """A pattern string that does not describe a header."""


def layout_of_pattern(pattern: str) -> Layout:
    """Turn a pattern string into a layout.

    Args:
        pattern: As in the logging setup, e.g. ``%d{ISO8601} %-5p [%t] %c - %m%n``.

    Raises:
        PatternError: It has no message, or neither a time nor a level to recognize a header.
    """
    regex = _translate(_LOOKUP.sub(r"%X{\1}", pattern.removesuffix("%n")))
    layout = Layout("pattern", regex)
    if "(?P<message>" not in regex:
        raise PatternError("It has no %m. A layout needs the message.")
    if "(?P<time>" not in regex and "(?P<level>" not in regex:
        raise PatternError("It has neither %d nor %p. A layout needs a time or a level to recognize header lines.")
    return layout


def _translate(pattern: str) -> str:
    parts: list[str] = []
    used: set[str] = set()
    position = 0
    for found in _CONVERSION.finditer(pattern):
        parts.append(_literal(pattern[position : found.start()]))
        position = found.end()
        if found[1]:
            parts.append("%")
            continue
        part = _conversion(found[3], found[4] or "", wraps=bool(found[5]))
        name = re.match(r"\(\?P<(\w+)>", part)
        if name and name[1] in used:
            part = re.sub(r"\(\?P<\w+>", "(?:", part)
        elif name:
            used.add(name[1])
        parts.append(rf" *{part} *" if found[2] and part else part)
    parts.append(_literal(pattern[position:]))
    return "".join(parts)


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\ ", " +").replace("\\)", r"\)?") if text else ""


def _conversion(name: str, options: str, *, wraps: bool) -> str:
    if name in ("d", "date"):
        return f"(?P<time>{_date(options)})"
    if name in ("X", "mdc", "property") and _HOST_NAMES.fullmatch(options.strip("{}")):
        return _CONVERSIONS["host"]
    if name in (
        "X",
        "mdc",
        "x",
        "ndc",
        "marker",
        "M",
        "method",
        "F",
        "file",
        "l",
        "location",
        "contextName",
        "property",
    ):
        return _CONVERSIONS["any"]
    if name in _NAMES:
        return _CONVERSIONS[_NAMES[name]]
    if name in _WRAPPING:
        # %highlight{%p} and %clr(%p){red} print their content.
        return "" if wraps or "%" not in options else _translate(options.split("}")[0].lstrip("{"))
    for known in sorted(_NAMES, key=len, reverse=True):
        # "%msgtext": the longest known word is the conversion, the rest is text.
        if name.startswith(known):
            return _CONVERSIONS[_NAMES[known]] + re.escape(name[len(known) :])
    raise PatternError(f"Unknown conversion %{name}.")


def _date(options: str) -> str:
    form = options[1:].split("}")[0] if options else ""
    if form in _NAMED_DATES:
        return _NAMED_DATES[form]
    out, quoted = [], False
    for run in re.finditer(r"'|([A-Za-z])\1*|[^A-Za-z']+", form):
        text = run[0]
        if text == "'":
            quoted = not quoted
        elif quoted or not text[0].isalpha():
            out.append(re.escape(text))
        elif text[0] in _LETTERS:
            out.append(_LETTERS[text[0]])
        elif text.startswith(("MMM", "EEE")):
            out.append("[A-Za-z]+")
        else:
            out.append(rf"\d{{{len(text)}}}" if len(text) > 1 else r"\d{1,2}")
    return "".join(out)
