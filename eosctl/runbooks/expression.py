"""Conditions and templates over facts: names, constants, comparisons, and, or, not. Nothing else can be said."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from eosctl.errors import ConfigFileError
from eosctl.model.runbook import Value

Facts = Mapping[str, Value]
Known = Mapping[str, Facts]
"""Facts by the step that found them; what the operator gave stands under ``inputs``."""

MAX_LENGTH: Final = 500
_COMPARE: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_HOLE: Final = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\.([a-z][a-z0-9_]*)\s*\}\}")


class Reference(NamedTuple):
    """A fact that an expression or a template names."""

    source: str
    fact: str

    def __str__(self) -> str:
        return f"{self.source}.{self.fact}"


def parse_condition(text: str) -> ast.expr:
    """Parse a condition.

    Raises:
        ConfigFileError: It is none.
    """
    try:
        if len(text) > MAX_LENGTH:
            raise SyntaxError("it is too long")
        parsed = ast.parse(text, mode="eval").body
        _check(parsed)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConfigFileError(
            f"{text[:80]!r} is not a condition: {getattr(error, 'msg', None) or 'it cannot be parsed'}.",
            "A condition compares facts (step.fact) with constants by == != < <= > >=, joined by and, or, not.",
            'For example: open.hanging > 0 and open.status == "hanging"',
        ) from error
    return parsed


def evaluate(condition: str, known: Known) -> bool:
    """Return whether a condition holds.

    Raises:
        ConfigFileError: It is not a condition, names an unknown fact, or compares incompatible values.
    """
    return bool(_value(parse_condition(condition), known))


def references(condition: str) -> tuple[Reference, ...]:
    """Return the facts that a condition names."""
    return tuple(
        Reference(node.value.id, node.attr)
        for node in ast.walk(parse_condition(condition))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    )


def holes(template: Value) -> tuple[Reference, ...]:
    """Return the facts that a template names."""
    return tuple(Reference(*found) for found in _HOLE.findall(template)) if isinstance(template, str) else ()


def fill(template: Value, known: Known) -> Value:
    """Fill ``{{ step.fact }}`` in; a template that is one hole and nothing else keeps the fact's type.

    Raises:
        ConfigFileError: It names an unknown fact.
    """
    if not isinstance(template, str):
        return template
    whole = _HOLE.fullmatch(template.strip())
    if whole:
        return _lookup(Reference(*whole.groups()), known)
    return _HOLE.sub(lambda hole: str(_lookup(Reference(*hole.groups()), known)), template)


def _check(node: ast.expr) -> None:
    for child in _children(node):
        _check(child)


def _children(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BoolOp(values=values):
            yield from values
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Compare(left=left, ops=[one], comparators=[right]) if type(one) in _COMPARE:
            yield left
            yield right
        case ast.Attribute(value=ast.Name()) | ast.Constant(value=str() | int()):
            return
        case _:
            raise SyntaxError(f"{ast.unparse(node)!r} is not allowed")


def _value(node: ast.expr, known: Known) -> Value:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_value(value, known) for value in values)
        case ast.BoolOp(values=values):
            return any(_value(value, known) for value in values)
        case ast.UnaryOp(operand=operand):
            return not _value(operand, known)
        case ast.Compare(left=left, ops=[one], comparators=[right]):
            first, second = _value(left, known), _value(right, known)
            if isinstance(first, str) != isinstance(second, str) and not isinstance(one, ast.Eq | ast.NotEq):
                raise ConfigFileError(
                    f"{ast.unparse(node)} compares a text with a number.",
                    "Which of them is larger is not defined.",
                    "Put quotes around both sides or around neither, or compare with == or !=.",
                )
            return _COMPARE[type(one)](first, second)
        case ast.Attribute(value=ast.Name(id=source), attr=fact):
            return _lookup(Reference(source, fact), known)
        case ast.Constant(value=str() | int() as constant):
            return constant
        case _:  # pragma: no cover - parse_condition lets nothing else through
            raise ConfigFileError(
                f"{ast.unparse(node)} is not a condition.",
                "A condition is made of facts of earlier steps, texts, numbers, comparisons, and, or, not.",
                "Check the runbook: eosctl runbook lint FILE",
            )


def _lookup(reference: Reference, known: Known) -> Value:
    try:
        return known[reference.source][reference.fact]
    except KeyError:
        raise ConfigFileError(
            f"Nothing is known of {reference}.",
            "No step before this one found it.",
            "Check the runbook: eosctl runbook lint FILE",
        ) from None
