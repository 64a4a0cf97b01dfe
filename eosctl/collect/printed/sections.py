"""Find the output of Kafka's tools in a text, among prompts and other lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class Section(NamedTuple):
    """The output of a tool.

    Attributes:
        tool: The tool and its command: `kafka-transactions.sh find-hanging`.
        header: The line that identifies it, with the column names of a table.
        lines: The lines below.
        line: The number of the header's line, from 1.
    """

    tool: str
    header: str
    lines: tuple[str, ...]
    line: int


TOPICS: Final = "kafka-topics.sh --describe"
CONFIGS: Final = "kafka-configs.sh --describe"
TRANSACTIONS: Final = "kafka-transactions.sh list"
TRANSACTION: Final = "kafka-transactions.sh describe"
PRODUCERS: Final = "kafka-transactions.sh describe-producers"
HANGING: Final = "kafka-transactions.sh find-hanging"
GROUP_OFFSETS: Final = "kafka-consumer-groups.sh --describe"
GROUP_STATES: Final = "kafka-consumer-groups.sh --describe --state"
GROUP_MEMBERS: Final = "kafka-consumer-groups.sh --describe --members"
QUORUM_STATUS: Final = "kafka-metadata-quorum.sh describe --status"
QUORUM_REPLICATION: Final = "kafka-metadata-quorum.sh describe --replication"
FEATURES: Final = "kafka-features.sh describe"
LOG_DIRS: Final = "kafka-log-dirs.sh --describe"
ACLS: Final = "kafka-acls.sh --list"
DUMP: Final = "kafka-dump-log.sh"

_HEADERS: Final = tuple(
    (tool, re.compile(pattern))
    for tool, pattern in (
        (TOPICS, r"^\s*Topic:\s*\S+\s+(?:TopicId:\s*\S+\s+)?PartitionCount:\s*\d+\s+ReplicationFactor:\s*\d+"),
        (TOPICS, r"^\s*Topic:\s*\S+\s+Partition:\s*\d+\s+Leader:"),
        (CONFIGS, r"^(?:All|Dynamic|Default)?\s*[Cc]onfigs for (?:topic|broker|brokers)\b.*\bare:\s*$"),
        (TRANSACTION, r"^CoordinatorId\s+TransactionalId\s+ProducerId\s+ProducerEpoch\s+TransactionState"),
        (TRANSACTIONS, r"^TransactionalId\s+Coordinator\s+ProducerId\s+TransactionState"),
        (HANGING, r"^Topic\s+Partition\s+ProducerId\s+ProducerEpoch\s+CoordinatorEpoch\s+StartOffset"),
        (PRODUCERS, r"^ProducerId\s+ProducerEpoch\s+LatestCoordinatorEpoch\s+LastSequence"),
        (GROUP_OFFSETS, r"^GROUP\s+TOPIC\s+PARTITION\s+(?:CURRENT-OFFSET|START-OFFSET)"),
        (GROUP_STATES, r"^GROUP\s+COORDINATOR \(ID\)\s+ASSIGNMENT-STRATEGY\s+STATE"),
        (GROUP_MEMBERS, r"^GROUP\s+CONSUMER-ID\s+HOST\s+CLIENT-ID"),
        (QUORUM_STATUS, r"^ClusterId:\s+\S+\s*$"),
        (QUORUM_REPLICATION, r"^(?:NodeId|ReplicaId)\s+.*LogEndOffset\s+Lag\s+LastFetchTimestamp"),
        (FEATURES, r"^Feature:\s*\S+\s+SupportedMinVersion:"),
        (LOG_DIRS, r'^\s*\{"(?:version":\s*\d+,\s*")?brokers":\s*\[\{"broker":'),
        (ACLS, r"^Current ACLs for resource `"),
        (DUMP, r"^(?:Dumping \S+|baseOffset: \d+ lastOffset: \d+|Log starting offset: \d+)"),
    )
)
# Tools whose header looks like the lines below it; the next header of the same tool continues the section.
_REPEATED: Final = frozenset({TOPICS, CONFIGS, FEATURES, ACLS, DUMP})


def sections_of(text: str) -> list[Section]:
    """Return the outputs in a text, in order; empty without output of a Kafka tool."""
    found: list[Section] = []
    tool, header, start = "", "", 0
    lines: list[str] = []

    def close() -> None:
        if tool:
            found.append(Section(tool, header, tuple(lines), start))

    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.rstrip()
        named = next((name for name, pattern in _HEADERS if pattern.match(line)), "")
        if named and not (named == tool and named in _REPEATED):
            close()
            tool, header, start, lines = named, line, number, []
            if named in _REPEATED:
                lines.append(line)
        elif tool:
            lines.append(line)
    close()
    return found


def rows_of(section: Section) -> Iterator[dict[str, str]]:
    """Yield the rows of a table by column name, up to the first line that is not a row.

    The tools pad with tabs, which a ticket system may have replaced by blanks.
    """
    tabbed = "\t" in section.header
    names = _cells(section.header.replace("COORDINATOR (ID)", "COORDINATOR-(ID)"), tabbed)
    for line in section.lines:
        if not line.strip():
            return
        cells = _cells(re.sub(r"(\S)\s+\((\d+)\)", r"\1(\2)", line), tabbed)
        if len(cells) < len(names) - 1:
            return
        yield dict(zip(names, [*cells, *[""] * (len(names) - len(cells))], strict=False))


def _cells(line: str, tabbed: bool) -> list[str]:
    cells = line.split("\t") if tabbed and "\t" in line else line.split()
    stripped = [cell.strip() for cell in cells]
    return stripped[:-1] if tabbed and stripped and not stripped[-1] else stripped
