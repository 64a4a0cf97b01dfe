"""How the lines of logs are read: the zone of their time stamps, and the pattern that wrote them."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from eosctl.errors import UsageError

if TYPE_CHECKING:
    from eosctl.logs.layout_catalog import Layout


def find_zone(name: str | None) -> tzinfo | None:
    """Return the zone of this name; None without a name.

    Raises:
        UsageError: No zone has this name.
    """
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # A name leads to a path.
        raise UsageError(f"There is no time zone {name!r}.", "", "Name it like Europe/Berlin, or UTC.") from error


def layouts_of(pattern: str | None) -> tuple[Layout, ...]:
    """Return the layout that a pattern of log4j or logback describes; none without a pattern.

    Raises:
        UsageError: The pattern cannot be used.
    """
    from eosctl.logs.pattern_string import PatternError, layout_of_pattern

    try:
        return (layout_of_pattern(pattern),) if pattern else ()
    except PatternError as error:
        raise UsageError(
            f"The pattern {pattern!r} cannot be used.", str(error), "Copy it from the logging setup."
        ) from error
