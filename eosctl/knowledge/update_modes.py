"""Which settings change while a program runs, and for whom (`settings/update_modes.json`, by `make absorb`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

import msgspec

BROKER, TOPIC = "broker", "topic"
READ_ONLY: Final = "read-only"


class UpdateModes(msgspec.Struct, frozen=True):
    """How broker settings are updated: `per-broker`, `cluster-wide`, or `read-only`.

    Attributes:
        releases: The releases that were read, e.g. `4.3`, the oldest first.
        settings: By name, the modes by the release from which on they hold, the oldest first.
    """

    releases: tuple[str, ...]
    settings: Mapping[str, Mapping[str, str]]


@cache
def load_update_modes() -> UpdateModes:
    """Return the broker settings that some release changes without a restart."""
    path = resources.files("eosctl.knowledge") / "settings" / "update_modes.json"
    return msgspec.json.decode(path.read_bytes(), type=UpdateModes)


def explain_update(component: str, name: str) -> str:
    """Explain how a changed value takes effect in the newest release, and where other releases differ.

    Args:
        component: The name of its table.
        name: The setting.
    """
    if component == TOPIC:
        return "immediately, for the topic"
    if component != BROKER:
        return "after a restart"
    modes = load_update_modes()
    spans = modes.settings.get(name)
    if spans is None:
        return "after a restart of the broker"
    *earlier, (since, mode) = spans.items()
    if mode == READ_ONLY:
        return f"after a restart of the broker (before {since} without one, {earlier[-1][1]})"
    only = f" (since {since}; before it after a restart)" if any(mode == READ_ONLY for _, mode in earlier) else ""
    return f"without a restart, {mode}{only}"
