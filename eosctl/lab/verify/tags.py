"""Marks that connect inputs with outputs: run, number, key, and checksum."""

from __future__ import annotations

import re
import zlib
from typing import Final, NamedTuple

PREFIX: Final = "eosctl"


class Found(NamedTuple):
    """A mark found in a record."""

    number: int
    is_intact: bool


def make_tag(run: str, number: int, key: int) -> str:
    """Return the mark of an input; only letters, digits, and hyphens, so that it survives JSON, CSV, and XML."""
    text = f"{PREFIX}-{run}-{number}-{key}"
    return f"{text}-{_checksum(text)}"


def fill_template(template: str, run: str, number: int, key: int) -> str:
    """Return a template with `{tag}`, `{number}`, and `{key}` replaced."""
    filled = template.replace("{number}", str(number)).replace("{key}", f"key-{key}")
    return filled.replace("{tag}", make_tag(run, number, key))


class TagFinder:
    """Finds the marks of a run in an application's outputs."""

    def __init__(self, run: str) -> None:
        pattern = rf"({PREFIX}-{re.escape(run)}-(\d{{1,18}})-\d{{1,9}})(?:-([0-9a-f]{{8}}))?"
        self._pattern = re.compile(pattern.encode(), re.IGNORECASE)

    def find(self, *texts: bytes | None) -> Found | None:
        """Return the first mark in a value, key, or header; None without one."""
        for text in texts:
            match = self._pattern.search(text) if text else None
            if match is not None:
                whole, number, checksum = match.group(1), int(match.group(2)), match.group(3)
                intact = checksum is not None and checksum.lower() == _checksum(whole.decode().lower()).encode()
                return Found(number, intact)
        return None


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
