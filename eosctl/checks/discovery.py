"""Find the checks that the modules of a package define."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from operator import attrgetter
from types import ModuleType

from eosctl.checks.declaration import Check


def discover_checks(package: ModuleType) -> tuple[Check, ...]:
    """Return the checks in the packages below a package, by id.

    Modules directly in the package are not searched: they run checks and may depend on the result. A check belongs to
    the module that defines it, so importing a check into another module does not add it twice.

    Raises:
        ImportError: A module cannot be imported. A check that cannot be loaded must not count as one that passed.
        ValueError: Two checks have the same id or name.
    """
    found = sorted((check for module in _modules(package) for check in _defined_in(module)), key=attrgetter("id"))
    _refuse_twice("id", found)
    _refuse_twice("name", sorted(found, key=attrgetter("name")))
    return tuple(found)


def _refuse_twice(kind: str, checks: Sequence[Check]) -> None:
    """Raise ValueError if two neighbors of checks in order have the same id or name."""
    for one, other in pairwise(checks):
        if getattr(one, kind) == getattr(other, kind):
            places = f"{one.evaluate.__module__} and {other.evaluate.__module__}"
            raise ValueError(f"The check {kind} {getattr(one, kind)} is used in {places}.")


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for area in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if area.ispkg:
            folder = import_module(area.name)
            for info in pkgutil.walk_packages(folder.__path__, f"{area.name}.", onerror=_refuse):
                yield import_module(info.name)


def _refuse(name: str) -> None:
    raise ImportError(f"The package {name} cannot be imported.", name=name)


def _defined_in(module: ModuleType) -> Iterator[Check]:
    for value in vars(module).values():
        if isinstance(value, Check) and value.evaluate.__module__ == module.__name__:
            yield value
