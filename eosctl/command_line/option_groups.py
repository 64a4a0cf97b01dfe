"""Options that belong together as one parameter of a command: a NamedTuple or a struct, whose fields are the options.

A command that takes ``cluster: ClusterOptions`` has all options of `ClusterOptions`, in their order, with the defaults
of the fields. A field may be such a group too. A parameter of type `Invocation` is the invocation of the run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_type_hints

import typer

from eosctl.command_line.invocation import Invocation, invocation_of


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command for typer: its groups of options are single parameters.

    Args:
        command: A function with options as parameters, and with groups of them.
    """
    hints = get_type_hints(command, include_extras=True)
    given = inspect.signature(command).parameters
    flat = {one.name: one for name in given for one in _flat(name, hints[name], given[name].default)}

    def run(**values: Any) -> Any:
        return command(**{name: _built(name, hints[name], values) for name in given})

    run.__doc__, run.__name__, run.__module__ = command.__doc__, command.__name__, command.__module__
    run.__annotations__ = {name: one.annotation for name, one in flat.items()}
    run.__signature__ = inspect.Signature(list(flat.values()))  # type: ignore[attr-defined]
    return run


def _is_group(kind: object) -> bool:
    return isinstance(kind, type) and (hasattr(kind, "_fields") or hasattr(kind, "__struct_fields__"))


def _flat(name: str, kind: Any, default: object) -> Iterator[inspect.Parameter]:
    if _is_group(kind):
        hints = get_type_hints(kind, include_extras=True)
        for field, one in inspect.signature(kind).parameters.items():
            yield from _flat(field, hints[field], one.default)
    elif kind is Invocation:
        yield _parameter("context", typer.Context, inspect.Parameter.empty)
    else:
        yield _parameter(name, kind, default)


def _parameter(name: str, kind: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _built(name: str, kind: Any, values: Mapping[str, Any]) -> Any:
    if _is_group(kind):
        hints = get_type_hints(kind, include_extras=True)
        return kind(**{field: _built(field, hints[field], values) for field in inspect.signature(kind).parameters})
    return invocation_of(values["context"]) if kind is Invocation else values[name]
