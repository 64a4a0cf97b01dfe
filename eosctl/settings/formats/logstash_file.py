"""Pipelines of Logstash: sections of plugins with ``name => value`` settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.settings.formats.tree import Branch, Leaf, Node, ParseError, Row

_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+|\#[^\n]*)|(?P<arrow>=>)|(?P<mark>[{}\[\](),])"""
    r"""|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<word>[^\s{}\[\](),"'=]+|=)""",
    re.DOTALL,
)
PIPELINE: Final = re.compile(r"^[ \t]*(?:input|filter|output)\s*\{", re.MULTILINE)
LOGSTASH: Final = "logstash"
"""The key under which the sections of a pipeline stand in the tree of its file."""
_MAX_DEPTH: Final = 100


class LogstashError(ParseError):
    """A file is not a pipeline of Logstash."""


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def parse_logstash(text: str) -> Branch:
    """Parse a pipeline: a branch per section, in it one per plugin; conditions are left out, their plugins are not.

    Raises:
        LogstashError: Braces do not match, or a quoted text does not end.
    """
    tokens = list(_tokens(text))
    entries, position = _block(tokens, 0, 0)
    if position < len(tokens):
        raise LogstashError(tokens[position].line, "a brace closes nothing")
    return Branch(tuple(entries), 1)


def _tokens(text: str) -> Iterator[_Token]:
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise LogstashError(line, "a quoted text does not end")
        kind = match.lastgroup or ""
        if kind != "blank":
            yield _Token(kind, match[kind], line)
        line += match[0].count("\n")
        position = match.end()


def _block(tokens: list[_Token], position: int, depth: int) -> tuple[list[tuple[str, Node]], int]:
    """Read entries up to the closing brace: plugins, settings, and what stands in conditions."""
    if depth > _MAX_DEPTH:
        raise LogstashError(tokens[position].line if position < len(tokens) else 1, "nested too deeply")
    entries: list[tuple[str, Node]] = []
    name: _Token | None = None
    while (position < len(tokens) and tokens[position].text != "}") or _is_text(tokens, position):
        token = tokens[position]
        if token.kind == "arrow" and name is not None:
            node, position = _value(tokens, position + 1, depth)
            entries.append((name.text, node))
            name = None
        elif token.kind == "mark" and token.text == "{":
            inner, position = _block(tokens, position + 1, depth + 1)
            if position >= len(tokens):
                raise LogstashError(token.line, "a brace is not closed")
            position += 1
            if name is not None and name.text not in ("if", "else"):
                entries.append((name.text, Branch(tuple(inner), name.line)))
            else:
                entries += inner
            name = None
        else:
            if name is None or name.text not in ("if", "else"):
                name = token
            position += 1
    return entries, position


def _is_text(tokens: list[_Token], position: int) -> bool:
    return position < len(tokens) and tokens[position].kind in ("double", "single")


def _value(tokens: list[_Token], position: int, depth: int) -> tuple[Node, int]:
    if position >= len(tokens):
        raise LogstashError(tokens[-1].line, "a setting has no value")
    token = tokens[position]
    if token.kind == "mark" and token.text == "[":
        nodes: list[Node] = []
        position += 1
        while position < len(tokens) and not (tokens[position].kind == "mark" and tokens[position].text == "]"):
            if tokens[position].kind != "mark":
                nodes.append(Leaf(tokens[position].text, tokens[position].line))
            position += 1
        return Row(tuple(nodes), token.line), position + 1
    if token.kind == "mark" and token.text == "{":
        inner, position = _block(tokens, position + 1, depth + 1)
        return Branch(tuple(inner), token.line), position + 1
    return Leaf(token.text, token.line), position + 1
