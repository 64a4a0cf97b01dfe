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
        command: The line above with the tool's call; empty where the text does not show it.
    """

    tool: str
    header: str
    lines: tuple[str, ...]
    line: int
    command: str = ""


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
ELECTION: Final = "kafka-leader-election.sh"
STORAGE: Final = "kafka-storage.sh"
REASSIGNMENT: Final = "kafka-reassign-partitions.sh"
QUOTAS: Final = "kafka-configs.sh --describe of users and clients"
OTHER_CONFIGS: Final = "kafka-configs.sh --describe of loggers, groups, or client metrics"
API_VERSIONS: Final = "kafka-broker-api-versions.sh"
KCAT: Final = "kcat -L"
RPK_HEALTH: Final = "rpk cluster health"
RPK_GROUP: Final = "rpk group describe"
RPK_TOPIC: Final = "rpk topic describe"
TOPIC_PAGE: Final = "a topic's page as JSON"

_STORAGE: Final = (
    "Found (?:log director(?:y|ies)|problems?|metadata):",
    "Formatting (?:(?:data|metadata|dynamic metadata voter) director|/)",
    "Bootstrap metadata: ",
    "All of the log directories are already formatted",
    r"Log directory \S+ is already formatted",
)
_REASSIGNMENT: Final = (
    "Current partition replica assignment",
    "Status of partition reassignment:",
    "Current partition reassignments:",
    "No partition reassignments found",
    r"Reassignment of partition \S+ is ",
    "There is no active reassignment of partition ",
)
_HEADERS: Final = tuple(
    (tool, re.compile(pattern))
    for tool, pattern in (
        (TOPICS, r"^\s*Topic:\s*\S+\s+(?:TopicId:\s*\S+\s+)?PartitionCount:\s*\d+\s+ReplicationFactor:\s*\d+"),
        (TOPICS, r"^\s*Topic:\s*\S+\s+Partition:\s*\d+\s+Leader:"),
        (CONFIGS, r"^(?:All|Dynamic|Default)?\s*[Cc]onfigs for (?:topic|broker|brokers)(?![\w-]).*\bare:\s*$"),
        (OTHER_CONFIGS, r"^(?:All|Dynamic) configs for (?:broker-logger|client-metric|group)s?\b.*\bare:\s*$"),
        (TRANSACTION, r"^CoordinatorId\s+TransactionalId\s+ProducerId\s+ProducerEpoch\s+TransactionState"),
        (TRANSACTIONS, r"^TransactionalId\s+Coordinator\s+ProducerId\s+TransactionState"),
        (HANGING, r"^Topic\s+Partition\s+ProducerId\s+ProducerEpoch\s+CoordinatorEpoch\s+StartOffset"),
        (PRODUCERS, r"^ProducerId\s+ProducerEpoch\s+LatestCoordinatorEpoch\s+LastSequence"),
        (GROUP_OFFSETS, r"^GROUP\s+TOPIC\s+PARTITION\s+(?:LEADER-EPOCH\s+)?(?:CURRENT-OFFSET|START-OFFSET|OFFSET-LAG)"),
        (GROUP_STATES, r"^GROUP\s+COORDINATOR \(ID\)\s+(?:ASSIGNMENT-STRATEGY\s+|ASSIGNOR\s+)?STATE"),
        (GROUP_MEMBERS, r"^GROUP\s+CONSUMER-ID\s+(?:GROUP-INSTANCE-ID\s+)?HOST\s+CLIENT-ID"),
        (GROUP_MEMBERS, r"^GROUP\s+(?:TARGET-ASSIGNMENT-EPOCH\s+TOPOLOGY-EPOCH\s+)?MEMBER\s"),
        (QUORUM_STATUS, r"^ClusterId:\s+\S+\s*$"),
        (QUORUM_REPLICATION, r"^(?:NodeId|ReplicaId)\s+.*LogEndOffset\s+Lag\s+LastFetchTimestamp"),
        (FEATURES, r"^Feature:\s*\S+\s+SupportedMinVersion:"),
        (LOG_DIRS, r'^\s*\{"(?:version":\s*\d+,\s*")?brokers":\s*\[\{"broker":'),
        (ACLS, r"^Current ACLs for resource `"),
        (DUMP, r"^(?:Dumping \S+|baseOffset: \d+ lastOffset: \d+|Log starting offset: \d+)"),
        (ELECTION, r"^(?:Error completing|Successfully completed) leader election \(|^Valid replica already elected"),
        (STORAGE, rf"^(?:{'|'.join(_STORAGE)})"),
        (REASSIGNMENT, rf"^(?:{'|'.join(_REASSIGNMENT)})"),
        (QUOTAS, r"^\w*(?: credential)? ?[Cc]onfigs for (?:(?:the )?default )?(?:user|client|ip)\S* .*\bare\b"),
        (API_VERSIONS, r"^\S+:\d+ \(id: -?\d+ rack: \S+.*\) -> "),
        (KCAT, r"^Metadata for (?:all topics|\S+) \(from broker -?\d+: "),
        (RPK_HEALTH, r"^CLUSTER HEALTH OVERVIEW$"),
        (RPK_GROUP, r"^COORDINATOR\s+\d+$"),
        (RPK_TOPIC, r"^PARTITION\s+LEADER\s+EPOCH\s+REPLICAS"),
    )
)
_CALL: Final = re.compile(r"\bkafka-[a-z-]+(?:\.sh|\.bat)?\s+.*--")
_QUOTED: Final = re.compile(r"[\s>|│]*")
_PAGE: Final = re.compile(r'"(?:inSync|inSyncs|ISRs|isrs)"\s*:')
# Tools whose header looks like the lines below it; the next header of the same tool continues the section.
_REPEATED: Final = frozenset(
    {
        TOPICS,
        CONFIGS,
        FEATURES,
        ACLS,
        DUMP,
        ELECTION,
        STORAGE,
        REASSIGNMENT,
        QUOTAS,
        OTHER_CONFIGS,
        API_VERSIONS,
        RPK_HEALTH,
    }
)


def sections_of(text: str) -> list[Section]:
    """Return the outputs in a text, in order; empty without output of a Kafka tool.

    A ticket indents or quotes them: what stands before a header is taken away from the lines below it, too.
    """
    if text.lstrip()[:1] in ("{", "[") and _PAGE.search(text):
        return [Section(TOPIC_PAGE, text, (), 1)]
    found: list[Section] = []
    tool, header, quoted, start, call, called = "", "", "", 0, "", ""
    lines: list[str] = []

    def close() -> None:
        if tool:
            found.append(Section(tool, header, tuple(lines), start, called))

    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.rstrip().removeprefix(quoted)
        named, before = _named(line)
        if named and not (named == tool and named in _REPEATED):
            close()
            tool, header, start, lines = named, line[len(before) :], number, []
            call, called = "", call
            quoted += before
            if named in _REPEATED:
                lines.append(header)
        elif tool:
            lines.append(line)
        if not named:
            call = f"{call} {line}" if call.endswith("\\") else line if _CALL.search(line) else call
    close()
    return found


def _named(line: str) -> tuple[str, str]:
    """Return the tool whose header a line is, and what is before the header; empty without one."""
    for name, pattern in _HEADERS:
        if pattern.match(line):
            return name, ""
    before = line[: match.end()] if (match := _QUOTED.match(line)) else ""
    bare = line[len(before) :] if before else ""
    return next(((name, before) for name, pattern in _HEADERS if pattern.match(bare)), ("", "")) if bare else ("", "")


_IN_BRACKETS: Final = re.compile(r"(\S)\s+\((\d+)\)")
_AGE: Final = re.compile(r"\b(\d+) ms ago\b")


def rows_of(section: Section) -> Iterator[dict[str, str]]:
    """Yield the rows of a table by column name, up to the first line that is not a row.

    The tools pad with tabs, which a ticket system may have replaced by blanks. `24749 ms ago`, as --human-readable
    prints it, becomes `-24749`.
    """
    tabbed = "\t" in section.header
    names = _cells(section.header.replace("COORDINATOR (ID)", "COORDINATOR-(ID)"), tabbed)
    for line in section.lines:
        if not line.strip():
            return
        cells = _cells(_AGE.sub(r"-\1", _IN_BRACKETS.sub(r"\1(\2)", line)), tabbed)
        if len(cells) < len(names) - 1:
            return
        yield dict(zip(names, [*cells, *[""] * (len(names) - len(cells))], strict=False))


def _cells(line: str, tabbed: bool) -> list[str]:
    cells = line.split("\t") if tabbed and "\t" in line else line.split()
    stripped = [cell.strip() for cell in cells]
    return stripped[:-1] if tabbed and stripped and not stripped[-1] else stripped
