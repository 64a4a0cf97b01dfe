"""The objects in a configuration module of JavaScript or TypeScript, by the names and calls that they stand under.

Nothing is run: ``process.env.X`` and other expressions stay references. ``kafka.producer({...})`` stands under
``producer``, what is exported under ``exported``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.settings.formats.python_file import OPEN
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

NAMES: Final = tuple(
    f"{name}.{ending}"
    for name in ("config", "configuration", "settings", "kafka")
    for ending in ("js", "cjs", "mjs", "ts", "mts")
)
"""How the names of such modules end."""
_TOKEN: Final = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))"""
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
    r"""|(?P<number>\d[\d_]*(?:\.\d+)?(?![\w.]))"""
    r"""|(?P<name>[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*)"""
    r"""|(?P<other>=>|\.\.\.|\|\||\?\?|[^\s])""",
    re.DOTALL,
)
_OPENING: Final = {"{": "}", "[": "]", "(": ")"}
_CLOSING: Final = frozenset(_OPENING.values())
_BEFORE_OBJECT: Final = frozenset({"=", "(", "return", "export default", "default", ","})
_ENVIRONMENT: Final = "process.env."
_MOST_TOKENS: Final = 50_000
_MOST_LEVELS: Final = 50


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class _Reader:
    """Reads the tokens of a module in one pass."""

    def __init__(self, tokens: list[_Token], names: dict[str, Node]) -> None:
        self._tokens, self._names = tokens, names
        self._at = 0
        self._functions = list[list[_Token]]()

    def module(self) -> Iterator[tuple[str, Node]]:
        """Yield every object that a name is given, that is exported or returned, or that a call is given."""
        while self._at < len(self._tokens):
            is_object = self._text() == "{" and self._text(-1) in _BEFORE_OBJECT
            if not is_object:
                self._at += 1
                continue
            name = self._name()
            node = self._object(0)
            if isinstance(node, Branch) and node.entries:
                self._names[name] = node
                yield name, node
        for body in self._functions:
            yield from _Reader(body, self._names).module()

    def _text(self, step: int = 0) -> str:
        at = self._at + step
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _name(self) -> str:
        """Return what the object that begins here stands under: a variable, or the last word of a call."""
        before = self._text(-1)
        step = -1 if before in ("=", "(") else 0
        while step and self._text(step - 1) in ("(", "=>", ")", "="):
            step -= 1
        word = self._text(step - 1) if step else ""
        if before == "=" and self._text(-3) == ":":
            word = self._text(-4)  # const config: KafkaConfig = {
        last = word.rpartition(".")[2]
        return last if last.isidentifier() and last != "exports" else "exported"

    def _object(self, depth: int) -> Node:
        """Read an object from its brace on, its members to the closing one."""
        line = self._tokens[self._at].line
        found: dict[str, Node] = {}
        self._at += 1
        while self._at < len(self._tokens) and self._text() != "}":
            token = self._tokens[self._at]
            if token.text == "...":
                self._at += 1
                spread = self._value(depth)
                found |= dict(spread.entries) if isinstance(spread, Branch) else {OPEN: spread}
            elif token.kind in ("name", "string", "number") and self._text(1) == ":":
                self._at += 2
                found[_plain(token)] = self._value(depth)
            else:
                self._skip()
            self._at += self._text() != "}"  # the comma, or a bracket that nothing opened
        self._at += 1
        return Branch(tuple(found.items()), line)

    def _value(self, depth: int) -> Node:
        token = self._tokens[self._at] if self._at < len(self._tokens) else _Token("other", "", 1)
        if depth > _MOST_LEVELS:
            raise RecursionError
        if token.text == "{":
            node = self._object(depth + 1)
            self._skip()
            return node
        if token.text == "[":
            return self._row(depth)
        first = self._at
        self._skip()
        tokens = self._tokens[first : self._at]
        if any(one.text == "=>" for one in tokens):
            self._functions.append(tokens)
        return self._expression(tokens, token.line)

    def _row(self, depth: int) -> Node:
        line, nodes = self._tokens[self._at].line, list[Node]()
        self._at += 1
        while self._at < len(self._tokens) and self._text() != "]":
            nodes.append(self._value(depth + 1))
            self._at += self._text() != "]"
        self._at += 1
        self._skip()
        return Row(tuple(nodes), line)

    def _skip(self) -> None:
        """Go to the comma or the bracket that ends a member."""
        open_brackets = 0
        while self._at < len(self._tokens):
            text = self._text()
            if open_brackets == 0 and (text == "," or text in _CLOSING):
                return
            open_brackets += (text in _OPENING) - (text in _CLOSING)
            self._at += 1

    def _expression(self, tokens: list[_Token], line: int) -> Node:
        if len(tokens) == 1 and tokens[0].text in self._names:
            return self._names[tokens[0].text]
        if len(tokens) == 1 and tokens[0].text in ("null", "undefined"):
            return Leaf(None, line)
        if len(tokens) == 2 and tokens[0].text == "-" and tokens[1].kind == "number":
            return Leaf(f"-{_plain(tokens[1])}", line)
        if len(tokens) == 1 and (tokens[0].kind != "name" or tokens[0].text in ("true", "false")):
            return Leaf(_plain(tokens[0]), line)
        if tokens and all(one.text == "*" if odd % 2 else one.kind == "number" for odd, one in enumerate(tokens)):
            return Leaf(str(_product(tokens)), line)
        text = " ".join(one.text for one in tokens)
        read = next((one.text for one in tokens if one.text.startswith(_ENVIRONMENT)), "")
        inner = read.removeprefix(_ENVIRONMENT) if read else re.sub(r"[{}\s]+", " ", text)[:80].strip()
        return Leaf(f"${{{inner}}}", line)


def parse_javascript(text: str) -> tuple[Branch, ...]:
    """Return the objects of a module as one document."""
    tokens: list[_Token] = []
    line = 1
    for found in _TOKEN.finditer(text):
        if found.lastgroup != "skip":
            tokens.append(_Token(found.lastgroup or "", found[0], line))
        line += found[0].count("\n")
        if len(tokens) > _MOST_TOKENS:
            return ()
    objects: dict[str, Node] = {}
    for name, node in _Reader(tokens, {}).module():
        objects[f"{name} in line {node.line}" if name in objects else name] = node
    return (Branch(tuple(objects.items()), 1),)


def _plain(token: _Token) -> str:
    if token.kind == "number":
        return token.text.replace("_", "")
    return re.sub(r"\$\{\s*process\.env\.", "${", token.text[1:-1]) if token.kind == "string" else token.text


def _product(tokens: list[_Token]) -> int:
    product = 1
    for one in tokens[::2]:
        product *= int(float(_plain(one)))
    return product
