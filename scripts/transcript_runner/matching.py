"""Compare responses with expectations: names, wildcards, and unordered lists."""

from __future__ import annotations

import json
import re
from typing import Any

_NAME = re.compile(r"\$(\w+)")
_MILLISECONDS_2020 = 1_577_836_800_000
_ORDERED = re.compile(r"records(\[\d+\]\.(values|keys))?$")

Names = dict[str, Any]


class UnboundNameError(KeyError):
    """A name that no earlier response has bound."""


def fill(value: Any, names: Names) -> Any:
    """Replace every $name by its bound value.

    Raises:
        UnboundNameError: It is not bound yet.
    """
    if isinstance(value, dict):
        return {fill(key, names): fill(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, names) for item in value]
    if not isinstance(value, str) or "$" not in value:
        return value
    whole = _NAME.fullmatch(value)
    if whole:
        return _bound(whole[1], names)
    return _NAME.sub(lambda match: str(_bound(match[1], names)), value)


def _bound(name: str, names: Names) -> Any:
    try:
        return names[name]
    except KeyError:
        raise UnboundNameError(f"${name} is not bound") from None


def compare(want: Any, got: Any, names: Names, path: str = "answer") -> list[str]:
    """Return the differences; bind names on their first occurrence."""
    if isinstance(want, dict):
        return _compare_fields(want, got, names, path)
    if isinstance(want, list):
        return _compare_lists(want, got, names, path)
    if isinstance(want, str) and want.startswith("<"):
        return [] if _fits(want, got) else [f"{path}: {want} was expected, {got!r} came"]
    if isinstance(want, str) and (whole := _NAME.fullmatch(want)):
        return _compare_name(whole[1], got, names, path)
    try:
        wanted = fill(want, names)
    except UnboundNameError as error:
        return [f"{path}: {error}"]
    same = wanted == got and type(wanted) is type(got)
    return [] if same else [f"{path}: {wanted!r} was expected, {got!r} came"]


def _compare_fields(want: dict[str, Any], got: Any, names: Names, path: str) -> list[str]:
    if not isinstance(got, dict):
        return [f"{path}: {want} was expected, {got!r} came"]
    found = []
    for key, item in want.items():
        where = f"{path}.{key}"
        found += compare(item, got[key], names, where) if key in got else [f"{where}: there is no such field"]
    return found


def _compare_name(name: str, got: Any, names: Names, path: str) -> list[str]:
    if name in names:
        return [] if names[name] == got else [f"{path}: ${name} is {names[name]!r}, {got!r} came"]
    kind = name.partition("_")[0]
    taken = [other for other, value in names.items() if other.partition("_")[0] == kind and value == got]
    names[name] = got
    return [f"{path}: a new value was expected for ${name}, but {got!r} is ${taken[0]}"] if taken else []


def _compare_lists(want: list[Any], got: Any, names: Names, path: str) -> list[str]:
    """Compare lists; Kafka guarantees an order only for records."""
    if not isinstance(got, list) or len(want) != len(got):
        shown = json.dumps(got, default=str)[:300]
        return [f"{path}: {len(want)} elements were expected, these came: {shown}"]
    ordered = _ORDERED.search(path) is not None
    found: list[str] = []
    left = list(range(len(got)))
    for index, item in enumerate(want):
        choices = [index] if ordered else [choice for choice in (index, *left) if choice in left]
        for choice in choices:
            trial = dict(names)
            if not compare(item, got[choice], trial, f"{path}[{index}]"):
                names.update(trial)
                left.remove(choice)
                break
        else:
            nearest = index if ordered or index in left else left[0]
            found += compare(item, got[nearest], names, f"{path}[{index}]")
            left.remove(nearest)
    return found


def _fits(want: str, got: Any) -> bool:
    match want.partition(">")[0]:
        case "<any":
            return True
        case "<text":
            return isinstance(got, str) and got != ""
        case "<timestamp":
            return isinstance(got, int) and got > _MILLISECONDS_2020
        case "<count":
            return isinstance(got, int) and got >= 0
    raise ValueError(f"unknown wildcard {want}")


def contains(pattern: Any, got: Any, names: Names) -> bool:
    """Return whether `pattern` is part of a response; some element of a list must match."""
    if isinstance(pattern, dict):
        return isinstance(got, dict) and all(
            key in got and contains(item, got[key], names) for key, item in pattern.items()
        )
    if isinstance(pattern, list):
        if not pattern or not isinstance(got, list):
            return bool(pattern == got)
        return all(any(contains(item, other, names) for other in got) for item in pattern)
    return bool(fill(pattern, names) == got)
