"""Find signs of a log in text with times: tables, measurements, and business records have times, too."""

from __future__ import annotations

import re
from typing import Final

_SEPARATORS: Final = ",;\t"
_TIME_COLUMN: Final = re.compile(r"(?i)\b(?:date|datetime|time|timestamp|ts)\b|_(?:at|time|date|ts)\b")
_MESSAGE_COLUMN: Final = re.compile(r"(?i)^@?(?:content|description|event|line|log|message|msg|raw|text)$")
_COLUMN: Final = re.compile(r"[A-Za-z_@][\w .@/()-]*")
_LEVEL: Final = r"(?i:\b(?:trace|debug|info|notice|warn|warning|error|fatal|critical|severe)\b)"
_SIGNS_OF_JSON: Final = re.compile(
    # A level as a value, and the usual names of messages.
    rf'"\s*:\s*"{_LEVEL}"|"(?:@?m|@mt|body|log|MESSAGE|message|msg|short_message)"\s*:'
)
_SIGNS: Final = re.compile(
    _LEVEL
    # A thread in brackets, and a class as a logger.
    + r"|(?<!\w)\[[A-Za-z][\w .:/#-]*\]|\b(?:[a-z]\w*\.)+[A-Z]\w+"
    # Names in the output of Kafka's clients and servers, and of Java.
    r"|(?i:kafka|zookeeper|\btransactional|\bbroker\b|\bpartition|\boffset|\brebalanc|\bconsumer group)"
    r"|\bjava\.|Exception\b"
)


def is_table(text: str) -> bool:
    """Return whether text is a table with a header that names a column of times but no column of messages."""
    header, _, rest = text.lstrip("\ufeff").partition("\n")
    row = rest.partition("\n")[0]
    separator = max(_SEPARATORS, key=header.count)
    columns = [name.strip().strip('"') for name in header.split(separator)]
    if len(columns) < 2 or row.count(separator) < len(columns) - 1 or not all(map(_COLUMN.fullmatch, columns)):
        return False
    return any(map(_TIME_COLUMN.search, columns)) and not any(map(_MESSAGE_COLUMN.match, columns))


def is_data_of_json(text: str) -> bool:
    """Return whether most lines of JSON have neither a level nor a message."""
    lines = [line for line in text.splitlines() if line.lstrip().startswith("{")]
    return bool(lines) and 2 * sum(_SIGNS_OF_JSON.search(line) is not None for line in lines) < len(lines)


def is_without_signs(text: str) -> bool:
    """Return whether text has no level, no logger, no thread, and no name from Kafka or Java."""
    return _SIGNS.search(text) is None
