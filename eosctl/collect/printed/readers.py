"""Convert the output of each tool to a part of a cluster's snapshot."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from eosctl.collect.printed import sections as tools
from eosctl.collect.printed.other_tools import OTHER_READERS
from eosctl.collect.printed.part import Part
from eosctl.collect.printed.producers import PRODUCER_READERS
from eosctl.collect.printed.sections import Section, rows_of
from eosctl.model.cluster_state import AccessRule, AccessRules, LogDirectory, QuorumReplica
from eosctl.model.evidence import EvidenceKind
from eosctl.model.setting import AT_LEAST, Setting, SettingSource
from eosctl.model.snapshot import Broker, CommittedOffset, FeatureLevel, Group, PartitionInfo, QuorumInfo, Topic
from eosctl.model.transaction import PartitionProducers, ProducerState, TopicPartition, Transaction

_SOURCES: Final[Mapping[str, SettingSource]] = {
    "DYNAMIC_TOPIC_CONFIG": SettingSource.DYNAMIC_TOPIC,
    "DYNAMIC_BROKER_CONFIG": SettingSource.DYNAMIC_BROKER,
    "DYNAMIC_DEFAULT_BROKER_CONFIG": SettingSource.DYNAMIC_DEFAULT_BROKER,
    "STATIC_BROKER_CONFIG": SettingSource.STATIC_BROKER,
    "DEFAULT_CONFIG": SettingSource.DEFAULT,
}
UNKNOWN_BROKER: Final = -1
"""Stands for the brokers of a cluster where only the defaults that they share are printed."""
_INTERNAL: Final = frozenset({"__transaction_state", "__consumer_offsets", "__share_group_state"})


def read_section(section: Section) -> Part | None:
    """Return the content of an output; None if it is empty or not evidence of a cluster's state."""
    reader = _READERS.get(section.tool)
    return None if reader is None else reader(section)


_MIN_ISR_FILTERS: Final = {"--under-min-isr-partitions": 1, "--at-min-isr-partitions": 0}
"""How many more replicas in sync a topic needs than the partitions have that kafka-topics.sh lists with an option."""
_TOPIC: Final = re.compile(
    r"Topic:\s*(?P<name>\S+)\s+(?:TopicId:\s*(?P<id>\S+)\s+)?PartitionCount:.*?(?:Configs:\s*(?P<configs>\S*).*)?$"
)
_PARTITION: Final = re.compile(
    r"Topic:\s*(?P<topic>\S+)\s+Partition:\s*(?P<number>\d+)\s+Leader:\s*(?P<leader>\S+)\s+Replicas:\s*(?P<replicas>[\d,]*)"
    r"\s+Isr:\s*(?P<isr>[\d,]*)"
)
_WHOLE_LIST: Final = re.compile(r"^(?!.*--(?:topic|exclude-internal|u\w+-|at-min-isr|topics-with-)).*--describe")
"""A call of kafka-topics.sh that describes every topic."""


def _topics(section: Section) -> Part:
    partitions: dict[str, list[PartitionInfo]] = {}
    ids: dict[str, str] = {}
    settings: dict[str, tuple[Setting, ...]] = {}
    for line in section.lines:
        if match := _PARTITION.search(line):
            where = TopicPartition(match["topic"], int(match["number"]))
            leader = int(match["leader"]) if match["leader"].isdecimal() else None
            info = PartitionInfo(where, leader, -1, _numbers(match["replicas"]), _numbers(match["isr"]))
            partitions.setdefault(where.topic, []).append(info)
        elif match := _TOPIC.search(line):
            ids[match["name"]] = match["id"] or ""
            pairs = (one.partition("=") for one in (match["configs"] or "").split(",") if "=" in one)
            settings[match["name"]] = tuple(
                Setting(name, value, SettingSource.DYNAMIC_TOPIC, match["name"]) for name, _, value in pairs
            )
    topics = tuple(
        Topic(
            name,
            ids.get(name, ""),
            name in _INTERNAL,
            tuple(partitions.get(name, ())),
            settings.get(name, ()) or _by_filter(section.command, partitions.get(name, [])),
        )
        for name in dict.fromkeys((*ids, *partitions))
    )
    partial = {EvidenceKind.TOPIC_CONFIGS: "only overrides are printed; those of broker defaults are not"}
    if not _WHOLE_LIST.search(section.command):
        partial[EvidenceKind.TOPICS] = "not all topics were described"
    return Part(frozenset({EvidenceKind.TOPICS, EvidenceKind.TOPIC_CONFIGS}), partial, topics=topics)


