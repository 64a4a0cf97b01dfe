"""The mappings in a settings module of Python, by the names that they are assigned to.

Nothing is run: variables of the environment and other expressions stay references. A mapping that takes another one in
(``{**COMMON, "acks": "all"}``, ``dict(COMMON, acks="all")``, ``COMMON | {...}``) has the settings of both.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

NAMES: Final = ("settings.py", "config.py", "configuration.py", "kafka.py")
"""How the names of such modules end."""
OPEN: Final = "**"
"""The key in a mapping that takes in another one which is not read: what it lacks may stand there."""
_ENVIRONMENT: Final = frozenset({"get", "getenv", "env", "environ", "config"})
"""The last words of calls that read a variable: ``os.environ.get``, ``os.getenv``, ``env``, decouple's ``config``."""
_CONVERSIONS: Final = frozenset({"str", "int", "float", "bool", "deepcopy", "copy"})
_OPERATORS: Final = {ast.Mult: "*", ast.Add: "+", ast.Sub: "-", ast.FloorDiv: "//"}
_MOST_DIGITS: Final = 18
_MOST_ENTRIES: Final = 10_000


class _Module:
    """Reads a module from its first statement to the last one."""

    def __init__(self) -> None:
        self._names: dict[str, Node] = {}
        self._left = _MOST_ENTRIES

    def entries(self, body: Sequence[ast.stmt]) -> Iterator[tuple[str, Node]]:
        """Yield what statements assign, return, or call, if it holds a mapping."""
        for statement in body:
            if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                inner = tuple(self.entries(statement.body))
                if inner:
                    yield statement.name, Branch(inner, statement.lineno)
            elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr) and statement.value:
                yield from self._assigned(statement, statement.value)
            else:
                for name in ("body", "orelse", "finalbody"):
                    yield from self.entries(getattr(statement, name, ()))

    def _assigned(self, statement: ast.stmt, value: ast.expr) -> Iterator[tuple[str, Node]]:
        node = self._node(value)
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        names = [name for target in targets if (name := _name_of(target))]
        for name in names:
            self._names[name] = node
        if _holds_mapping(node):
            yield (names[0] if names else "returned", node)

    def _node(self, value: ast.expr) -> Node:
        line = value.lineno
        self._left -= 1
        if self._left < 0:
            return _outside(value)
        if (plain := _constant(value)) is not None:
            return plain
        match value:
            case ast.Dict():
                return self._mapping(value)
            case ast.List(elts=members) | ast.Tuple(elts=members):
                return Row(tuple(map(self._node, members)), line)
            case ast.JoinedStr(values=parts):
                return Leaf("".join(map(self._part, parts)), line)
            case ast.Name(id=name) if name in self._names:
                return _at(self._names[name], line)
            case ast.BinOp():
                return self._operation(value)
            case ast.Call():
                return self._call(value)
            case ast.Subscript(value=read, slice=ast.Constant(value=str() as name)) if _last_word(read) == "environ":
                return Leaf(f"${{{name}}}", line)
            case _:
                return _outside(value)

    def _mapping(self, value: ast.Dict) -> Branch:
        found: dict[str, Node] = {}
        for key, child in zip(value.keys, value.values, strict=True):
            node = self._node(child)
            if key is None:
                found |= dict(node.entries) if isinstance(node, Branch) else {OPEN: _outside(child)}
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                found[key.value] = node
        return Branch(tuple(found.items()), value.lineno)

    def _operation(self, value: ast.BinOp) -> Node:
        left, right = self._node(value.left), self._node(value.right)
        if isinstance(left, Branch) and isinstance(right, Branch) and isinstance(value.op, ast.BitOr):
            return Branch(tuple({**dict(left.entries), **dict(right.entries)}.items()), value.lineno)
        if isinstance(left, Leaf) and isinstance(right, Leaf):
            text = _computed(left.text or "", right.text or "", _OPERATORS.get(type(value.op), ""))
            return _outside(value) if text is None else Leaf(text, value.lineno)
        return _outside(value)

    def _call(self, value: ast.Call) -> Node:
        word, given = _last_word(value.func), [self._node(one) for one in value.args]
        if word in _ENVIRONMENT and value.args:
            match value.args[0]:
                case ast.Constant(value=str() as name):
                    return Leaf(f"${{{name}}}", value.lineno)
        if word in _CONVERSIONS and len(given) == 1:
            return given[0]
        named = {one.arg: self._node(one.value) for one in value.keywords if one.arg}
        unpacked = [self._node(one.value) for one in value.keywords if one.arg is None]
        if not all(isinstance(one, Branch) for one in unpacked):
            named[OPEN] = _outside(value)
        mappings = [one for one in (*given, *unpacked) if isinstance(one, Branch)]
        found: dict[str, Node] = reduce(lambda all_of, one: {**all_of, **dict(one.entries)}, mappings, {})
        whole = Branch(tuple({**found, **named}.items()), value.lineno)
        if not whole.entries:
            return _outside(value)
        return whole if word == "dict" else Branch(((word, whole),), value.lineno)

    def _part(self, part: ast.expr) -> str:
        if isinstance(part, ast.Constant):
            return str(part.value)
        inner = self._node(part.value) if isinstance(part, ast.FormattedValue) else None
        return inner.text if isinstance(inner, Leaf) and inner.text is not None else "${...}"


def parse_python(text: str) -> tuple[Branch, ...]:
    """Return the mappings of a module; nothing of one that this Python cannot parse."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError):
        return ()  # Python 2, or a template of a module
    return (Branch(tuple(_Module().entries(module.body)), 1),)


def _constant(value: ast.expr) -> Leaf | None:
    match value:
        case ast.Constant(value=None):
            return Leaf(None, value.lineno)
        case ast.Constant(value=bool() as flag):
            return Leaf(str(flag).lower(), value.lineno)
        case ast.Constant(value=str() | int() | float() as plain):
            return Leaf(str(plain), value.lineno)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return Leaf(str(-number), value.lineno)
        case _:
            return None


def _name_of(target: ast.expr | None) -> str:
    if isinstance(target, ast.Name):
        return target.id
    return target.attr if isinstance(target, ast.Attribute) else ""


def _last_word(value: ast.expr) -> str:
    """Return the last word of a dotted name: ``get`` of ``os.environ.get``."""
    return value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""


def _holds_mapping(node: Node) -> bool:
    if isinstance(node, Row):
        return any(map(_holds_mapping, node.nodes))
    return isinstance(node, Branch) and bool(node.entries)


def _at(node: Node, line: int) -> Node:
    """Return a value where its name stands; the settings of a mapping stay at their own lines."""
    return Leaf(node.text, line) if isinstance(node, Leaf) else node


def _outside(value: ast.expr) -> Leaf:
    return Leaf(f"${{{ast.unparse(value)[:80].replace('}', ' ')}}}", value.lineno)


def _computed(left: str, right: str, operator: str) -> str | None:
    """Return the text of a sum of texts or of an operation on whole numbers; None for others."""
    if len(left) > _MOST_DIGITS or len(right) > _MOST_DIGITS or not (left.isdecimal() and right.isdecimal()):
        return left + right if operator == "+" and not (left + right).isdecimal() else None
    match operator:
        case "*":
            return str(int(left) * int(right))
        case "+":
            return str(int(left) + int(right))
        case "-":
            return str(int(left) - int(right))
        case "//" if int(right):
            return str(int(left) // int(right))
        case _:
            return None
