"""Load what settings mean for exactly-once (``setting_effects.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

from eosctl.knowledge.small_files import load_yaml


@cache
def load_setting_effects() -> Mapping[str, str]:
    """Return the effect of each explained setting on exactly-once, by name."""
    text = (resources.files("eosctl.knowledge") / "setting_effects.yaml").read_text(encoding="utf-8")
    return {name: " ".join(effect.split()) for name, effect in load_yaml(text).items()}
