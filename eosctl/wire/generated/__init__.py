"""The codec: one module for each layout of each message, generated from `eosctl/wire/schema` at build.

Git has this file only. `scripts/generate_wire` writes the others, as part of every build and of `scripts/bootstrap`.
The tables of a checkout can change after that; a codec that was made from other tables is refused there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_GENERATOR = _ROOT / "scripts" / "generate_wire"
_SCHEMA = _ROOT / "eosctl" / "wire" / "schema"
_STAMP = Path(__file__).with_name("stamp.py")


def _check() -> None:
    is_checkout = _GENERATOR.is_dir()
    try:
        from eosctl.wire.generated.stamp import SOURCE_DIGEST
    except ModuleNotFoundError:
        raise _refusal("The wire codec is missing.", "It has not been generated here.", is_checkout) from None
    if is_checkout and max(_last_change_ns(_SCHEMA), _last_change_ns(_GENERATOR)) > _STAMP.stat().st_mtime_ns:
        from eosctl.wire.schema.digest import source_digest  # times differ after a switch of branches, too

        if source_digest(_GENERATOR) != SOURCE_DIGEST:
            why = "eosctl/wire/schema or scripts/generate_wire has changed since it was generated."
            raise _refusal("The wire codec does not match its message tables.", why, is_checkout)


def _last_change_ns(folder: Path | str) -> int:
    last = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name != "__pycache__":
                last = max(last, entry.stat().st_mtime_ns, _last_change_ns(entry.path) if entry.is_dir() else 0)
    return last


def _refusal(what: str, why: str, is_checkout: bool) -> Exception:
    from eosctl.errors import EosctlError

    generate = f"Generate it: cd {_ROOT} && {sys.executable} -m scripts.generate_wire (scripts/bootstrap does so, too)."
    return EosctlError(what, why, generate if is_checkout else "Install eosctl again.")


_check()
