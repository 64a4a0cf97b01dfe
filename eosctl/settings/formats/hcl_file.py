"""HCL, Terraform's language, as a tree: blocks under their type and labels, attributes with their lines.

The package python-hcl2 (extra ``hcl``) parses; its syntax tree is read here, because its dictionaries keep no lines.
Nothing is evaluated: what refers to something else (``var.x``, a condition, a sum) stays as it is written, as
``${...}``, so that it counts as a value from outside. Functions that only wrap objects (``merge``, ``tomap``,
``jsonencode``) stand for the objects in them, and lines that are joined for the text that they make.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, ParseError, Row

if TYPE_CHECKING:
    from lark import Token, Tree
    from lark.exceptions import UnexpectedInput

MAX_CHARACTERS: Final = 1_000_000
"""The parser needs about a second per 100,000."""
_HEREDOC: Final = re.compile(r"<<(-?)[\w.-]+\r?\n")
MERGED: Final = "merge of "
"""How the key of an object begins that ``merge`` takes from a variable or a local."""
TEMPLATE_FILE: Final = "templatefile of"
"""The key of the file that a call of ``templatefile`` fills in."""
TEMPLATE_VALUES: Final = "templatefile with"
"""The key of the values that such a call gives."""
_TEMPLATE_FILE: Final = re.compile(r'templatefile\(\s*"(?:\$\{path\.(?:module|root|cwd)\}/|\./)?([^"$]+)"')
_NAMED: Final = re.compile(r"\$\{(?:var|local|each)\.[\w.-]+\}")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_JOINED_LINES: Final = re.compile(r'join\(\s*"\\n"\s*,')
_NEGATIVE: Final = re.compile(r"-\d+(?:\.\d+)?")
_OF_VARIABLES: Final = ("default", "sensitive")
_CONSTANTS: Final = frozenset({"int_lit", "float_lit", "literal_value", "keyword"})


class HclError(ParseError):
    """The text is not HCL."""


def can_parse() -> bool:
    """Whether the package that parses is installed."""
    return importlib.util.find_spec("hcl2") is not None


def _unexpected(error: UnexpectedInput) -> str:
    found = str(getattr(error, "token", None) or getattr(error, "char", "")).strip()
    return f"not HCL: {found.split()[0][:20]!r} is not expected here" if found else "not HCL: it ends too early"


@lru_cache(maxsize=64)
def parse_hcl(text: str) -> Branch:
    """Parse HCL; the files of a module are read once for themselves and once for the variables of the others.

    Raises:
        HclError: The text does not follow the format, or is too large or too deep.
        ImportError: python-hcl2 is not installed.
    """
    import hcl2
    from lark.exceptions import UnexpectedInput

    if len(text) > MAX_CHARACTERS:
        raise HclError(1, f"more than {MAX_CHARACTERS:,} characters")
    whole = text if text.endswith("\n") else text + "\n"
    try:
        tree = hcl2.parses_to_tree(whole)
        return _Reader(whole).body(_trees(tree)[0])
    except UnexpectedInput as error:
        raise HclError(max(1, int(getattr(error, "line", 1))), _unexpected(error)) from error
    except RecursionError as error:
        raise HclError(1, "nested too deeply") from error


class _Reader:
    """Turns syntax into mappings, sequences and scalars."""

    def __init__(self, text: str) -> None:
        self._text = text

    def body(self, tree: Tree[Token]) -> Branch:
        return Branch(tuple(self._entries(tree)), _line(tree))

    def _entries(self, tree: Tree[Token]) -> Iterator[tuple[str, Node]]:
        for child in _trees(tree):
            if child.data == "attribute":
                name, value = _trees(child)[0], _trees(child)[-1]
                yield self._name(name), self._value(value)
            elif child.data == "block":
                *path, body = (part for part in _trees(child) if part.data != "new_line_or_comment")
                node: Node = self.body(body)
                if self._name(path[0]) == "variable" and isinstance(node, Branch):
                    # Its type and its conditions name settings, and give none a value.
                    node = Branch(tuple(entry for entry in node.entries if entry[0] in _OF_VARIABLES), node.line)
                for name in reversed(path[1:]):
                    node = Branch(((self._name(name), node),), _line(child))
                yield self._name(path[0]), node

    def _name(self, tree: Tree[Token]) -> str:
        inner = tree
        while inner.data in ("object_elem_key", "expr_term") and len(_trees(inner)) == 1:
            inner = _trees(inner)[0]
        if inner.data == "string":
            return self._string(inner)
        return self._source(inner)

    def _value(self, tree: Tree[Token]) -> Node:
        line, inner = _line(tree), tree
        while inner.data == "expr_term" and len(parts := _content(inner)) == 1:
            (part,) = parts
            if isinstance(part, str):
                return self._heredoc(str(part), line)
            inner = part
        match str(inner.data):
            case "string":
                return Leaf(self._string(inner), line)
            case "object":
                return Branch(tuple(self._members(inner)), line)
            case "tuple":
                return Row(tuple(self._value(part) for part in _content(inner) if not isinstance(part, str)), line)
            case "function_call":
                return self._template_file(inner) or self._joined(inner) or self._wrapped(inner) or self._outside(inner)
            case "heredoc_template" | "heredoc_template_trim":
                return self._heredoc(self._source(inner), line)
            case name if name in _CONSTANTS or (name == "unary_op" and _NEGATIVE.fullmatch(self._source(inner))):
                text = self._source(inner)
                return Leaf(None if text == "null" else text, line)
            case _:
                return self._outside(inner)

    def _members(self, tree: Tree[Token]) -> Iterator[tuple[str, Node]]:
        for member in _trees(tree):
            if member.data == "object_elem":
                key, value = _trees(member)[0], _trees(member)[-1]
                yield self._name(key), self._value(value)

    def _wrapped(self, call: Tree[Token]) -> Branch | Row | None:
        """Return a function's only argument, or the objects in it as one; of equal keys the last one counts (merge).

        References among them stay as entries, whose key begins with ``MERGED``.
        """
        arguments = [part for part in _trees(call) if part.data == "arguments"]
        nodes = [self._value(part) for one in arguments for part in _trees(one) if part.data != "new_line_or_comment"]
        if len(nodes) == 1 and isinstance(nodes[0], Row):
            return nodes[0]
        objects = [one for node in nodes if (one := _mergeable(node)) is not None]
        merged = dict(entry for node in objects for entry in node.entries)
        is_any = any(not isinstance(node, Leaf) for node in nodes) or len(objects) > 1
        return Branch(tuple(merged.items()), _line(call)) if objects and is_any else None

    def _template_file(self, call: Tree[Token]) -> Branch | None:
        """Return a call of ``templatefile`` as a mapping of its file and its values; None for other calls."""
        if (named := _TEMPLATE_FILE.match(self._source(call))) is None:
            return None
        arguments = [part for part in _trees(call) if part.data == "arguments"]
        nodes = [self._value(part) for one in arguments for part in _trees(one) if part.data != "new_line_or_comment"]
        values = next((node for node in nodes if isinstance(node, Branch)), Branch((), _line(call)))
        return Branch(((TEMPLATE_FILE, Leaf(named[1], _line(call))), (TEMPLATE_VALUES, values)), _line(call))

    def _joined(self, call: Tree[Token]) -> Leaf | None:
        """Return the text that ``join("\\n", [...])`` makes, with each part on its own line; None for other calls."""
        if _JOINED_LINES.match(self._source(call)) is None:
            return None
        arguments = [part for part in _trees(call) if part.data == "arguments"]
        nodes = [self._value(part) for one in arguments for part in _trees(one) if part.data != "new_line_or_comment"]
        parts = nodes[1].nodes if len(nodes) == 2 and isinstance(nodes[1], Row) else ()
        leaves = [part for part in parts if isinstance(part, Leaf) and part.text is not None]
        if not leaves or len(leaves) < len(parts):
            return None
        pieces, line = [leaves[0].text or ""], leaves[0].line
        below = line + pieces[0].count("\n")
        for leaf in leaves[1:]:
            pieces += ("\n" * max(leaf.line - below, 1 if any(pieces) else 0), leaf.text or "")
            below += pieces[-2].count("\n") + pieces[-1].count("\n")
        return Leaf("".join(pieces), line)

    def _outside(self, tree: Tree[Token]) -> Leaf:
        return Leaf(f"${{{self._source(tree)}}}", _line(tree))

    def _string(self, tree: Tree[Token]) -> str:
        text = self._source(tree)[1:-1]
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text, flags=re.DOTALL)

    def _heredoc(self, text: str, line: int) -> Leaf:
        match = _HEREDOC.match(text)
        if match is None:
            return Leaf(text, line)
        lines = text[match.end() :].splitlines(keepends=True)[:-1]  # The last one is the mark at its end.
        if match[1]:
            margin = min((len(one) - len(one.lstrip()) for one in lines if one.strip()), default=0)
            lines = [one[margin:] if one.strip() else one.lstrip(" \t") for one in lines]
        return Leaf("".join(lines), line + 1)

    def _source(self, tree: Tree[Token]) -> str:
        return self._text[tree.meta.start_pos : tree.meta.end_pos].strip()


def _mergeable(node: Node) -> Branch | None:
    if isinstance(node, Leaf) and node.text is not None and _NAMED.fullmatch(node.text):
        return Branch(((f"{MERGED}{node.text}", node),), node.line)
    return node if isinstance(node, Branch) else None


def _trees(tree: Tree[Token]) -> list[Tree[Token]]:
    return [child for child in tree.children if not isinstance(child, str)]


def _content(tree: Tree[Token]) -> list[Tree[Token] | Token]:
    """Return what stands in a node, without blank lines and signs; a heredoc is a bare token."""
    return [
        child
        for child in tree.children
        if (child.startswith("<<") if isinstance(child, str) else child.data != "new_line_or_comment")
    ]


def _line(tree: Tree[Token]) -> int:
    return int(getattr(tree.meta, "line", 1))  # a body without any text has no place
