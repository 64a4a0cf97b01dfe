"""HCL, Terraform's language, as a tree: blocks under their type and labels, attributes with their lines.

Nothing is evaluated: what refers to something else (``var.x``, a condition, a sum) stays as it is written, as
``${...}``, so that it counts as a value from outside. Functions that only wrap objects (``merge``, ``tomap``,
``jsonencode``) stand for the objects in them, and lines that are joined for the text that they make.
Source of the grammar: the HCL native syntax specification. Line breaks next to operators are accepted everywhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from eosctl.settings.tree import Branch, Leaf, Node, ParseError, Row

MAX_CHARACTERS: Final = 1_000_000
"""More characters than any module has."""
MERGED: Final = "merge of "
"""How the key of an object begins that ``merge`` takes from a variable or a local."""
_HEREDOC: Final = re.compile(r"<<(-?)([\w.-]+)[ \t]*\r?\n")
_NAMED: Final = re.compile(r"\$\{(?:var|local|each)\.[\w.-]+\}")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_JOINED_LINES: Final = re.compile(r'join\(\s*"\\n"\s*,')
_NEGATIVE: Final = re.compile(r"-\d+(?:\.\d+)?")
_OF_VARIABLES: Final = ("default", "sensitive")
_LITERALS: Final = ("true", "false", "null")
_TOKEN: Final = re.compile(
    r"(?P<space>(?:[ \t\r\f\v]|/\*[\s\S]*?\*/)++)"
    r"|(?P<line>(?:\s|\#[^\n]*+|//[^\n]*+)++)"
    r"|(?P<string>\"(?:[^\"\\\n$%]|\\.|\$\$\{|%%\{|[$%](?!\{))*+\")"
    r"|(?P<name>[^\W\d][\w-]*+)"
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<heredoc><<-?[\w.-]+[ \t]*\r?\n)"
    r"|(?P<quote>\")"
    r"|(?P<sign>==|!=|<=|>=|&&|\|\||=>|\.\.\.|::|[{}\[\]().,:?=<>+*/%!-])"
)
_IN_TEMPLATE: Final = re.compile(r"\\.|\$\$\{|%%\{|[$%]\{|[\"\n]", re.DOTALL)
_IN_INTERPOLATION: Final = re.compile(r"[{}\"]|/\*[\s\S]*?\*/")
_BINARY: Final = frozenset({"==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%"})
_OPENING: Final = frozenset({"(", "[", "{"})


class HclError(ParseError):
    """The text is not HCL."""


class _Token(NamedTuple):
    """A piece of the text: ``name``, ``string``, ``number``, ``heredoc``, ``line`` for its end, ``end``, or a sign."""

    kind: str
    start: int
    end: int


@lru_cache(maxsize=64)
def parse_hcl(text: str) -> Branch:
    """Parse HCL; the files of a module are read once for themselves and once for the variables of the others.

    Raises:
        HclError: The text does not follow the format, or is too large or too deep.
    """
    if len(text) > MAX_CHARACTERS:
        raise HclError(1, f"more than {MAX_CHARACTERS:,} characters")
    try:
        return _Parser(text if text.endswith("\n") else text + "\n").whole()
    except RecursionError as error:
        raise HclError(1, "nested too deeply") from error


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the pieces of a text without blanks and comments.

    Raises:
        HclError: A character begins nothing, or a text in quotes or a heredoc does not end.
    """
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _unexpected(text, position)
        kind, start, position = match.lastgroup or "", position, match.end()
        if kind == "quote":
            kind, position = "string", _end_of_template(text, start)
        elif kind == "heredoc":
            position = _end_of_heredoc(text, start)
        if kind == "sign":
            yield _Token(text[start:position], start, position)
        elif kind == "line":
            yield from (_Token("line", start, position),) if "\n" in match[0] else ()
        elif kind != "space":
            yield _Token(kind, start, position)
    yield _Token("end", position, position)


def _end_of_template(text: str, start: int) -> int:
    """Return the position behind a text in quotes, which holds expressions that hold texts in quotes."""
    position = start + 1
    while (match := _IN_TEMPLATE.search(text, position)) is not None and match[0] != "\n":
        position = match.end()
        if match[0] == '"':
            return position
        if match[0] in ("${", "%{"):
            position = _end_of_interpolation(text, position)
    raise _unexpected(text, start)


def _end_of_interpolation(text: str, position: int) -> int:
    start, depth = position, 1
    while (match := _IN_INTERPOLATION.search(text, position)) is not None:
        position = match.end()
        if match[0] == '"':
            position = _end_of_template(text, match.start())
        elif match[0] in ("{", "}"):
            depth += 1 if match[0] == "{" else -1
            if not depth:
                return position
    raise _unexpected(text, start)


