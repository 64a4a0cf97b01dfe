"""The file `partition.metadata`, which assigns a partition directory to a topic id."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from eosctl.storage.atomic import replace_file
from eosctl.storage.errors import DamagedFile
from eosctl.storage.regular_file import lines_of, read_regular
from eosctl.wire.uuid import ZERO_UUID, parse_uuid, render_uuid

VERSION: Final = 0
_FIELD: Final = re.compile(r"\s*([a-z_]+)\s*:\s*(\S+)\s*")


def write_partition_metadata(path: Path, topic_id: bytes, *, sync: bool = False) -> None:
    """Write the file for a topic id of 16 bytes."""
    replace_file(path, f"version: {VERSION}\ntopic_id: {render_uuid(topic_id)}".encode(), sync=sync)


def read_partition_metadata(path: Path) -> bytes:
    """Read the topic id of 16 bytes.

    Raises:
        DamagedFile: The version is unknown or the topic id is invalid.
        OSError: The file cannot be read.
    """
    fields: dict[str, str] = {}
    for number, line in enumerate(lines_of(read_regular(path).decode(errors="replace")), 1):
        match = _FIELD.fullmatch(line)
        if match is None:
            raise DamagedFile(path, f"malformed line {line!r}", number)
        fields[match[1]] = match[2]
    if fields.get("version") != str(VERSION):
        raise DamagedFile(path, f"version {fields.get('version')!r}, known is {VERSION}", 1)
    try:
        topic_id = parse_uuid(fields.get("topic_id", ""))
    except ValueError as error:
        raise DamagedFile(path, str(error), 2) from None
    if topic_id == ZERO_UUID:
        raise DamagedFile(path, "the topic id is all zeros", 2)
    return topic_id
