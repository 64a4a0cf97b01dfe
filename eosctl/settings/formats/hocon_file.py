"""HOCON, the format of Akka, Pekko and Play: objects that merge, paths as keys, references within the file.

Existing parsers keep no line numbers, and they read includes and the environment. This one reads only its text: it
skips includes, and an unresolved reference stays as it is written, so that it counts as a value from outside. The
rules are those of Lightbend's specification of HOCON.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from itertools import groupby, islice
from typing import Final, NamedTuple, NoReturn

from eosctl.settings.formats.tree import Branch, Leaf, Node, ParseError, Row

MAX_NODES: Final = 50_000
"""More values than any configuration has; references to references reach it soon."""
MAX_DEPTH: Final = 60
_BETWEEN: Final = re.compile(r"(?:[\s,]|(?://|#)[^\n]*)+")
_BLANK: Final = re.compile(r"[^\S\n]+")
_QUOTED: Final = re.compile(r'"""(.*?"*)"""(?!")|"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
_REFERENCE: Final = re.compile(r"\$\{\s*(\?)?\s*([^}\n]+?)\s*\}")
_PLAIN: Final = re.compile(r'(?:(?!//)[^\s$"{}\[\]:=,+#`^?!@*&\\])+')
_ASSIGN: Final = re.compile(r"\s*(?:(\+=)|[=:]|(?=\{))\s*")
_INCLUDE: Final = re.compile(r"include[^\S\n]+[^\n]*")


class HoconError(ParseError):
    """The text is not HOCON."""


class _Text(NamedTuple):
    text: str
    quoted: bool


class _Reference(NamedTuple):
    path: tuple[str, ...]
    optional: bool
    text: str


class _Array(NamedTuple):
    members: tuple[_Value, ...]


class _Object(NamedTuple):
    entries: dict[str, list[_Value]]
    line: int


_Entries = dict[str, list["_Value"]]


class _Value(NamedTuple):
    """What was written behind one key: parts that are joined; ``adds`` for ``+=``."""

    parts: tuple[_Text | _Reference | _Array | _Object, ...]
    line: int
    adds: bool = False


def parse_hocon(text: str) -> Branch:
    """Parse HOCON into a tree with lines; of equal keys the last one counts, and objects merge.

    Raises:
        HoconError: The text does not follow the format, is nested too deeply, or grows too large by references.
    """
    root = _Reader(text).document()
    return _Resolver(root).branch((root,), 0)


class _Reader:
    """Reads from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def document(self) -> _Object:
        self._skip()
        braces = self._take("{")
        found = self._object("}" if braces else "")
        self._skip()
        if self._at < len(self._text):
            self._fail(f"{self._text[self._at]!r} is not expected here")
        return found

    def _object(self, end: str) -> _Object:
        found = _Object({}, self._line())
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail("nested too deeply")
        self._skip()
        while not (end and self._take(end)):
            if self._at >= len(self._text):
                if end:
                    raise HoconError(found.line, "a brace is not closed")
                break
            if match := _INCLUDE.match(self._text, self._at):
                self._at = match.end()
            else:
                self._entry(found)
            self._skip()
        self._depth -= 1
        return found

    def _entry(self, into: _Object) -> None:
        line = self._line()
        path = self._key()
        assign = _ASSIGN.match(self._text, self._at)
        if assign is None:
            self._fail(f"no value follows {'.'.join(path)}")
        self._at = assign.end()
        value = self._value(line, adds=assign[1] is not None)
        for name in reversed(path[1:]):
            value = _Value((_Object({name: [value]}, line),), line)
        into.entries.setdefault(path[0], []).append(value)

    def _key(self) -> tuple[str, ...]:
        pieces: list[_Text] = []
        while self._at < len(self._text):
            if (quoted := self._quoted()) is not None:
                pieces.append(_Text(quoted, quoted=True))
            elif match := _PLAIN.match(self._text, self._at) or _BLANK.match(self._text, self._at):
                pieces.append(_Text(match[0], quoted=False))
                self._at = match.end()
            else:
                break
        path = _path(pieces)
        if not all(path):
            self._fail("a key is missing")
        return path

    def _value(self, line: int, *, adds: bool) -> _Value:
        parts: list[_Text | _Reference | _Array | _Object] = []
        while self._at < len(self._text):
            if (quoted := self._quoted()) is not None:
                parts.append(_Text(quoted, quoted=True))
            elif match := _REFERENCE.match(self._text, self._at):
                self._at = match.end()
                parts.append(_Reference(_path([_Text(match[2], quoted=False)]), match[1] is not None, match[0]))
            elif self._take("{"):
                parts.append(self._object("}"))
            elif self._take("["):
                parts.append(self._array())
            elif match := _PLAIN.match(self._text, self._at) or _BLANK.match(self._text, self._at):
                parts.append(_Text(match[0], quoted=False))
                self._at = match.end()
            else:
                break
        while parts and isinstance(last := parts[-1], _Text) and not last.quoted and not last.text.strip():
            parts.pop()
        if not parts:
            self._fail("a value is missing")
        return _Value(tuple(parts), line, adds)

    def _array(self) -> _Array:
        members: list[_Value] = []
        line = self._line()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail("nested too deeply")
        self._skip()
        while not self._take("]"):
            if self._at >= len(self._text):
                raise HoconError(line, "a bracket is not closed")
            members.append(self._value(self._line(), adds=False))
            self._skip()
        self._depth -= 1
        return _Array(tuple(members))

    def _quoted(self) -> str | None:
        match = _QUOTED.match(self._text, self._at)
        if match is None:
            if self._text.startswith('"', self._at):
                self._fail("a quotation mark is not closed")
            return None
        self._at = match.end()
        if match[1] is not None:
            return match[1]
        try:
            return str(json.loads(match[0]))
        except json.JSONDecodeError:
            return self._fail("a backslash is not followed by an escape")

    def _skip(self) -> None:
        if match := _BETWEEN.match(self._text, self._at):
            self._at = match.end()

    def _take(self, sign: str) -> bool:
        found = self._text.startswith(sign, self._at)
        self._at += len(sign) * found
        return found

    def _line(self) -> int:
        return bisect_right(self._ends, self._at - 1) + 1

    def _fail(self, reason: str) -> NoReturn:
        raise HoconError(self._line(), reason)


def _path(pieces: Sequence[_Text]) -> tuple[str, ...]:
    """Return the elements of a path: dots part them where they are not quoted; blanks around it do not count."""
    elements = [""]
    for index, piece in enumerate(pieces):
        at_edge = index in (0, len(pieces) - 1)
        if piece.quoted or (at_edge and not piece.text.strip()):
            elements[-1] += piece.text if piece.quoted else ""
            continue
        first, *others = piece.text.replace('"', "").split(".")
        elements[-1] += first
        elements += others
    return tuple(elements)


class _Resolver:
    """Joins parts, merges objects, and answers references out of the file itself."""

    def __init__(self, root: _Object) -> None:
        self._root = root
        self._budget = iter(range(MAX_NODES))
        self._open: set[tuple[str, ...]] = set()
        self._known: dict[tuple[str, ...], _Entries] = {}

    def branch(self, objects: Sequence[_Object], depth: int) -> Branch:
        entries = ((name, self._fold(values, depth)) for name, values in _entries_of(objects).items())
        return Branch(tuple((name, node) for name, node in entries if node is not None), objects[0].line)

    def _fold(self, values: Sequence[_Value], depth: int) -> Node | None:
        """Return what several values of one key give; those of one form in a row are joined in one step."""
        found: Node | None = None
        for form, group in groupby(values, key=_form):
            same = list(group)
            if form is _Form.ADDED:
                nodes = [node for value in same if (node := self._node(value, depth + 1)) is not None]
                before, line = (found.nodes, found.line) if isinstance(found, Row) else ((), same[0].line)
                found = Row((*before, *nodes), line) if nodes else found
            elif form is _Form.OBJECT:
                self._spend(same[-1], depth + 1, len(same))
                objects = [part for value in same for part in value.parts if isinstance(part, _Object)]
                found = _merged(found, self.branch(objects, depth + 1))
            else:
                for value in same:
                    node = self._node(value, depth + 1)
                    # Where nothing in the file sets it, what was there before stays.
                    found = found if found is not None and _is_unanswered(value, node) else _merged(found, node)
        return found

    def _spend(self, value: _Value, depth: int, count: int = 1) -> None:
        if sum(1 for _ in islice(self._budget, count)) < count or depth > MAX_DEPTH:
            raise HoconError(value.line, f"more than {MAX_NODES} values or {MAX_DEPTH} levels, references followed")

    def _node(self, value: _Value, depth: int) -> Node | None:
        self._spend(value, depth)
        nodes = list(self._parts(value, depth))
        structures = [node for node in nodes if not isinstance(node, Leaf)]
        if structures:
            found: Node | None = None
            for node in structures:
                joins = isinstance(found, Row) and isinstance(node, Row)
                found = Row((*found.nodes, *node.nodes), found.line) if joins else _merged(found, node)  # type: ignore[union-attr]
            return found
        texts = [node.text or "" for node in nodes if isinstance(node, Leaf)]
        only = value.parts[0] if len(value.parts) == 1 else None
        null = isinstance(only, _Text) and not only.quoted and only.text == "null"
        return Leaf(None if null else "".join(texts), value.line)

    def _parts(self, value: _Value, depth: int) -> Iterator[Node]:
        for part in value.parts:
            match part:
                case _Text(text):
                    yield Leaf(text, value.line)
                case _Object():
                    yield self.branch((part,), depth)
                case _Array(members):
                    nodes = (self._node(member, depth + 1) for member in members)
                    yield Row(tuple(node for node in nodes if node is not None), value.line)
                case _Reference(path, _, text):
                    found = self._answer(path, depth)
                    yield Leaf(text, value.line) if found is None else _at(found, value.line)

    def _answer(self, path: tuple[str, ...], depth: int) -> Node | None:
        if path in self._open or len(path) > MAX_DEPTH:
            return None
        self._open.add(path)
        try:
            return self._find(path, depth)
        finally:
            self._open.discard(path)

    def _find(self, path: tuple[str, ...], depth: int) -> Node | None:
        """Return what stands under a path, else in what a key above it refers to, the nearest first."""
        values = self._entries_at(path[:-1]).get(path[-1])
        found = self._fold(values, depth) if values else None
        for end in range(len(path) - 1, 0, -1):
            above = self._entries_at(path[: end - 1]).get(path[end - 1], ()) if found is None else ()
            for part in (part for value in above for part in value.parts):
                if isinstance(part, _Reference) and isinstance(node := self._answer(part.path, depth), Branch):
                    found = node.get(*path[end:]) or found
        return found

    def _entries_at(self, path: tuple[str, ...]) -> _Entries:
        """Return the values by key of all objects that are written under a path; a file has many of the same path."""
        if (found := self._known.get(path)) is not None:
            return found
        values = self._entries_at(path[:-1]).get(path[-1], ()) if path else (_Value((self._root,), 0),)
        objects = [part for value in values for part in value.parts if isinstance(part, _Object)]
        return self._known.setdefault(path, _entries_of(objects))


def _entries_of(objects: Sequence[_Object]) -> _Entries:
    found: _Entries = {}
    for one in objects:
        for name, values in one.entries.items():
            found.setdefault(name, []).extend(values)
    return found


class _Form(Enum):
    ADDED = auto()
    OBJECT = auto()
    OTHER = auto()


def _form(value: _Value) -> _Form:
    if value.adds:
        return _Form.ADDED
    return _Form.OBJECT if len(value.parts) == 1 and isinstance(value.parts[0], _Object) else _Form.OTHER


def _is_unanswered(value: _Value, node: Node | None) -> bool:
    match value.parts:
        case (_Reference(_, True, text),):
            return isinstance(node, Leaf) and node.text == text
        case _:
            return False


def _merged(before: Node | None, after: Node | None) -> Node | None:
    if not isinstance(before, Branch) or not isinstance(after, Branch):
        return after
    merged = dict(before.entries)
    for name, node in after.entries:
        merged[name] = _merged(merged.get(name), node) or node
    return Branch(tuple(merged.items()), before.line)


def _at(node: Node, line: int) -> Node:
    """Return a scalar on the line that refers to it; what is larger keeps the lines where it was written."""
    return Leaf(node.text, line) if isinstance(node, Leaf) else node
