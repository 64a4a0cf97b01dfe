"""The categories that log records are sorted into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from eosctl.errors import UsageError
from eosctl.model.log_event import UNCLASSIFIED

if TYPE_CHECKING:
    from spark_log_analytics.catalogue import Category


def log_categories() -> tuple[Category, ...]:
    """Return all categories of the catalogue."""
    from spark_log_analytics.catalogue import load_catalogue

    return load_catalogue().categories


def find_category(name: str) -> Category:
    """Return the category of this name, in any case.

    Raises:
        UsageError: No category has this name.
    """
    found = next((one for one in log_categories() if one.id == name.upper()), None)
    if found is None:
        raise _unknown(name)
    return found


def check_categories(names: Iterable[str]) -> frozenset[str]:
    """Return the ids of the categories that the names mean, in any case; ``UNCLASSIFIED`` is one of them.

    Raises:
        UsageError: A name means no category.
    """
    wanted = frozenset(name.upper() for name in names)
    for name in sorted(wanted - {one.id for one in log_categories()} - {UNCLASSIFIED}):
        raise _unknown(name)
    return wanted


def _unknown(name: str) -> UsageError:
    return UsageError(f"There is no category {name!r}.", "", "List them with: eosctl logs patterns")
