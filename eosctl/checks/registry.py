"""All checks, found in the packages of ``eosctl.checks``, and how to select among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import eosctl.checks
from eosctl.checks.declaration import Check
from eosctl.checks.discovery import discover_checks

CATALOG: Final[tuple[Check, ...]] = discover_checks(eosctl.checks)
"""Every check, by id."""

ALL_CHECKS: Final[tuple[Check, ...]] = tuple(check for check in CATALOG if not check.is_about_configuration)
"""The checks that a doctor runs on a cluster."""

CONFIGURATION_CHECKS: Final[tuple[Check, ...]] = tuple(check for check in CATALOG if check.is_about_configuration)
"""The checks that judge configurations."""


_BY_NAME: Final[Mapping[str, Check]] = {name: one for one in CATALOG for name in (one.id.lower(), one.name)}


def find_check(name: str) -> Check | None:
    """Return the check with this id or name, in any case, or None."""
    return _BY_NAME.get(name.lower())


def check_id_of(name: str) -> str:
    """Return the id of the check with this id or name; a text that names no check is returned as it is."""
    found = find_check(name)
    return name if found is None else found.id


def names_of(checks: Iterable[Check]) -> tuple[str, ...]:
    """Return everything that a check can be called: ids and names."""
    return tuple(name for check in checks for name in (check.id, check.name))


def checks_reading(setting: str) -> tuple[Check, ...]:
    """Return the checks that judge a setting, with any prefix."""
    return tuple(
        check
        for check in CONFIGURATION_CHECKS
        if any(name == setting or name.endswith(f".{setting}") for name in check.reads)
    )


def select_checks(selectors: Sequence[str], among: tuple[Check, ...] = ALL_CHECKS) -> tuple[Check, ...]:
    """Return the checks of the selectors, each an id, a name, an area (``TXN``) or a tag; all checks without selectors.

    Args:
        selectors: What to choose.
        among: Where to look; those of a cluster.

    Raises:
        LookupError: A selector names nothing; its argument is the selector.
    """
    if not selectors:
        return among
    for selector in selectors:
        if not any(_is_named(check, selector) for check in among):
            raise LookupError(selector)
    return tuple(check for check in among if any(_is_named(check, selector) for selector in selectors))


def _is_named(check: Check, selector: str) -> bool:
    return selector.upper() in (check.id, check.area.value) or selector.lower() in (check.name, *check.tags)
