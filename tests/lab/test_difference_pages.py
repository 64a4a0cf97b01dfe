"""The page lists the settings in which a sandbox differs from Kafka, with their values."""

from __future__ import annotations

from pathlib import Path

from eosctl.sandbox.broker.config import NodeConfig
from eosctl.sandbox.profile import BASE, FAST

PAGE = Path(__file__).parents[2] / "docs" / "sandbox" / "differences.md"
HEADER = "| Setting | Kafka | Sandbox | `--fast` |\n|---|---|---|---|\n"


def test_the_settings_of_a_sandbox_are_listed() -> None:
    kafka = NodeConfig("4.3", {})
    values = [
        (name, default, BASE.get(name, default), FAST.get(name, BASE.get(name, default)))
        for name in sorted({*BASE, *FAST})
        for default in [kafka.entry(name).value]
    ]
    rows = [f"| `{name}` | {default} | {own} | {fast} |" for name, default, own, fast in values]
    assert PAGE.read_text("utf-8").split(HEADER)[1].split("\n\n")[0].splitlines() == rows
