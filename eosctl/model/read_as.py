"""How a part of a configuration file was interpreted."""

from __future__ import annotations

from typing import Final

import msgspec

TOOL_OUTPUT: Final = "tool-output"
"""The role of what a tool of Kafka's printed."""


class ReadAs(msgspec.Struct, frozen=True):
    """What a part of a file was read as.

    Attributes:
        file: The file.
        line: Where the first of these parts begins, from 1.
        role: The component, as `--role` names it.
        title: The component, as people call it.
        recognized_by: The key or the part of the file that shows it; empty if only the number of keys does.
        software: Whose releases count: Kafka, librdkafka, or the library of a client; empty for the output of a tool.
        release: The release whose defaults and rules hold, e.g. `4.3`; empty for a library without a table of them.
        is_release_assumed: Whether neither the user nor the file names the release.
        count: How many parts of the file were read so.
        alternatives: What else it may be, where no key decides: the rules of each of these were applied, too.
        used: Other files with values of it, or with the number of its processes.
    """

    file: str
    line: int
    role: str
    title: str
    recognized_by: str
    software: str
    release: str
    is_release_assumed: bool
    count: int = 1
    alternatives: tuple[str, ...] = ()
    used: tuple[str, ...] = ()


def sentence(one: ReadAs) -> str:
    """Return the interpretation of a part as text.

    >>> sentence(ReadAs("a", 1, "streams", "Kafka Streams application", "application.id", "Kafka", "4.3", True))
    'Kafka Streams application (application.id), Kafka 4.3 (assumed)'
    """
    if not one.software:
        return one.title
    shown = one.recognized_by or "by the number of its keys"
    assumed = " (assumed)" if one.is_release_assumed else ""
    times = f", {one.count} times" if one.count > 1 else ""
    either = "".join(f" or {other}" for other in one.alternatives)
    defaults = f"{one.software} {one.release}{assumed}" if one.release else "only some defaults known"
    used = f"; uses {', '.join(one.used)}" if one.used else ""
    return f"{one.title}{either} ({shown}), {defaults}{times}{used}"
