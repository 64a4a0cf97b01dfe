"""Lines of scripts, units, and images that set what exactly-once depends on, and from which no setting was read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from eosctl.model.deployment import Value
from eosctl.settings.names.unread import CLIENT_SETTINGS

_OTHERS: Final = (
    *("min.insync.replicas", "processing.guarantee", "exactly.once.support", "exactly.once.source.support"),
    *("unclean.leader.election.enable", "transaction.state.log.replication.factor", "transaction.max.timeout.ms"),
    *("transaction.state.log.min.isr", "transaction.version"),
)
_SETTINGS: Final = tuple(sorted({*CLIENT_SETTINGS, *_OTHERS}))
_NAMES: Final = "|".join(map(re.escape, _SETTINGS))
_SETTING: Final = re.compile(rf"""(?<![\w.-])(?:[\w-]+\.)*(?:{_NAMES})["']?\]?[ \t]*[=:](?!=)""")
_COMMENT: Final = re.compile(r"^[ \t]*[#;]")
_NAMED: Final = re.compile(rf"(?<![\w.-])(?:{_NAMES})(?![\w-])")
# Tools that show settings, and what searches in their output.
_SHOWN: Final = re.compile(r"\bkafka-[a-z]+|\brpk\b|\bgrep\b|\bawk\b|\bsed\b")
# Tools that people try things with: what they read and write is for the person who calls them.
_TRIED: Final = re.compile(r"\bkafka-(?:console|verifiable|producer-perf|consumer-perf|e2e)[\w-]*")


def lines_not_read(text: str, values: Iterable[Value]) -> tuple[int, ...]:
    """Return the lines that set such a setting although no value was read from them.

    >>> lines_not_read("x=1\\nkafka-configs.sh --alter --add-config min.insync.replicas=1\\n", ())
    (2,)
    """
    lines = text.splitlines() if any(name in text for name in _SETTINGS) else []
    found = [
        number
        for number, line in enumerate(lines, 1)
        if _SETTING.search(line) and not _COMMENT.match(line) and not _TRIED.search(line)
    ]
    if not found:
        return ()
    begins = _commands(lines)
    places = (value.place for value in values if value.place is not None)
    read = {line for place in places for line in (place.line, begins.get(place.line, 0))}
    return tuple(number for number in found if number not in read and begins[number] not in read)


def sets_setting(text: str) -> bool:
    """Return whether a text gives such a setting a value, other than in a comment.

    >>> sets_setting("# acks\ntransactional.id = a"), sets_setting("See transactional.id.")
    (True, False)
    """
    lines = text.splitlines() if any(name in text for name in _SETTINGS) else []
    return any(_SETTING.search(line) and not _COMMENT.match(line) for line in lines)


def names_setting(text: str) -> bool:
    """Return whether a script names such a setting, other than in a comment or in a command of Kafka's tools.

    >>> names_setting("# transactional.id"), names_setting("echo transactional.id")
    (False, True)
    """
    lines = text.splitlines() if any(name in text for name in _SETTINGS) else []
    return any(_NAMED.search(line) and not _COMMENT.match(line) and not _SHOWN.search(line) for line in lines)


def _commands(lines: Sequence[str]) -> dict[int, int]:
    """Return the first line of the command that each line is a part of; a backslash continues a command."""
    found: dict[int, int] = {}
    for number in range(1, len(lines) + 1):
        is_continued = number > 1 and lines[number - 2].rstrip().endswith("\\")
        found[number] = found[number - 1] if is_continued else number
    return found
