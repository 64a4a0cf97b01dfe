"""The line of an output that shows what a finding is about: a topic, a partition of it, or a producer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from eosctl.collect.printed.evidence import ToolOutput

_PARTITION: Final = re.compile(r"(?P<topic>[A-Za-z_][\w.-]*)-(?P<number>\d+)(?![\w-]|\.\w)")
_NUMBERED: Final = re.compile(r"\bpartitions? (?P<number>\d+)")
_PRODUCER: Final = re.compile(r"\bproducer id (?P<id>\d+)", re.IGNORECASE)
_NODE: Final = re.compile(r"\b(?:voter|observer|replica|node|broker) (?P<id>\d+)")
# Names in a message that are not words: a pattern of access rules, a topic, a feature.
_NAMES: Final = re.compile(r"(?<!\S)[\w.*-]*[a-z\d](?:\*|[._-](?=\w))[\w.*-]*(?=[\s,:.]|$)")
_LABELED: Final = re.compile(r"Topic:\s*(?P<topic>\S+)\s+Partition:\s*(?P<number>\d+)")
_CELL: Final = re.compile(r"[^\s,]+")


def line_about(
    subject: str, message: str, outputs: Sequence[ToolOutput], texts: Mapping[str, str]
) -> tuple[str, int] | None:
    """Return the file and the line with most of what a finding names; None where no line names its subject.

    Args:
        subject: The name of what the finding is about.
        message: The finding's text, which names partitions and producers.
        outputs: The outputs, with the line on which each begins.
        texts: The text of each file.
    """
    partitions = [*_PARTITION.finditer(message)]  # a transactional id that ends in a number looks like one
    named = next((one for one in partitions if one[0] != subject), next(iter(partitions), None))
    numbered = _NUMBERED.search(message)
    producer = _PRODUCER.search(message)
    node = _NODE.search(message)
    names = set() if named or numbered else {name.rstrip(".") for name in _NAMES.findall(message)}
    topic = named["topic"] if named else ""
    number = named["number"] if named else numbered["number"] if numbered else ""
    best, place = 0, None
    for output in outputs:
        for at, line in enumerate(texts.get(output.file, "").splitlines(), 1):
            if at < output.line:
                continue
            labeled = _LABELED.search(line)
            cells = {*_CELL.findall(line)} if labeled is None else {labeled["topic"], labeled["number"]}
            is_about = bool(subject) and subject in line
            is_topics = bool(topic) and topic in cells
            score = int(is_about or is_topics)
            score += int(bool(number) and (is_about or is_topics) and number in cells)
            score += int(named is not None and named[0] in cells)
            score += int(producer is not None and producer["id"] in cells)
            score += int(node is not None and [*line.split(), ""][0] == node["id"])
            score += int(any(name in line for name in names))
            if score > best:
                best, place = score, (output.file, at)
    return place
