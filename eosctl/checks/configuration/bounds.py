"""Whether Kafka would accept a value: its type, its width, its bounds."""

from __future__ import annotations

import re
from typing import Final

from eosctl.model.parameter import Parameter, Release

_WIDTHS: Final = {"short": 15, "int": 31, "long": 63}
_AT_LEAST: Final = re.compile(r"^\[(-?[\d.]+),\.\.\.(?:,(-?[\d.]+))?\]$")
_RANGE: Final = re.compile(r"^(-?\d+) \.\. (-?\d+)$")
_CHOICE: Final = re.compile(r"^(\((?:case insensitive|relaxed)\) )?\[([\w.,: -]+)\]$")
_VERSION: Final = re.compile(r"\d+\.\d+(?:\.\d+)?(?:-IV\d+)?")
_WHOLE: Final = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LIBRDKAFKA_BOOLEANS: Final = frozenset({"true", "t", "1", "false", "f", "0"})
#: Python converts no more than 4,300 digits, and no setting has so many; leading zeros are the rest.
_MOST_DIGITS = 100


def why_refused(parameter: Parameter, release: Release, text: str, *, lenient: bool = False) -> str:
    """Return why a value is not allowed in a release, in words that follow "is refused:"; nothing when it is.

    Args:
        parameter: The declaration.
        release: The release whose bounds hold.
        text: The value as it stands in the file.
        lenient: Judge as librdkafka does, not as Java does.
    """
    span = parameter.at(release) or parameter.spans[-1]
    word = text.strip()
    if parameter.type == "boolean":
        allowed = _LIBRDKAFKA_BOOLEANS if lenient else frozenset({"true", "false"})
        return "" if word.lower() in allowed else "it is true or false"
    if lenient and parameter.type == "enum value":
        return _not_chosen(text.lower(), f"[{span.bounds}]", is_list=False)
    if lenient:
        return _outside_range(word, span.bounds) if parameter.type == "integer" and parameter.name != "acks" else ""
    if parameter.type in _WIDTHS:
        return _not_whole(word, _WIDTHS[parameter.type]) or _outside(float(word), span.bounds)
    if parameter.type == "double":
        return _not_number(word) or _outside(float(word), span.bounds)
    if parameter.type in ("string", "list"):
        return _not_chosen(word, span.bounds, parameter.type == "list")
    return ""


def _not_whole(word: str, bits: int) -> str:
    if not _WHOLE.fullmatch(word):
        return "it is a whole number without a unit"
    limit = 1 << bits
    fits = len(word) <= _MOST_DIGITS and -limit <= int(word) < limit
    return "" if fits else f"it does not fit into {bits + 1} bits"


def _not_number(word: str) -> str:
    return "" if _NUMBER.fullmatch(word) else "it is a number"


def _outside(number: float, bounds: str) -> str:
    match = _AT_LEAST.match(bounds)
    if match is None:
        return ""
    if number < float(match[1]):
        return f"it is at least {match[1]}"
    if match[2] is not None and number > float(match[2]):
        return f"it is at most {match[2]}"
    return ""


def _outside_range(word: str, bounds: str) -> str:
    if not _WHOLE.fullmatch(word):
        return "it is a whole number without a unit"
    match = _RANGE.match(bounds)
    if match is None or (len(word) <= _MOST_DIGITS and int(match[1]) <= int(word) <= int(match[2])):
        return ""
    return f"it is between {match[1]} and {match[2]}"


def _not_chosen(word: str, bounds: str, is_list: bool) -> str:
    if bounds == "non-empty string" and not word:
        return "it must not be empty"
    match = _CHOICE.match(bounds)
    if match is None or "..." in bounds:
        return ""
    choices = [choice.strip() for choice in match[2].split(",")]
    fold = match[1] is not None
    if bounds.startswith("(relaxed)"):  # Spring Boot compares letters and digits alone
        named = {"".join(filter(str.isalnum, choice)) for choice in choices}
        return "" if "".join(filter(str.isalnum, word.lower())) in named else f"it is one of {', '.join(choices)}"
    if all(map(_VERSION.fullmatch, choices)):
        return "" if _is_version_of(word, choices) else f"it is a version from {choices[0]} to {choices[-1]}"
    allowed = {choice.lower() for choice in choices} if fold else set(choices)
    members = [part.strip() for part in word.split(",")] if is_list else [word]
    # ``by_duration:PnDTnHnMn.nS`` stands for any duration.
    heads = tuple(choice.partition(":")[0] + ":" for choice in choices if ":" in choice)
    wrong = [
        member
        for member in members
        if member and (member.lower() if fold else member) not in allowed and not (heads and member.startswith(heads))
    ]
    return f"it is one of {', '.join(choices)}" if wrong or not word else ""


def _is_version_of(word: str, choices: list[str]) -> bool:
    """Return whether a version is one of those listed, with or without its last step, or a patch release of it.

    As ``MetadataVersion.fromVersionString`` does: parts behind the minor number do not count, but for ``-IV``.
    """
    count = 3 if word.startswith("0.") else 2
    parts = word.split(".")
    key = ".".join(parts[:count]) if len(parts) > count else word
    return key in choices or key in {choice.partition("-")[0] for choice in choices}
