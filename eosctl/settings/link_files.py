"""Find files with the settings of a cluster link, by their setting names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from eosctl.input_file import read_input

MAX_BYTES: Final = 1_000_000
_SETTING: Final = re.compile(
    r"^[^\S\n]*+(consumer\.offset\.sync\.enable|acl\.sync\.enable|auto\.create\.mirror\.topics\.enable"
    r"|cluster\.link\.prefix|cluster\.link\.paused|link\.mode)\s*[=:]",
    re.MULTILINE,
)


def find_links(paths: Iterable[Path]) -> tuple[str, ...]:
    """Return the properties files that configure a cluster link; what cannot be read is none."""
    files = [file for path in paths for file in (sorted(path.rglob("*.properties")) if path.is_dir() else [path])]
    return tuple(str(file) for file in files if _is_link(file))


def _is_link(file: Path) -> bool:
    try:
        if file.suffix != ".properties" or not file.is_file():
            return False
        return _SETTING.search(read_input(file, MAX_BYTES).decode("utf-8")) is not None
    except (OSError, UnicodeDecodeError):
        return False