def _by_filter(command: str, partitions: list[PartitionInfo]) -> tuple[Setting, ...]:
    """Return the least min.insync.replicas by which the tool's own filter lists these partitions."""
    more = next((more for option, more in _MIN_ISR_FILTERS.items() if option in command), None)
    if more is None or not partitions:
        return ()
    least = max(len(info.isr) for info in partitions) + more
    return (Setting("min.insync.replicas", str(least), SettingSource.UNKNOWN, AT_LEAST),)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part)


_CONFIGS: Final = re.compile(
    r"^(?P<all>All|Dynamic|Default)?\s*[Cc]onfigs for (?P<kind>topic|brokers?)\s*(?P<name>.*?)\s*are:$"
)
_SETTING: Final = re.compile(
    r"^\s+(?P<name>[\w.-]+)=(?P<value>.*?) sensitive=(?P<sensitive>true|false)"
    r"(?: synonyms=\{(?:(?P<source>[A-Z_]+):)?|$)"
)


def _configs(section: Section) -> Part | None:
    topics: dict[str, list[Setting]] = {}
    brokers: dict[int, list[Setting]] = {}
    shared: list[Setting] = []
    current: list[Setting] = []
    is_all = True
    default = SettingSource.UNKNOWN
    for line in section.lines:
        if head := _CONFIGS.match(line):
            is_all = is_all and head["all"] == "All"
            kind, name = head["kind"], head["name"].strip("'\"")
            # All that is printed below "Dynamic" was set there.
            own = SettingSource.DYNAMIC_TOPIC if kind == "topic" else SettingSource.DYNAMIC_BROKER
            default = own if head["all"] in ("Dynamic", "Default") else SettingSource.UNKNOWN
            if kind == "topic":
                current = topics.setdefault(name, [])
            else:
                current = brokers.setdefault(int(name), []) if name.isdecimal() else shared
        elif match := _SETTING.match(line):
            value = None if match["value"] == "null" else match["value"]
            source = _SOURCES.get(match["source"] or "", default)
            current.append(Setting(match["name"], value, source, sensitive=match["sensitive"] == "true"))
    if shared:
        for own_settings in brokers.values() or (brokers.setdefault(UNKNOWN_BROKER, []),):
            named = {one.name for one in own_settings}
            own_settings += [one for one in shared if one.name not in named]
    kinds = {EvidenceKind.TOPIC_CONFIGS} if topics else set()
    kinds |= {EvidenceKind.BROKER_CONFIGS} if brokers else set()
    if not kinds:
        return None
    detail = "of these brokers and topics alone" if is_all else "only overrides are printed (--all prints all)"
    return Part(
        frozenset(kinds),
        dict.fromkeys(kinds, detail),
        topics=tuple(Topic(name, "", name in _INTERNAL, (), tuple(own)) for name, own in topics.items()),
        brokers=tuple(Broker(number, "", 0, settings=tuple(own)) for number, own in brokers.items()),
    )


def _transactions(section: Section) -> Part:
    found: list[Transaction] = []
    at: list[int] = []
    for row in rows_of(section):
        start, lasts = _number(row.get("CurrentTransactionStartTimeMs")), _number(row.get("TransactionDurationMs"))
        if start is not None and lasts is not None:
            at.append(start + lasts)
        coordinator = _number(row.get("CoordinatorId") or row.get("Coordinator"))
        found.append(
            Transaction(
                transactional_id=row["TransactionalId"],
                coordinator_id=-1 if coordinator is None else coordinator,
                producer_id=_number(row["ProducerId"]) or 0,
                state=row["TransactionState"],
                producer_epoch=_number(row.get("ProducerEpoch")) or 0,
                timeout_ms=_number(row.get("TransactionTimeoutMs")) or -1,
                start_time_ms=start,
                partitions=tuple(_partitions(row.get("TopicPartitions", ""))),
                described="TransactionTimeoutMs" in row,
            )
        )
    only = f"{len(found)} described" if section.tool == tools.TRANSACTION else "states alone"
    return Part(
        frozenset({EvidenceKind.TRANSACTIONS}),
        {EvidenceKind.TRANSACTIONS: only},
        transactions=tuple(found),
        captured_at_ms=max(at, default=None),
    )


