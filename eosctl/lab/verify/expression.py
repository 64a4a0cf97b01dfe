"""Parse the expected number of outputs of an input: an expression of integers, `number`, and `key`.

For example `1`, `3`, `number % 10 != 0` (every tenth input is filtered out), `2 if key == 0 else 1`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from eosctl.errors import UsageError

MAX_LENGTH: Final = 200
MAX_OUTPUTS: Final = 10_000
_NAMES: Final = ("number", "key")
_ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def compile_mapping(text: str) -> Callable[[int, int], int]:
    """Return the function of number and key for an expression.

    Raises:
        UsageError: The expression is invalid, or its result is not a valid count.
    """
    try:
        if len(text) > MAX_LENGTH:
            raise SyntaxError("it is too long")
        parsed = ast.parse(text.strip(), mode="eval").body
        _check(parsed)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(
            f"--mapping {text[:80]!r} cannot be used: {getattr(error, 'msg', None) or 'it cannot be parsed'}.",
            "The number of outputs of an input: integers, number, key, + - * // %, comparisons, and, or, not, if.",
            "For example: 1, or 3, or 'number % 10 != 0'.",
        ) from error

    def expected(number: int, key: int) -> int:
        try:
            count = int(_value(parsed, {"number": number, "key": key}))
        except ArithmeticError as error:
            raise UsageError(
                f"--mapping {text!r} has no value for number {number}, key {key}.",
                f"{error}.",
                "Write an expression that has a value for every input.",
            ) from error
        if not 0 <= count <= MAX_OUTPUTS:
            raise UsageError(
                f"--mapping {text!r} is {count} for number {number}, key {key}.",
                f"An input has 0 to {MAX_OUTPUTS:,} outputs.",
                "Write an expression that stays within.",
            )
        return count

    expected(0, 0)
    return expected


def _check(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=int() as value) if abs(value) <= 1_000_000:
            return
        case ast.Name(id=name) if name in _NAMES:
            return
        case ast.BinOp(left=left, op=one, right=right) if type(one) in _ARITHMETIC:
            parts = [left, right]
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            parts = [operand]
        case ast.BoolOp(values=values):
            parts = values
        case ast.Compare(left=left, ops=[one], comparators=[right]) if type(one) in _COMPARE:
            parts = [left, right]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            parts = [test, body, orelse]
        case _:
            raise SyntaxError(f"{ast.unparse(node)!r} is not allowed")
    for part in parts:
        _check(part)


def _value(node: ast.expr, names: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.BinOp(left=left, op=one, right=right):
            return int(_ARITHMETIC[type(one)](_value(left, names), _value(right, names)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.UnaryOp(operand=operand):
            return not _value(operand, names)
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_value(value, names) for value in values)
        case ast.BoolOp(values=values):
            return any(_value(value, names) for value in values)
        case ast.Compare(left=left, ops=[one], comparators=[right]):
            return _COMPARE[type(one)](_value(left, names), _value(right, names))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, names) else orelse, names)
        case _:  # pragma: no cover - _check rejects all others
            raise UsageError(
                f"{ast.unparse(node)} is not allowed.",
                "An expression is made of names, numbers, texts, arithmetic and comparisons.",
                "Write it with these alone.",
            )
