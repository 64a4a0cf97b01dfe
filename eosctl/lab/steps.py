"""Steps of scenarios and rehearsals: coroutines found by their names, and checked before anything is played."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from types import ModuleType
from typing import Any, get_type_hints

import msgspec

Doing = Callable[..., Awaitable[None]]


def steps_of(*modules: ModuleType) -> dict[str, Doing]:
    """Return the steps that modules define: their public coroutines, by name."""
    return {
        name: found
        for module in modules
        for name, found in vars(module).items()
        if inspect.iscoroutinefunction(found) and found.__module__ == module.__name__ and not name.startswith("_")
    }


def bind_arguments(doing: Doing, given: Mapping[str, object]) -> dict[str, Any]:
    """Return the arguments of a step, converted to what it takes.

    Args:
        doing: The step; its first parameter is the cluster.
        given: The arguments as a file has them.

    Raises:
        TypeError: The step does not take these arguments.
        msgspec.ValidationError: One of them has another type.
    """
    inspect.signature(doing).bind(None, **given)
    hints = get_type_hints(doing)
    return {key: msgspec.convert(value, hints[key]) for key, value in given.items()}