def _partitions(text: str) -> Iterator[TopicPartition]:
    for part in text.split(","):
        topic, dash, number = part.strip().rpartition("-")
        if dash and number.isdecimal():
            yield TopicPartition(topic, int(number))


def _hanging(section: Section) -> Part:
    """Read the transactions that Kafka's tool reports as hanging after comparing partitions with coordinators."""
    found: list[PartitionProducers] = []
    at: list[int] = []
    for row in rows_of(section):
        where = TopicPartition(row["Topic"], _number(row["Partition"]) or 0)
        stamp, minutes = _number(row.get("LastTimestamp")) or 0, _number(row.get("Duration(min)")) or 0
        at.append(stamp + (minutes + 1) * 60_000)
        state = ProducerState(
            producer_id=_number(row["ProducerId"]) or 0,
            producer_epoch=_number(row["ProducerEpoch"]) or 0,
            last_sequence=-1,
            last_timestamp_ms=stamp,
            coordinator_epoch=-1 if (epoch := _number(row["CoordinatorEpoch"])) is None else epoch,
            current_txn_start_offset=_number(row["StartOffset"]),
        )
        found.append(PartitionProducers(where, -1, (state,), is_reported_hanging=True))
    kinds = frozenset({EvidenceKind.PRODUCERS, EvidenceKind.TRANSACTIONS})
    return Part(
        kinds,
        dict.fromkeys(kinds, "those that hang alone"),
        producers=tuple(found),
        captured_at_ms=max(at, default=None),
    )


def _groups(section: Section) -> Part:
    if "CURRENT-OFFSET" not in section.header:  # kafka-streams-groups.sh, which prints lags alone without --verbose
        names = dict.fromkeys(row["GROUP"] for row in rows_of(section))
        groups = tuple(Group(name, -1, "", "consumer") for name in names)
        return Part(frozenset({EvidenceKind.GROUPS}), {EvidenceKind.GROUPS: "names alone"}, groups=groups)
    offsets: dict[str, list[CommittedOffset]] = {}
    members: set[str] = set()
    has_members = "CONSUMER-ID" in section.header
    for row in rows_of(section):
        number, offset = _number(row.get("PARTITION")), _number(row.get("CURRENT-OFFSET"))
        if number is not None:
            where = TopicPartition(row["TOPIC"], number)
            end = _number(row.get("LOG-END-OFFSET"))
            offsets.setdefault(row["GROUP"], []).append(CommittedOffset(where, offset, log_end_offset=end))
        if row.get("CONSUMER-ID", "-") != "-":
            members.add(row["GROUP"])
    groups = tuple(
        Group(
            name, -1, ("Stable" if name in members else "Empty") if has_members else "", "consumer", offsets=tuple(own)
        )
        for name, own in offsets.items()
    )
    kinds = frozenset({EvidenceKind.GROUP_OFFSETS, EvidenceKind.GROUPS})
    return Part(kinds, dict.fromkeys(kinds, "of these groups alone"), groups=groups)


def _group_states(section: Section) -> Part:
    groups = tuple(Group(row["GROUP"], -1, row.get("STATE", ""), "consumer") for row in rows_of(section))
    return Part(frozenset({EvidenceKind.GROUPS}), {EvidenceKind.GROUPS: "states alone"}, groups=groups)


def _quorum_status(section: Section) -> Part:
    fields = dict(line.split(":", 1) for line in (section.header, *section.lines) if ":" in line)
    value = {name.strip(): text.strip() for name, text in fields.items()}
    quorum = QuorumInfo(
        _number(value.get("LeaderId")) or -1 if value.get("LeaderId") != "0" else 0,
        _number(value.get("LeaderEpoch")) or 0,
        _number(value.get("HighWatermark")) or 0,
        _nodes(value.get("CurrentVoters", "")),
        _nodes(value.get("CurrentObservers", "")),
        max_lag=_number(value.get("MaxFollowerLag")) or 0,
        max_lag_ms=_number(value.get("MaxFollowerLagTimeMs")),
    )
    return Part(frozenset({EvidenceKind.QUORUM}), cluster_id=value.get("ClusterId", ""), quorum=quorum)


def _nodes(text: str) -> tuple[int, ...]:
    """Return node ids: `[1,2,3]` of 3.x, `[{"id": 100, ...}]` of 4.x."""
    try:
        nodes = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    found = (node.get("id") if isinstance(node, dict) else node for node in nodes if isinstance(nodes, list))
    return tuple(node for node in found if isinstance(node, int))


