"""Releases that users name, held against those that the tables of settings were made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eosctl.commands.invocation import note
from eosctl.errors import UsageError

if TYPE_CHECKING:
    from eosctl.model.parameter import Release


def release_of(text: str, *whose: str) -> Release:
    """Parse a release that the user named, and tell on stderr where the tables do not reach it.

    Args:
        text: What the user wrote.
        whose: The software that it may be a release of; Kafka when left out.

    Raises:
        UsageError: It is none.
    """
    from eosctl.knowledge.parameter_tables import parse_release

    try:
        release = parse_release(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a release.", "Releases are numbers.", "Write it as 3.9 or 3.9.1.") from error
    software = whose or ("Kafka",)
    first, last = _known(software)
    if not first <= release <= last:
        near, order = (last, "later") if release > last else (first, "earlier")
        note(
            f"note: {' or '.join(software)} {text} is {order} than every release that eosctl knows: "
            f"defaults are those of {near[0]}.{near[1]}."
        )
    return release


def _known(software: tuple[str, ...]) -> tuple[Release, Release]:
    """Return the first and the last release that there are tables of."""
    from eosctl.knowledge.parameter_tables import kafka_tables

    tables = [table for table in kafka_tables().values() if table.software in software]
    return min(table.first for table in tables), max(table.last for table in tables)
