"""Walk documents of plain values, as YAML and JSON give them; what has another form than expected is None."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def find(document: object, *path: str) -> object | None:
    """Return the value at a path of keys; None if a key is missing.

    >>> find({"spec": {"replicas": 3}}, "spec", "replicas"), find({"spec": []}, "spec", "replicas")
    (3, None)
    """
    for name in path:
        document = document.get(name) if isinstance(document, Mapping) else None
    return document


def find_text(document: object, *path: str) -> str:
    """Return the scalar at a path as text; empty without one."""
    value = find(document, *path)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""


def find_whole(document: object, *path: str) -> int | None:
    """Return the whole number at a path; None without one.

    >>> [find_whole({"a": value}, "a") for value in (3, "4", True, "x")]
    [3, 4, None, None]
    """
    text = find_text(document, *path)
    return int(text) if text.isascii() and text.isdigit() else None


def find_items(document: object, *path: str) -> Iterator[object]:
    """Yield the items of the list at a path; none if there is no list."""
    value = find(document, *path)
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from value
