"""The deeds by name, and the doing of one that a story tells."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any, Final, get_type_hints

import msgspec

from eosctl.errors import ConfigFileError
from eosctl.lab.rehearsals.deeds import cluster, groups, replicas, topics, transactions
from eosctl.lab.rehearsals.place import HERE, Place, Places
from eosctl.lab.rehearsals.story import Deed

Doing = Callable[..., Awaitable[None]]
_MODULES: Final[tuple[ModuleType, ...]] = (cluster, replicas, transactions, groups, topics)

DEEDS: Final[dict[str, Doing]] = {
    name: found
    for module in _MODULES
    for name, found in vars(module).items()
    if inspect.iscoroutinefunction(found) and found.__module__ == module.__name__ and not name.startswith("_")
}


async def do(places: Places, deed: Deed) -> None:
    """Do what a story tells.

    Raises:
        ConfigFileError: There is no such deed, or not with these arguments.
        EosctlError: The cluster refused what was sent.
    """
    doing, arguments = bind(deed)
    first = next(iter(inspect.signature(doing).parameters.values()))
    target: Place | Places = places if first.name == "places" else places.named(str(deed.get("in", HERE)))
    await doing(target, **arguments)


def bind(deed: Deed) -> tuple[Doing, dict[str, Any]]:
    """Return the function of a deed and its arguments, checked against what the function takes.

    Raises:
        ConfigFileError: There is no such deed, or not with these arguments.
    """
    name = deed.get("do", "")
    if name not in DEEDS:
        raise ConfigFileError(
            f"There is no deed {name!r}.",
            f"There are: {', '.join(sorted(DEEDS))}.",
            "Name one of them after `do:`; they are told in docs/runbooks/rehearsals.md.",
        )
    doing = DEEDS[str(name)]
    given = {key: value for key, value in deed.items() if key not in ("do", "in")}
    hints = get_type_hints(doing)
    try:
        inspect.signature(doing).bind(None, **given)
        return doing, {key: msgspec.convert(value, hints[key]) for key, value in given.items()}
    except (TypeError, msgspec.ValidationError) as error:
        raise ConfigFileError(
            f"The deed {name} cannot be done like this.",
            f"{error}.",
            f"It takes: {', '.join(list(inspect.signature(doing).parameters)[1:]) or 'nothing'}.",
        ) from error
