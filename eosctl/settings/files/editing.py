"""Edit single settings in the text of a configuration file; comments, order and everything else stay as they are.

An edit is tried on the line of the setting and read again: it holds only when the file then means exactly what was
wanted, and nothing else has changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from eosctl.errors import ConfigFileError
from eosctl.settings.files.edited_leaves import leaves_of

Pairs = list[tuple[str, str | None]]


class EditError(Exception):
    """No edit of the one line has the wanted meaning."""


def set_value(file: str, text: str, line: int, key: str, value: str) -> str:
    """Return the text with another value for the setting that stands on a line.

    Raises:
        EditError: The value does not stand on the line as plain text.
    """
    path, old = _find(file, text, line, key)
    wanted = [(p, value if p == path else v) for p, v in _pairs(file, text)]
    return _first_that_means(
        wanted, file, (_with_line(text, line, new) for new in _new_values(_at(text, line), old, value))
    )


def rename_key(file: str, text: str, line: int, key: str, new_key: str) -> str:
    """Return the text with another key for the setting that stands on a line.

    Raises:
        EditError: The key does not stand on the line as plain text.
    """
    path, _ = _find(file, text, line, key)
    # In a tree the line holds the last parts of the key only.
    wanted = [(path.removesuffix(key) + new_key if p == path else p, v) for p, v in _pairs(file, text)]
    here = _at(text, line)
    candidates = (
        _with_line(text, line, here.replace(key[start:], _tail(key, start, new_key), 1))
        for start in range(len(key))
        if (start == 0 or key[start - 1] == ".") and key[start:] in here
    )
    return _first_that_means(wanted, file, candidates)


def remove_key(file: str, text: str, line: int, key: str) -> str:
    """Return the text without a setting: without its line, or without its part of the line.

    Raises:
        EditError: The setting does not stand there as plain text.
    """
    path, old = _find(file, text, line, key)
    wanted = [(p, v) for p, v in _pairs(file, text) if p != path]
    lines = text.splitlines(keepends=True)
    without = "".join(lines[: line - 1] + lines[line:])
    # In JSON the comma before the last entry goes with it.
    before = "".join(lines[: line - 1])
    uncommaed = before.rstrip().removesuffix(",") + before[len(before.rstrip()) :] + "".join(lines[line:])
    # In Kubernetes, a variable has its name on the line above.
    paired = "".join(lines[: max(line - 2, 0)] + lines[line:])
    parts = (_with_line(text, line, new) for new in _without_part(_at(text, line), key, old))
    return _first_that_means(wanted, file, chain((uncommaed, without, paired), parts))


def _without_part(here: str, key: str, old: str) -> Iterator[str]:
    """Yield the line without a key and its value, and without one of the commas around them."""
    parts = key.split(".")
    for name in (".".join(parts[start:]) for start in range(len(parts))):
        part = rf"""(["']?){re.escape(name)}\1\s*[:=]\s*(["']?){re.escape(old)}\2"""
        for pattern in (rf"\s*{part}\s*,", rf",\s*{part}", part):
            yield from (here[: found.start()] + here[found.end() :] for found in re.finditer(pattern, here))


def _tail(key: str, start: int, new_key: str) -> str:
    """Return what stands on the line in the place of ``key[start:]`` when its beginning is on other lines."""
    head = key[:start]
    return new_key.removeprefix(head) if new_key.startswith(head) else new_key


def _find(file: str, text: str, line: int, key: str) -> tuple[str, str]:
    """Return the whole path and the value of the setting on a line."""
    leaves = leaves_of(file, text)
    found = [(path, leaf.text or "") for path, leaf in leaves if leaf.line == line and _ends(path, key)]
    paths = [path for path, _ in leaves]
    # The lines of a text within a string of JSON are not those of the file.
    if not found or line > len(text.splitlines()):
        raise EditError(f"{file}:{line}: {key} does not stand there as plain text.")
    if len(found) != 1 or paths.count(found[0][0]) != 1:
        raise EditError(f"{file}:{line}: {key} is not the only setting of that name there.")
    return found[0]


def _ends(path: str, key: str) -> bool:
    return path == key or path.endswith(f".{key}") or key.endswith(f".{path}")


def _pairs(file: str, text: str) -> Pairs:
    return [(path, leaf.text) for path, leaf in leaves_of(file, text)]


def _at(text: str, line: int) -> str:
    return text.splitlines()[line - 1]


def _with_line(text: str, line: int, new: str) -> str:
    lines = text.splitlines(keepends=True)
    ending = lines[line - 1][len(lines[line - 1].rstrip("\r\n")) :]
    return "".join([*lines[: line - 1], new + ending, *lines[line:]])


def _new_values(here: str, old: str, new: str) -> Iterator[str]:
    """Yield the line with each occurrence of the old value replaced, last first: keys stand before values."""
    if not old:
        yield here.rstrip() + new
        return
    at = here.rfind(old)
    while at >= 0:
        for written in (new, f'"{new}"'):
            yield here[:at] + written + here[at + len(old) :]
        at = here.rfind(old, 0, at)


def _first_that_means(wanted: Pairs, file: str, candidates: Iterator[str]) -> str:
    for candidate in candidates:
        try:
            if _pairs(file, candidate) == wanted:
                return candidate
        except ConfigFileError:
            continue
    raise EditError(f"{file}: no edit of that line alone has the wanted meaning.")
