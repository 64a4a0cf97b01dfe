"""What eosctl costs, beside its peers in the same run; each module is a program that prints a table.

Programs are measured as their users have them: with the bytecode that an installer compiles.
"""

from __future__ import annotations

import compileall
import os
from pathlib import Path

import eosctl


def as_installed() -> dict[str, str]:
    """Compile eosctl's modules and return an environment in which Python uses what is compiled."""
    compileall.compile_dir(Path(eosctl.__file__).parent, quiet=2)
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
