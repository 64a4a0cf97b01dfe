"""The categories that log records are sorted into."""

from __future__ import annotations

from collections.abc import Iterable

from eosctl.errors import UsageError, unknown_name
from eosctl.knowledge.reference.index import explained_elsewhere
from eosctl.model.log_category import LogCategory
from eosctl.model.log_event import UNCLASSIFIED


def log_categories() -> tuple[LogCategory, ...]:
    """Return all categories of the catalog."""
    from eosctl.logs.classifier.catalog import load_catalog

    return tuple(
        LogCategory(
            id=one.id,
            severity=one.weight.value,
            meaning=one.meaning,
            next_step=one.next_step,
            patterns=one.patterns,
            levels=tuple(sorted(one.levels)),
            loggers_not=one.loggers_not,
            unless=one.unless,
        )
        for one in load_catalog().categories
    )


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
    known = (one.id for one in log_categories())
    return unknown_name("log category", name, known, f"List them: eosctl logs patterns{explained_elsewhere(name)}")
