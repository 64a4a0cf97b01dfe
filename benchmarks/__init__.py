"""Benchmarks of eosctl and its peers, measured in the same run; each module prints a table.

Programs are measured as installed, with compiled bytecode.
"""

from __future__ import annotations

import compileall
import os
from pathlib import Path

import eosctl


def as_installed() -> dict[str, str]:
    """Compile eosctl's modules and return an environment in which Python uses the bytecode."""
    compileall.compile_dir(Path(eosctl.__file__).parent, quiet=2)
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
