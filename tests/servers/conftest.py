"""Homes of their own for the servers, and the program as a process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def own_home(own_home: Path) -> Path:
    """Keep the user's files out of all of these tests."""
    return own_home


def program(*words: str) -> tuple[str, list[str], dict[str, str]]:
    """Return the program, its arguments, and the environment of a process that runs eosctl."""
    path = os.pathsep.join(one for one in (str(ROOT), os.environ.get("PYTHONPATH", "")) if one)
    kept = {name: os.environ[name] for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    return sys.executable, ["-m", "eosctl", *words], {"PYTHONPATH": path, **kept}
