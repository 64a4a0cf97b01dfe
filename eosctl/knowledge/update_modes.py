"""Which settings change while a program runs, and for whom (``settings/update_modes.json``, from Kafka's own list)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

import msgspec

BROKER, TOPIC = "broker", "topic"


@cache
def load_update_modes() -> Mapping[str, Mapping[str, str]]:
    """Return the broker settings that change without a restart, by release: ``per-broker`` or ``cluster-wide``."""
    path = resources.files("eosctl.knowledge") / "settings" / "update_modes.json"
    return msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, str]])


def explain_update(component: str, name: str) -> str:
    """Say how a changed value takes effect.

    Args:
        component: The name of its table.
        name: The setting.
    """
    if component == TOPIC:
        return "at once, for the topic"
    if component != BROKER:
        return "after a restart"
    modes = load_update_modes()
    dynamic = {release: found[name] for release, found in modes.items() if name in found}
    if not dynamic:
        return "after a restart of the broker"
    # The mode of a setting has not changed from release to release, only whether it has one.
    mode = next(iter(dynamic.values()))
    only = "" if len(dynamic) == len(modes) else f" ({' and '.join(dynamic)}; otherwise after a restart)"
    return f"without a restart, {mode}{only}"
