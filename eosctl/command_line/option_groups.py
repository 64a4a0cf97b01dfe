"""Options that belong together as one parameter of a command, whose fields are the options.

A command that takes ``request: Annotated[Request, options(size=typer.Option("--size"))]`` has an option for each field
that is named there, in that order, with the type and the default of the field; the command receives a `Request`. A
group can also be a class whose fields are annotated with options, and a field may be a group too. A field of type
``tuple[T, ...]`` is a repeatable option. A parameter of type `Invocation` is the invocation of the run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from eosctl.command_line.invocation import Invocation, invocation_of
from eosctl.command_line.values import duration_option_text


class FieldOptions(NamedTuple):
    """The options and groups of options for fields of a class."""

    by_field: Mapping[str, Any]


def options(**by_field: Any) -> FieldOptions:
    """Return options for the fields of a class; other fields keep their defaults.

    Args:
        by_field: An option, an argument, or a group of options, by the name of the field.
    """
    return FieldOptions(by_field)


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command for typer: its groups of options are single parameters.

    Args:
        command: A function with options as parameters, and with groups of them.

    Raises:
        TypeError: Two options have the same field.
    """
    hints = get_type_hints(command, include_extras=True)
    given = inspect.signature(command).parameters
    flat = [one for name in given for one in _flat(name, hints[name], given[name].default)]

    def run(**values: Any) -> Any:
        return command(**{name: _built(name, hints[name], values) for name in given})

    run.__doc__, run.__name__, run.__module__ = command.__doc__, command.__name__, command.__module__
    run.__annotations__ = {one.name: one.annotation for one in flat}
    if len(run.__annotations__) < len(flat):
        raise TypeError(f"{command.__module__}.{command.__name__}: two options have the same field")
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    return run


def _fields(kind: Any) -> dict[str, tuple[Any, object]] | None:
    """Return the type and the default of each field that has an option; None for what is not a group."""
    group, named = (kind.__origin__, kind.__metadata__[0]) if get_origin(kind) is Annotated else (kind, None)
    if not isinstance(named, FieldOptions) and not _is_group(kind):
        return None
    hints, given = get_type_hints(group, include_extras=True), inspect.signature(group).parameters
    if not isinstance(named, FieldOptions):
        return {name: (hints[name], one.default) for name, one in given.items()}
    return {name: (_field_kind(hints[name], one), given[name].default) for name, one in named.by_field.items()}


def _field_kind(hint: Any, option: Any) -> Any:
    return Annotated[hint, option] if isinstance(option, OptionInfo | ArgumentInfo) else option


def _is_group(kind: object) -> bool:
    return isinstance(kind, type) and (hasattr(kind, "_fields") or hasattr(kind, "__struct_fields__"))


def _flat(name: str, kind: Any, default: object) -> Iterator[inspect.Parameter]:
    if (fields := _fields(kind)) is not None:
        for field, (inner, of_field) in fields.items():
            is_own = default is inspect.Parameter.empty
            yield from _flat(field, inner, of_field if is_own else getattr(default, field))
    elif kind is Invocation:
        yield _parameter("context", typer.Context, inspect.Parameter.empty)
    elif _is_repeatable(kind):
        item = get_args(kind.__origin__)[0]
        is_required = default is inspect.Parameter.empty
        listed = Annotated[list[item] if is_required else list[item] | None, kind.__metadata__[0]]  # type: ignore[valid-type]
        yield _parameter(name, listed, default if is_required else None)
    else:
        yield _parameter(name, kind, _default_as_typed(kind, default))


def _is_repeatable(kind: Any) -> bool:
    return get_origin(kind) is Annotated and get_args(kind.__origin__)[1:] == (...,)


def _default_as_typed(kind: Any, default: object) -> object:
    """Return the default as a person types it, where the option parses it."""
    has_parser = get_origin(kind) is Annotated and getattr(kind.__metadata__[0], "parser", None) is not None
    return duration_option_text(default) if has_parser and isinstance(default, int) else default


def _parameter(name: str, kind: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _built(name: str, kind: Any, values: Mapping[str, Any]) -> Any:
    if (fields := _fields(kind)) is not None:
        group = kind.__origin__ if get_origin(kind) is Annotated else kind
        return group(**{field: _built(field, inner, values) for field, (inner, _) in fields.items()})
    if kind is Invocation:
        return invocation_of(values["context"])
    return tuple(values[name] or ()) if _is_repeatable(kind) else values[name]
