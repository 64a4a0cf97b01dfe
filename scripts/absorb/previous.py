"""Which absorbed release comes before another one."""

from __future__ import annotations

import json

from scripts.parameter_tables.history import TABLES, release_numbers


def previous_release(label: str) -> str | None:
    """Return the newest release in the broker's table that is older than `label` (`4.4`); None without one."""
    path = TABLES / "broker.json"
    releases: dict[str, str] = json.loads(path.read_text("utf-8")).get("releases", {}) if path.is_file() else {}
    older = [other for other in releases if release_numbers(other) < release_numbers(label)]
    return releases[max(older, key=release_numbers)] if older else None