def _quorum_replication(section: Section) -> Part | None:
    """Read the replicas; None for an excerpt without the leader, which would look like a quorum without one."""
    replicas: list[QuorumReplica] = []
    voters: list[int] = []
    observers: list[int] = []
    leader, end, now = -1, 0, None
    for row in rows_of(section):
        node = _number(row.get("NodeId") or row.get("ReplicaId"))
        if node is None:
            continue
        printed = row.get("LastCaughtUpTimestamp")
        caught_up = None if printed == "-1" else _number(printed)
        replicas.append(QuorumReplica(node, _number(row.get("LogEndOffset")) or 0, caught_up))
        status = row.get("Status", "")
        (observers if status == "Observer" else voters).append(node)
        if status == "Leader":
            leader, end, now = node, _number(row.get("LogEndOffset")) or 0, caught_up
    if leader < 0:
        return None
    quorum = QuorumInfo(
        leader_id=leader,
        leader_epoch=0,
        high_watermark=end,
        voters=tuple(voters),
        observers=tuple(observers),
        replicas=tuple(replicas),
    )
    return Part(frozenset({EvidenceKind.QUORUM}), quorum=quorum, captured_at_ms=now if now and now > 0 else None)


_FEATURE: Final = re.compile(
    r"^Feature:\s*(\S+)\s+SupportedMinVersion:\s*(\S+)\s+SupportedMaxVersion:\s*(\S+)\s+FinalizedVersionLevel:\s*(\S+)"
)


def _features(section: Section) -> Part:
    found = [match for line in section.lines if (match := _FEATURE.match(line)) and match[1] != "metadata.version"]
    levels = tuple(FeatureLevel(m[1], _number(m[4]), _number(m[2]) or 0, _number(m[3]) or 0) for m in found)
    partial = {EvidenceKind.FEATURES: "metadata.version is printed as a name"}
    return Part(frozenset({EvidenceKind.FEATURES}), partial, features=levels)


def _log_dirs(section: Section) -> Part | None:
    try:
        printed: Any = json.loads(section.header)
    except (ValueError, RecursionError):
        return None
    directories = tuple(
        LogDirectory(
            int(broker["broker"]),
            str(one.get("logDir", "")),
            str(one.get("error") or ""),
            log_bytes=sum(int(partition.get("size", 0)) for partition in one.get("partitions", ())),
        )
        for broker in printed.get("brokers", ())
        for one in broker.get("logDirs", ())
    )
    return Part(frozenset({EvidenceKind.LOG_DIRS}), log_directories=directories)


_RESOURCE: Final = re.compile(r"resourceType=(\w+), name=(.*?), patternType=(\w+)\)")
_RULE: Final = re.compile(r"\(principal=(.*?), host=(.*?), operation=(\w+), permissionType=(\w+)\)")


def _acls(section: Section) -> Part:
    rules: list[AccessRule] = []
    resource: re.Match[str] | None = None
    for line in section.lines:
        resource = _RESOURCE.search(line) or resource
        if resource is not None:
            for rule in _RULE.finditer(line):
                principal, host, operation, permission = rule.groups()
                kind, name, pattern = resource.groups()
                parts = (principal, host, _word(kind), name, _word(pattern), _word(operation), _word(permission))
                rules.append(AccessRule(*parts))
    return Part(frozenset({EvidenceKind.ACCESS_RULES}), access_rules=AccessRules(True, tuple(rules)))


def _word(text: str) -> str:
    """Return an enumeration constant in the spelling of the protocol: `TRANSACTIONAL_ID` as `TransactionalId`."""
    return text.title().replace("_", "")


def _number(text: str | None) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        return None


_READERS: Final[Mapping[str, Callable[[Section], Part | None]]] = {
    tools.TOPICS: _topics,
    tools.CONFIGS: _configs,
    tools.TRANSACTIONS: _transactions,
    tools.TRANSACTION: _transactions,
    tools.HANGING: _hanging,
    tools.GROUP_OFFSETS: _groups,
    tools.GROUP_STATES: _group_states,
    tools.QUORUM_STATUS: _quorum_status,
    tools.QUORUM_REPLICATION: _quorum_replication,
    tools.FEATURES: _features,
    tools.LOG_DIRS: _log_dirs,
    tools.ACLS: _acls,
    **PRODUCER_READERS,
    **OTHER_READERS,
}
