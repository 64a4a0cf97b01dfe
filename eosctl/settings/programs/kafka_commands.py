"""Commands of Kafka's tools in scripts: topics created, settings altered, access granted, and brokers started.

Sources: ``TopicCommand``, ``ConfigCommand``, ``AclCommand``, ``kafka.Kafka`` (``--override``), ``rpk topic create``,
``rpk acl create``, and ``confluent kafka acl create``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten
from eosctl.settings.values.sources import Source, values_of
from eosctl.text import count_text

_TOPICS: Final = re.compile(r"\bkafka-topics(?:\.sh|\.bat)?[ \t]|\brpk[ \t]+topic[ \t]+(?=create[ \t])")
_CONFIGS: Final = re.compile(r"\bkafka-(?:configs|topics)(?:\.sh|\.bat)?[ \t]")
_FEATURES: Final = re.compile(
    r"\bkafka-(?:storage|features)(?:\.sh|\.bat)?[ \t]+(?:.*[ \t])?(?:format|upgrade|downgrade)[ \t]"
)
_FEATURE: Final = "transaction.version"
_ALTER: Final = re.compile(r"--alter\b")
_START: Final = re.compile(r"\bkafka-server-start(?:\.sh|\.bat)?[ \t]+")
_ACLS: Final = re.compile(
    r"\bkafka-acls(?:\.sh|\.bat)?[ \t]|\brpk[ \t]+(?:security[ \t]+)?acl[ \t]+create[ \t]"
    r"|\bconfluent[ \t]+kafka[ \t]+acl[ \t]+create[ \t]"
)
_ADD: Final = re.compile(r"--add\b")
_RESOURCES: Final = {
    "--topic": "topic",
    "--group": "group",
    "--consumer-group": "group",
    "--transactional-id": "transactionalId",
    "--delegation-token": "delegationToken",
}
_CLUSTER: Final = ("--cluster", "--cluster-scope")
_USERS: Final = ("--allow-principal", "--deny-principal", "--principal", "--service-account")
_OPERATIONS: Final = ("--operation", "--operations")
_END: Final = re.compile(r"[;&|]+$")
_COUNTS: Final = {
    "--partitions": "partitions",
    "--replication-factor": "replication-factor",
    "-p": "partitions",
    "-r": "replication-factor",
    "--replicas": "replication-factor",
}
_SETTING: Final = ("--config", "-c", "--topic-config")
_ALTERED: Final = ("--add-config", "--config")
_MOST_RULES: Final = 10_000
_PATTERN: Final = "--resource-pattern-type"
_SEPARATOR: Final = re.compile(r",(?=[\w.-]+=)")
_KIND: Final = "entity-type"
_ACL: Final = "acls"
_ROLES: Final = {"topics": Role.TOPIC, "brokers": Role.BROKER, _ACL: Role.ACCESS_RULE}
CONFIGURATION: Final = "configuration"
"""The key of a started service that names the file of its broker."""


def entities_in(lines: Iterable[tuple[int, str]]) -> list[tuple[str, Node]]:
    """Return the topics that commands create, what others alter, and the rules that they add, by different names."""
    created: dict[str, Branch] = {}
    altered: list[tuple[str, Branch]] = []
    granted: list[tuple[str, Branch]] = []
    for number, line in lines:
        created |= dict(_created(line, number))
        altered += [one for one in (_altered(line, number), _held(line, number)) if one is not None]
        granted += _granted(line, number)
    for name, change in altered:
        if change.text(_KIND) == "topics" and name in created:
            created[name] = _with(created[name], change)
    rest = [
        (f"{change.text(_KIND)} {name} in line {change.line}", change)
        for name, change in altered
        if change.text(_KIND) != "topics" or name not in created
    ]
    # A topic may be called like a setting: spring.kafka.orders.
    return [*((f"topic {name}", topic) for name, topic in created.items()), *rest, *granted]


def altered_entity(document: Branch, file: str) -> list[Source] | None:
    """Return what a command alters of topics or brokers that exist: the rest of their settings is not known."""
    role = _ROLES.get(document.text(_KIND) or "")
    settings = document.branch("config")
    if role is None or settings is None:
        return None
    values, place = values_of(flatten(settings), file), Place(file, settings.line)
    if role is Role.ACCESS_RULE:
        return [Source(place, values, document.text("name") or "", role, Client.JAVA, recognized_by="kafka-acls.sh")]
    return [part_of_one(values, role, place, document.text("name"))]


def part_of_one(values: dict[str, Value], role: Role, place: Place, name: str | None) -> Source:
    """Return settings of a broker or a topic where the others, and so its defaults, are not known."""
    others, shown = others_unknown(values, role), next(iter(values.values())).key
    return Source(place, values, name or "", role, Client.JAVA, framework=others, recognized_by=shown)


def others_unknown(values: Mapping[str, Value], role: Role) -> dict[str, str | None]:
    """Return what stands for all other settings of a component where they are not known, nor are its defaults."""
    return dict.fromkeys(name for name in load_tables()[role.value].parameters if name not in values)


def brokers_started(lines: Iterable[tuple[int, str]]) -> list[tuple[str, Node]]:
    """Return the brokers that commands start with settings over those of a file, as Compose writes services."""
    found: list[tuple[str, Node]] = []
    for number, line in lines:
        if (match := _START.search(line)) is None or "--override" not in line:
            continue
        rest = line[match.end() :]
        file = next((word for word in _words(rest) if not word.startswith("-")), None)
        if file is None:
            continue
        first = number + line.count("\n", 0, match.start())
        parts = [Leaf(part, first + index) for index, part in enumerate(line[match.start() :].split("\n"))]
        service = (("command", Row(tuple(parts), first)), (CONFIGURATION, Leaf(file, first)))
        found.append((f"kafka-server-start in line {number}", Branch(service, first)))
    return found


def _created(line: str, number: int) -> Iterator[tuple[str, Branch]]:
    """Yield the topics that a command creates; none for any other command."""
    found = _TOPICS.search(line)
    if found is None or (found[0].startswith("kafka") and "--create" not in line):
        return
    words = _words(line[found.end() :])
    # rpk has the names behind its verb, Kafka's own tool behind an option.
    names = [] if found[0].startswith("kafka") else list(takewhile(lambda word: not word.startswith("-"), words[1:]))
    counts: list[tuple[str, Node]] = []
    settings: list[tuple[str, Leaf]] = []
    arguments = iter(words)
    for word in arguments:
        if word not in ("--topic", *_COUNTS, *_SETTING):
            continue
        given = next(arguments, "")
        place = number + _line_of(line, given, found.end())
        if word == "--topic":
            names.append(given)
        elif word in _COUNTS:
            counts.append((_COUNTS[word], Leaf(given, place)))
        else:
            settings += _settings(given, place)
    # Without counts, whose names show a topic, its kind is written.
    head = counts or [(_KIND, Leaf("topics", number))]
    for name in names if counts or settings else ():
        own: list[tuple[str, Node]] = [("name", Leaf(name, number)), *head]
        if settings:
            own.append(("config", Branch(tuple(settings), number)))
        yield name, Branch(tuple(own), number)


def _altered(line: str, number: int) -> tuple[str, Branch] | None:
    """Return the topic or the brokers whose settings a command alters; None for any other command."""
    found = _CONFIGS.search(line)
    if found is None or _ALTER.search(line, found.end()) is None:
        return None
    kind, name = "topics" if "kafka-topics" in found[0] else "", "default"
    settings: list[tuple[str, Leaf]] = []
    arguments = iter(_words(line[found.end() :]))
    for word in arguments:
        if word == "--broker-defaults":
            kind = "brokers"
        if word not in ("--entity-type", "--entity-name", "--topic", "--broker", *_ALTERED):
            continue
        given = next(arguments, "")
        if word == "--entity-type":
            kind = given
        elif word == "--entity-name":
            name = given
        elif word in _ALTERED:
            settings += _settings(given, number + _line_of(line, given, found.end()))
        else:
            kind, name = f"{word[2:]}s", given
    if kind not in ("topics", "brokers") or not settings:
        return None
    entries = ((_KIND, Leaf(kind, number)), ("name", Leaf(name, number)), ("config", Branch(tuple(settings), number)))
    return name, Branch(entries, number)


def _held(line: str, number: int) -> tuple[str, Branch] | None:
    """Return the level at which a command holds the feature of transactions: ``--feature transaction.version=1``."""
    found = _FEATURES.search(line)
    arguments = iter(_words(line[found.end() :]) if found is not None else ())
    for word in arguments:
        name, _, level = next(arguments, "").partition("=") if word == "--feature" else ("", "", "")
        if found is not None and name == _FEATURE and level:
            place = number + _line_of(line, f"{name}={level}", found.end())
            own = Branch(((name, Leaf(level, place)),), place)
            return name, Branch(
                ((_KIND, Leaf("brokers", number)), ("name", Leaf(name, number)), ("config", own)), number
            )
    return None


def _granted(line: str, number: int) -> Iterator[tuple[str, Branch]]:
    """Yield the access rules that a command adds, one for each resource and user; none for any other command."""
    found = _ACLS.search(line)
    if found is None or (found[0].startswith("kafka") and _ADD.search(line, found.end()) is None):
        return
    resources: list[tuple[str, Leaf]] = []
    users: list[tuple[str, Leaf]] = []
    words = _words(line[found.end() :])
    pattern, operations = "prefix" if "--prefix" in words else "literal", list[str]()
    default = "deny" if "--deny" in words else "allow"
    arguments = iter(words)
    for word in arguments:
        if word in ("--producer", "--consumer"):
            operations += ("Write", "Describe") if word == "--producer" else ("Read", "Describe")
        if word in _CLUSTER:
            resources.append(("cluster", Leaf("kafka-cluster", number)))
        if word not in (*_RESOURCES, *_USERS, *_OPERATIONS, _PATTERN):
            continue
        given = next(arguments, "")
        leaf = Leaf(given, number + _line_of(line, given, found.end()))
        if word in _RESOURCES:
            resources.append((_RESOURCES[word], leaf))
        elif word in _OPERATIONS:
            operations += given.split(",")
        elif word == _PATTERN:
            pattern = {"prefixed": "prefix"}.get(given.lower(), given)
        else:
            users.append((word.removeprefix("--").partition("-")[0] if word.endswith("-principal") else default, leaf))
    if len(resources) * len(users) > _MOST_RULES:
        raise ConfigFileError(
            f"The command in line {number} adds {count_text(len(resources) * len(users), 'rule')}.",
            f"At most {_MOST_RULES:,} rules of one command are read.",
            "Split the command.",
        )
    for kind, name in resources:
        for permission, user in users:
            own = {
                "resource.type": Leaf(kind, name.line),
                "resource.name": name,
                "pattern.type": Leaf(pattern, number),
                "operations": Leaf(",".join(operations) or "All", number),
                "permission": Leaf(permission, user.line),
                "principal": Leaf((user.text or "").removeprefix("User:"), user.line),
            }
            title = (user.text or "").removeprefix("User:")
            entries = ((_KIND, Leaf(_ACL, number)), ("name", Leaf(title, number)))
            rule = Branch((*entries, ("config", Branch(tuple(own.items()), name.line))), number)
            yield f"rule for {title} on {kind} {name.text} in line {number}", rule


def _with(topic: Branch, altered: Branch) -> Branch:
    """Return a created topic with the settings that a later command gives it."""
    own, other = topic.branch("config"), altered.branch("config")
    entries = {**dict(own.entries if own else ()), **dict(other.entries if other else ())}
    kept = ((key, node) for key, node in topic.entries if key != "config")
    return Branch((*kept, ("config", Branch(tuple(entries.items()), topic.line))), topic.line)


def _settings(text: str, line: int) -> Iterator[tuple[str, Leaf]]:
    """Yield the settings of an option: ``a=1,b=[x,y]``."""
    for part in _SEPARATOR.split(text):
        key, equals, value = part.partition("=")
        if equals:
            yield key.strip(), Leaf(value.strip().strip("[]"), line)


def _words(text: str) -> list[str]:
    """Return the words of a command until it ends, options with ``=`` as two; none where a quote stays open."""
    try:
        words = shlex.split(text.replace("\n", " "), comments=True)
    except ValueError:
        return []
    found: list[str] = []
    for word in words:
        if word in ("&&", "||", "|", "&", ";"):
            break
        bare = _END.sub("", word)
        found += bare.split("=", 1) if bare.startswith("--") else [bare]
        if bare != word:
            break
    return [word for word in found if word]


def _line_of(command: str, word: str, start: int) -> int:
    return command.count("\n", 0, max(command.find(word, start), 0)) if word else 0
