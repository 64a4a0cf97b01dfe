"""Builder of Python source with indentation and unique names."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from contextlib import contextmanager

#: Names that the generated functions use themselves.
RESERVED = frozenset(("buffer", "position", "p", "n", "q", "len", "range", "message", "explain"))


class Source:
    """Collects the lines of a function and the struct formats that it needs."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.indent = 1
        self.formats: set[str] = set()
        self.helpers: set[str] = set()
        self.constants: set[str] = set()
        self._taken: set[str] = set(RESERVED)

    def line(self, text: str) -> None:
        """Add a line at the current indent."""
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Add a line that opens a block, with the following lines indented."""
        self.line(head)
        self.indent += 1
        yield
        self.indent -= 1

    def name(self, wanted: str) -> str:
        """Return a name that no other variable of the function has."""
        free = f"{wanted}_" if keyword.iskeyword(wanted) else wanted
        number = 2
        while free in self._taken:
            free = f"{wanted}_{number}"
            number += 1
        self._taken.add(free)
        return free

    def helper(self, name: str) -> str:
        """Import a function of `eosctl.wire.runtime`."""
        self.helpers.add(name)
        return name

    def struct(self, verb: str, form: str) -> str:
        """Import a prepared struct function: `unpack` or `pack` of a format."""
        self.formats.add(f"{verb} {form}")
        return format_name(verb, form)


def format_name(verb: str, form: str) -> str:
    """Return the function name of a struct format."""
    return f"{verb}_{form.replace('?', 't').replace('16s', 'u')}"
