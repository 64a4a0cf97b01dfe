"""Load what changes in upgrades: successors of removed settings, renamings, and steps (``successors.yaml``).

The way back has limits instead of steps: those of the stores, and those of the features (`downgrades.py`).
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec

from eosctl.knowledge.downgrades import feature_limits
from eosctl.knowledge.parameter_tables import parse_release
from eosctl.knowledge.small_files import load_yaml
from eosctl.model.parameter import Release
from eosctl.model.upgrade import Renaming, Step, Successor, UpgradeKnowledge


@cache
def load_upgrade_knowledge() -> UpgradeKnowledge:
    """Return successors, renamings, steps, and limits; read once."""
    text = (resources.files("eosctl.knowledge") / "successors.yaml").read_text(encoding="utf-8")
    raw = load_yaml(text)
    return UpgradeKnowledge(
        {
            component: {name: Successor(body["to"], body["note"]) for name, body in names.items()}
            for component, names in raw["successors"].items()
        },
        {
            component: {name: Renaming(body["to"], parse_release(body["since"])) for name, body in names.items()}
            for component, names in raw["renamed"].items()
        },
        _steps(raw["steps"]),
        _steps(raw["limits"]),
    )


def _steps(entries: list[dict[str, str]]) -> tuple[Step, ...]:
    return tuple(Step(entry["component"], parse_release(entry["crosses"]), entry["say"]) for entry in entries)


def knowledge_between(before: Release, after: Release) -> UpgradeKnowledge:
    """Return the knowledge for the way from one release to another, with the steps of this direction."""
    known = load_upgrade_knowledge()
    if before < after:
        return known
    return msgspec.structs.replace(known, steps=(*feature_limits(before, after), *known.limits))
