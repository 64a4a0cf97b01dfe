"""Load what changes in upgrades: successors of removed settings, renamings, and steps (``successors.yaml``)."""

from __future__ import annotations

from functools import cache
from importlib import resources

from eosctl.knowledge.parameter_tables import parse_release
from eosctl.knowledge.small_files import load_yaml
from eosctl.model.upgrade import Renaming, Step, Successor, UpgradeKnowledge


@cache
def load_upgrade_knowledge() -> UpgradeKnowledge:
    """Return successors, renamings and steps; read once."""
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
        tuple(Step(step["component"], parse_release(step["crosses"]), step["say"]) for step in raw["steps"]),
    )
