"""Variables of shell scripts and Makefiles whose values the same file names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

_ASSIGNED: Final = re.compile(
    r"^[ \t]*(?:(?:export|readonly|local|declare(?:[ \t]+-\w+)*)[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*[:?]?=[ \t]*"
    r"""(?P<value>"[^"\n]*"|'[^'\n]*'|[^\s;&|"']*)[ \t]*(?:;|#.*)?$"""
)
_LOOP: Final = re.compile(r"^[ \t]*for[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+in[ \t]+(?P<words>[^;\n]+?)[ \t]*(?:;|$)")
_REFERENCE: Final = re.compile(
    r"\$(?:\{(?P<braced>[A-Za-z_]\w*)(?::?-(?P<default>[^${}]*))?\}|\((?P<make>[A-Za-z_]\w*)\)|(?P<plain>[A-Za-z_]\w*))"
)
_DONE: Final = re.compile(r"(?:^|;)[ \t]*done\b")
_LITERAL: Final = re.compile(r"[^$`*?{}()]+")


def variables_in(lines: Iterable[str]) -> dict[str, str]:
    """Return the variables that a file gives one value, without a reference or with the default of one.

    >>> variables_in(['RF=3', 'TOPIC="${1:-orders}"', 'A=1', 'A=2', 'B=$(date)', 'KEEP ?= 7'])
    {'RF': '3', 'KEEP': '7'}
    """
    given: dict[str, set[str]] = {}
    for line in lines:
        if found := _ASSIGNED.match(line):
            given.setdefault(found["name"], set()).add(filled(found["value"].strip("\"'"), {}))
    one = {name: next(iter(texts)) for name, texts in given.items() if len(texts) == 1}
    return {name: text for name, text in one.items() if _LITERAL.fullmatch(text)}


def filled(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the values of its variables, or else their defaults; others stay as they are.

    >>> filled('--topic $T --partitions ${N:-6} --config $(C)', {'T': 'orders', 'C': 'a=b'})
    '--topic orders --partitions 6 --config a=b'
    """

    def known(match: re.Match[str]) -> str:
        own = variables.get(match["braced"] or match["make"] or match["plain"])
        return match[0] if own is None and match["default"] is None else own or match["default"] or ""

    return _REFERENCE.sub(known, text)


def repeated(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the lines, those of a loop over words once for each word: ``for t in orders payments``."""
    loops: list[tuple[str, tuple[str, ...]]] = []
    for number, line in lines:
        if found := _LOOP.match(line):
            words = found["words"].split()
            is_known = all(_LITERAL.fullmatch(word) for word in words)
            loops.append((found["name"], tuple(word.strip("\"'") for word in words) if is_known else ()))
        texts = [line]
        for name, words in loops:
            if words and re.search(rf"\$\{{?{name}\b", line):
                texts = [filled(text, {name: word}) for text in texts for word in words]
        yield from ((number, text) for text in texts)
        if _DONE.search(line) and loops:
            loops.pop()
