"""Values of the command line that need no conversion are taken as they are, which spares most of a program's start.

Typer (from 0.26 on) has pydantic convert every value, also the defaults: importing it and building its validators took
75 ms of CPU a run, more than all else that most commands do. Here a value that already has its type, or text that says
it plainly, is taken; everything else goes the way of typer, which converts or refuses it with its own words.
"""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import Any, Final, get_args, get_origin

import typer

_NOT_PLAIN: Final = object()
#: Digits that surely fit into 64 bits.
_MOST_DIGITS: Final = 18


def take_plain_values(command: Any) -> None:
    """Let the parameters of a command, and of those below it, take plain values themselves.

    Args:
        command: A command as `typer.main.get_command` returns it; of a release that converts otherwise it stays as is.
    """
    listed = command.get_params  # options like --help are made when they are first asked for

    def get_params(context: Any) -> list[Any]:
        parameters: list[Any] = listed(context)
        for parameter in parameters:
            if hasattr(parameter, "get_runtime_param") and "get_runtime_param" not in vars(parameter):
                quick = _PlainValues(parameter)
                parameter.get_runtime_param = lambda quick=quick: quick
        return parameters

    command.get_params = get_params
    for below in getattr(command, "commands", {}).values():
        take_plain_values(below)


class _PlainValues:
    """What typer asks for to convert the values of one parameter."""

    __slots__ = ("_as_typer_does",)

    def __init__(self, parameter: Any) -> None:
        self._as_typer_does = parameter.get_runtime_param

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a value as the command takes it; the contract is that of typer's RuntimeParam."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        descriptor = param.type_descriptor
        annotation, info = descriptor.annotation, descriptor.parameter_info
        if _takes_paths(annotation) and "" in (value if isinstance(value, list | tuple) else (value,)):
            # An empty path would be the current directory, which the user did not name.
            raise typer.BadParameter("An empty path names no file; a variable may not be set.")
        if info.parser is not None:
            if not several and (parsed := _parsed(value, annotation, info)) is not _NOT_PLAIN:
                return parsed
        else:
            if get_origin(annotation) is list:
                (kind,) = get_args(annotation)
                if isinstance(value, list | tuple):
                    values = [_plain(item, kind, info) for item in value]
                    if _NOT_PLAIN not in values:
                        return values
            elif not several and (plain := _plain(value, annotation, info)) is not _NOT_PLAIN:
                return plain
        try:
            return self._as_typer_does().coerce(value, param=param, ctx=ctx)
        except typer.BadParameter as refused:
            refused.message = refused.message.removeprefix("Value error, ")  # pydantic's prefix
            raise


def _takes_paths(annotation: Any) -> bool:
    """Return whether values become a path, or some of them."""
    return annotation is Path or any(_takes_paths(part) for part in get_args(annotation))


def _parsed(value: Any, kind: Any, info: Any) -> Any:
    """Return what the parameter's own parser makes of text, `_NOT_PLAIN` where it refuses or makes something else."""
    if type(value) is not str:
        return _NOT_PLAIN
    try:
        found = info.parser(value)
    except Exception:  # noqa: BLE001 - typer calls the parser again and reports the error
        return _NOT_PLAIN
    return found if type(found) is kind else _NOT_PLAIN


def _plain(value: Any, kind: Any, info: Any) -> Any:
    """Return a single value as `kind` if the conversion is unambiguous, else `_NOT_PLAIN`."""
    if kind in (int, float):
        if kind is int and type(value) is str and value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS:
            value = int(value)
        within = type(value) is kind and (info.min is None or value >= info.min)
        return value if within and (info.max is None or value <= info.max) else _NOT_PLAIN
    if kind in (str, bool):
        return value if type(value) is kind else _NOT_PLAIN
    if not isinstance(kind, type):
        return _NOT_PLAIN
    if issubclass(kind, Enum):
        if isinstance(value, kind):
            return value
        return next((member for member in kind if info.case_sensitive and member.value == value), _NOT_PLAIN)
    if kind is Path and type(value) is str and _is_plain_path(value, info):
        return Path(value)
    return _NOT_PLAIN


def _is_plain_path(text: str, info: Any) -> bool:
    """Return whether a path passes what its parameter asks of it."""
    if info.path_type is not None or info.resolve_path or info.allow_dash:
        return False
    try:
        os.stat(text)  # noqa: PTH116 - the text need not be a path
    except OSError:
        return not info.exists
    except ValueError:
        return False
    return bool(
        (info.file_okay or not os.path.isfile(text))  # noqa: PTH113 - as above
        and (info.dir_okay or not os.path.isdir(text))  # noqa: PTH112 - as above
        and (not info.readable or os.access(text, os.R_OK))
        and (not info.writable or os.access(text, os.W_OK))
    )