def _end_of_heredoc(text: str, start: int) -> int:
    """Return the end of the line that ends a heredoc; its line break is not a part of it."""
    begin = _HEREDOC.match(text, start)
    assert begin is not None
    position = begin.end()
    while position < len(text):
        end = text.find("\n", position)
        if text[position:end].strip() == begin[2]:
            return end
        position = end + 1
    raise _unexpected(text, start)


def _unexpected(text: str, position: int) -> HclError:
    words = text[position:].split(maxsplit=1)
    reason = f"not HCL: {words[0][:20]!r} is not expected here" if words else "not HCL: it ends too early"
    return HclError(text.count("\n", 0, position) + 1, reason)


class _Parser:
    """Turns a text into mappings, sequences and scalars."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._at = 0
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def whole(self) -> Branch:
        """Return what stands in the whole text."""
        found = self._body("end")
        if self._kind != "end":
            raise self._error()
        return found

    @property
    def _kind(self) -> str:
        return self._tokens[self._at].kind

    def _error(self) -> HclError:
        return _unexpected(self._text, self._tokens[self._at].start)

    def _line(self, start: int) -> int:
        return bisect_right(self._breaks, start - 1) + 1

    def _take(self, *kinds: str) -> _Token:
        token = self._tokens[self._at]
        if kinds and token.kind not in kinds:
            raise self._error()
        self._at += 1
        return token

    def _skip_lines(self) -> None:
        while self._tokens[self._at].kind == "line":
            self._at += 1

    def _next_is(self, kinds: frozenset[str]) -> bool:
        """Return whether the next piece is one of these signs; line breaks before it are skipped then."""
        ahead = self._at
        while self._tokens[ahead].kind == "line":
            ahead += 1
        if self._tokens[ahead].kind not in kinds:
            return False
        self._at = ahead
        return True

    def _body(self, end: str) -> Branch:
        line, entries = self._line(self._tokens[self._at].start), list[tuple[str, Node]]()
        self._skip_lines()
        while self._kind != end:
            entries.append(self._attribute_or_block())
            if self._kind not in ("line", end):
                raise self._error()
            self._skip_lines()
        return Branch(tuple(entries), line)

    def _attribute_or_block(self) -> tuple[str, Node]:
        first = self._take("name", "string")
        kind, labels = self._name(first), list[str]()
        if self._kind == "=":
            self._take()
            self._skip_lines()
            return kind, self._expression()
        while self._kind in ("name", "string"):
            labels.append(self._name(self._take()))
        self._take("{")
        node: Node = self._body("}")
        self._take("}")
        if kind == "variable" and isinstance(node, Branch):
            # Its type and its conditions name settings, and give none a value.
            node = Branch(tuple(entry for entry in node.entries if entry[0] in _OF_VARIABLES), node.line)
        for name in reversed(labels):
            node = Branch(((name, node),), self._line(first.start))
        return kind, node

    def _name(self, token: _Token) -> str:
        return self._string(token) if token.kind == "string" else self._text[token.start : token.end]

    def _expression(self) -> Node:
        start = self._tokens[self._at].start
        node, is_whole = self._operand(), True
        while self._next_is(_BINARY):
            self._take()
            self._skip_lines()
            self._operand()
            is_whole = False
        if self._next_is(frozenset("?")):
            self._take()
            self._skip_lines()
            self._expression()
            self._skip_lines()
            self._take(":")
            self._skip_lines()
            self._expression()
            is_whole = False
        return node if is_whole else self._outside(start)

    def _operand(self) -> Node:
        start = self._tokens[self._at].start
        if self._kind in ("-", "!"):
            self._take()
            self._operand()
            source = self._source(start)
            return Leaf(source, self._line(start)) if _NEGATIVE.fullmatch(source) else self._outside(start)
        node, is_whole = self._term(), True
        while self._kind in (".", "["):
            if self._take().kind == ".":
                self._take("name", "number", "*")
            elif self._next_is(frozenset("*")):
                self._take()
                self._take("]")
            else:
                self._skip_lines()
                self._expression()
                self._skip_lines()
                self._take("]")
            is_whole = False
        return node if is_whole else self._outside(start)

    def _term(self) -> Node:
        token = self._take("name", "string", "number", "heredoc", *_OPENING)
        line, text = self._line(token.start), self._text[token.start : token.end]
        match token.kind:
            case "string":
                return Leaf(self._string(token), line)
            case "number":
                return Leaf(text, line)
            case "heredoc":
                return self._heredoc(token)
            case "(":
                self._skip_lines()
                node = self._expression()
                self._skip_lines()
                self._take(")")
                return node
            case "[" | "{":
                return self._collection(token)
        while self._kind == "::":
            self._take()
            self._take("name")
        if self._kind == "(":
            return self._call(token.start)
        if text in _LITERALS:
            return Leaf(None if text == "null" else text, line)
        return self._outside(token.start)

    def _collection(self, opening: _Token) -> Node:
        self._skip_lines()
        following = self._tokens[self._at]
        if following.kind == "name" and self._text[following.start : following.end] == "for":
            return self._loop(opening)
        line = self._line(opening.start)
        if opening.kind == "[":
            return Row(tuple(self._members("]")), line)
        entries = list[tuple[str, Node]]()
        while self._kind != "}":
            entries.append(self._entry())
            if self._kind not in ("line", ",", "}"):
                raise self._error()
            self._skip_lines()
            if self._kind == ",":
                self._take()
                self._skip_lines()
        self._take("}")
        return Branch(tuple(entries), line)

    def _entry(self) -> tuple[str, Node]:
        token = self._tokens[self._at]
        self._expression()
        is_one = self._tokens[self._at - 1] is token
        key = self._name(token) if is_one else self._source(token.start)
        self._take("=", ":")
        self._skip_lines()
        return key, self._expression()

    def _loop(self, opening: _Token) -> Leaf:
        """Skip an expression that makes a collection of another one: its members are not known."""
        depth = 1
        while depth:
            kind = self._take().kind
            if kind == "end":
                self._at -= 1
                raise self._error()
            depth += 1 if kind in _OPENING else -1 if kind in ("}", "]", ")") else 0
        return self._outside(opening.start)

    def _members(self, end: str) -> Iterator[Node]:
        """Yield the members up to a closing bracket, and take that."""
        self._skip_lines()
        while self._kind != end:
            yield self._expression()
            self._skip_lines()
            if self._kind == "...":
                self._take()
                self._skip_lines()
            if self._kind != end:
                self._take(",")
                self._skip_lines()
        self._take(end)

    def _call(self, start: int) -> Node:
        """Return the text of joined lines, a function's only argument, or the objects in it as one.

        Of equal keys the last one counts (merge). References among them stay as entries, whose key begins with
        ``MERGED``. What other functions return is not known.
        """
        self._take("(")
        nodes = list(self._members(")"))
        if _JOINED_LINES.match(self._text, start) is not None and (joined := _joined(nodes)) is not None:
            return joined
        if len(nodes) == 1 and isinstance(nodes[0], Row):
            return nodes[0]
        objects = [one for node in nodes if (one := _mergeable(node)) is not None]
        merged = dict(entry for node in objects for entry in node.entries)
        is_any = any(not isinstance(node, Leaf) for node in nodes) or len(objects) > 1
        return Branch(tuple(merged.items()), self._line(start)) if objects and is_any else self._outside(start)

    def _outside(self, start: int) -> Leaf:
        return Leaf(f"${{{self._source(start)}}}", self._line(start))

    def _source(self, start: int) -> str:
        return self._text[start : self._tokens[self._at - 1].end].strip()

    def _string(self, token: _Token) -> str:
        text = self._text[token.start + 1 : token.end - 1]
        return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[0]), text) if "\\" in text else text

    def _heredoc(self, token: _Token) -> Leaf:
        begin = _HEREDOC.match(self._text, token.start)
        assert begin is not None
        *lines, _ = self._text[begin.end() : token.end].splitlines(keepends=True)  # the last one ends it
        if begin[1]:
            margin = min((len(one) - len(one.lstrip()) for one in lines if one.strip()), default=0)
            lines = [one[margin:] if one.strip() else one.lstrip(" \t") for one in lines]
        return Leaf("".join(lines), self._line(token.start) + 1)


def _joined(nodes: list[Node]) -> Leaf | None:
    """Return the text that ``join("\\n", [...])`` makes, with each part on its own line; None for other arguments."""
    parts = nodes[1].nodes if len(nodes) == 2 and isinstance(nodes[1], Row) else ()
    leaves = [part for part in parts if isinstance(part, Leaf) and part.text is not None]
    if not leaves or len(leaves) < len(parts):
        return None
    text, line = "", leaves[0].line
    for leaf in leaves:
        text += "\n" * max(leaf.line - line - text.count("\n"), 1 if text else 0) + (leaf.text or "")
    return Leaf(text, line)


def _mergeable(node: Node) -> Branch | None:
    if isinstance(node, Leaf) and node.text is not None and _NAMED.fullmatch(node.text):
        return Branch(((f"{MERGED}{node.text}", node),), node.line)
    return node if isinstance(node, Branch) else None
