"""Time zones by name."""

from __future__ import annotations

from datetime import tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from eosctl.errors import UsageError


def find_zone(name: str | None) -> tzinfo | None:
    """Return the zone of this name; None without a name.

    Raises:
        UsageError: No zone has this name.
    """
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UsageError(f"There is no time zone {name!r}.", "", "Name it like Europe/Berlin, or UTC.") from error
