"""A repair of a configuration file that leaves no choice."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class RepairAction(StrEnum):
    """What is done to a key."""

    SET = "set"
    RENAME = "rename"
    REMOVE = "remove"


class Repair(NamedTuple):
    """An edit of one line: ``text`` is the new value, or the new last part of the key."""

    check_id: str
    file: str
    line: int
    key: str
    action: RepairAction
    text: str
    reason: str
