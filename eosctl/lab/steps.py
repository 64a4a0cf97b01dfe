"""Steps of scenarios and rehearsals: coroutines found by name, and validated before a run."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from types import ModuleType
from typing import Any, get_type_hints

import msgspec

Doing = Callable[..., Awaitable[None]]


def steps_of(*modules: ModuleType) -> dict[str, Doing]:
    """Return the steps of modules: their public coroutines, by name."""
    return {
        name: found
        for module in modules
        for name, found in vars(module).items()
        if inspect.iscoroutinefunction(found) and found.__module__ == module.__name__ and not name.startswith("_")
    }


def bind_arguments(doing: Doing, given: Mapping[str, object]) -> dict[str, Any]:
    """Return the arguments of a step, converted to its parameter types.

    Args:
        doing: The step; its first parameter is the cluster.
        given: The arguments of a file.

    Raises:
        TypeError: The step does not have these parameters.
        msgspec.ValidationError: An argument has the wrong type.
    """
    inspect.signature(doing).bind(None, **given)
    hints = get_type_hints(doing)
    return {key: msgspec.convert(value, hints[key]) for key, value in given.items()}
