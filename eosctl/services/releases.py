"""Releases that users name, compared with those that the tables of settings were made from."""

from __future__ import annotations

from collections.abc import Callable

from eosctl.errors import UsageError
from eosctl.knowledge.parameter_tables import kafka_tables, parse_release
from eosctl.knowledge.releases import is_possible_release
from eosctl.model.parameter import Release


def release_of(text: str, remark: Callable[[str], None], *whose: str) -> Release:
    """Return a release that the user named.

    Args:
        text: The release, e.g. ``3.9`` or ``3.9.1``.
        remark: Called when no table reaches the release.
        whose: The software that it may be a release of; Kafka if left out.

    Raises:
        UsageError: The text is not a release, or one that the software cannot have by now.
    """
    try:
        release = parse_release(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a release.", "Releases are numbers.", "Write it as 3.9 or 3.9.1.") from error
    software = whose or ("Kafka",)
    tables = [table for table in kafka_tables().values() if table.software in software]
    first, last = min(table.first for table in tables), max(table.last for table in tables)
    # The next major may be out by now; numbers between two branches were never released.
    is_gap = software == ("Kafka",) and first <= release <= last and not is_possible_release((*release, 0))
    if is_gap or release[0] > last[0] + 1:
        raise UsageError(
            f"{' or '.join(software)} has no release {text}.",
            f"The newest one that eosctl knows is {last[0]}.{last[1]}.",
            "Check the number.",
        )
    if not first <= release <= last:
        near, order = (last, "later") if release > last else (first, "earlier")
        remark(
            f"note: {' or '.join(software)} {text} is {order} than every release that eosctl knows: "
            f"defaults are those of {near[0]}.{near[1]}."
        )
    return release


def release_if_named(text: str | None, remark: Callable[[str], None], *whose: str) -> Release | None:
    """Return a release as `release_of`, and None without one."""
    return None if text is None else release_of(text, remark, *whose)
