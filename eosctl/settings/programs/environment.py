"""Environment variables of containers and of ``.env`` files: their component and its release."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from msgspec.structs import replace

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.settings.formats.tree import Leaf, Node, Row
from eosctl.settings.names.setting_names import is_setting, setting_of
from eosctl.settings.names.unread_variables import split_unread
from eosctl.settings.programs.command_lines import options_in
from eosctl.settings.programs.packed_variables import dotnet_sources, unpacked
from eosctl.settings.programs.pod_variables import expanded, pairs_in
from eosctl.settings.programs.program_options import variables_in_options
from eosctl.settings.values.sources import Source, value_of, values_of

_IMAGE: Final = re.compile(r"(?P<name>[\w./-]*(?:kafka|connect|cp-)[\w.-]*):(?P<tag>[\w.-]+)$")
_KAFKA_IMAGES: Final = ("kafka", "kafka-native")
_BROKER_IMAGES: Final = ("kafka", "kafka-native", "cp-kafka", "cp-server", "cp-enterprise-kafka")
_PROJECTS: Final = ("apache", "confluent", "confluentinc", "strimzi", "library")
# Whose tags count releases of their own.
_OTHER_VERSIONS: Final = ("debezium", "lensesio", "landoop", "redpanda", "spotify", "strimzi")
_CONFLUENT: Final = {"7.0": "3.0", "7.1": "3.1", "7.2": "3.2", "7.3": "3.3", "7.4": "3.4", "7.5": "3.5", "7.6": "3.6"}
_CONFLUENT_EARLIER: Final = {**{f"5.{n}": f"2.{n}" for n in range(6)}, "6.0": "2.6", "6.1": "2.7", "6.2": "2.8"}
_CONFLUENT_LATER: Final = {"7.7": "3.7", "7.8": "3.8", "7.9": "3.9", "8.0": "4.0", "8.1": "4.1", "8.2": "4.2"}
_CONFLUENT_OLD: Final = {**dict.fromkeys(("3.0", "3.1", "3.2"), "0.10"), "3.3": "0.11", "4.0": "1.0", "4.1": "1.1"}
_OF_CONFLUENT: Final = {**_CONFLUENT_OLD, **_CONFLUENT_EARLIER, **_CONFLUENT, **_CONFLUENT_LATER}
"""Releases of Kafka by the version of Confluent Platform; its first images had Kafka's own with ``-cp1`` behind it."""
# Environment variables of images: prefix, role, and variables that are not settings.
_BITNAMI: Final = "KAFKA_CFG_"
_OF_BITNAMI: Final = (_BITNAMI, "KAFKA_CONNECT_CFG_")
_BROKERS: Final = "KAFKA_"
_ENVIRONMENTS: Final = (
    (_BITNAMI, Role.BROKER),
    (_OF_BITNAMI[1], Role.CONNECT_WORKER),
    ("CONNECT_", Role.CONNECT_WORKER),
    ("KSQL_KSQL_STREAMS_", Role.STREAMS),
    ("KSQL_KSQL_INTERNAL_", Role.STREAMS),
    (_BROKERS, Role.BROKER),
)
_KSQL_OWN: Final = "KSQL_KSQL_INTERNAL_"
"""The prefix of settings of ksqlDB itself, which keep ``ksql.`` in their names."""

# The image of Debezium takes these without a prefix.
WORKER_VARIABLES: Final = frozenset(
    {"BOOTSTRAP_SERVERS", "GROUP_ID", "CONFIG_STORAGE_TOPIC", "OFFSET_STORAGE_TOPIC", "STATUS_STORAGE_TOPIC"}
)
# What people give the script of a broker's image where a container runs tools alone.
_NO_BROKER: Final = "ignored"
_STREAMS_VARIABLE: Final = re.compile(
    r"^(?!FAUST_)(?:[A-Z0-9]+_)*?STREAMS?_(?:PROPERTIES_|CONFIG_)?(?P<name>[A-Z0-9_]+)$"
)
CLIENT_ROLES: Final = (Role.PRODUCER, Role.CONSUMER, Role.STREAMS)
_JAVA_OPTIONS: Final = re.compile(r"(?:JAVA|JDK|JVM).*OPT", re.IGNORECASE)
_SHORT_IDS: Final = ("TX_ID", "TXN_ID", "TRANSACTION_ID")
"""What applications call transactional ids in variables, where these name Kafka."""
_OWN_VARIABLE: Final = re.compile(
    r"^(?!FAUST_)(?:[A-Z0-9]+_)*?(?P<name>TRANSACTIONAL_ID|GROUP_INSTANCE_ID|ISOLATION_LEVEL|ENABLE_IDEMPOTENCE|ENABLE_AUTO_COMMIT"
    r"|TRANSACTION_TIMEOUT_MS|PROCESSING_GUARANTEE|ACKS|(?:TX|TXN|TRANSACTION)_ID)$"
)
# KAFKA_HOST and KAFKA_PORT are where an application finds its brokers.
_OF_EVERY_SERVER: Final = frozenset({"port", "host.name"})
# A program that is given the brokers' addresses is not one of them, also if it knows their ZooKeeper.
_WHERE_BROKERS_ARE: Final = frozenset({"bootstrap.server", "bootstrap.servers", "broker.list", "brokers"})
_OF_TOOLS: Final = frozenset({"zookeeper.connect", "default.replication.factor", "num.partitions"})
_WORKER_CLIENT: Final = re.compile(r"^(?:producer|consumer|admin)\.")
# Images that lay variables over the server.properties that Kafka ships, and what that file says.
_SHIPPED_FILE: Final = ("wurstmeister/kafka", "bitnami/kafka", "bitnamilegacy/kafka", "debezium/kafka")
_SHIPPED: Final[Mapping[str, str | None]] = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
_OF_IMAGE: Final[Mapping[str, str | None]] = dict.fromkeys(_SHIPPED)
"""What an image of a project's own may set by itself: it is not known."""
_SHIPPED_START: Final = re.compile(r"kafka-server-start\.sh\s+(?:\S*/)?config/(?:kraft/)?\w+\.properties")
_STARTED_OTHERS: Final = re.compile(r"\bconnect-(?:mirror-maker|distributed|standalone)(?:\.sh|\.bat)?\b")
"""Programs in an image of brokers that read a file of their own, and none of the variables for brokers."""
_SPRING_VARIABLES: Final = ("SPRING_KAFKA_", "SPRING_CLOUD_STREAM_")
_CLIENT_PREFIX: Final = re.compile(r"^(?:producer|(?:main\.|restore\.|global\.)?consumer|streams)\.")


def container_environment(
    node: Node | None, image: str, name: str, file: str, commands: Iterable[Node | None] = ()
) -> list[Source]:
    """Read ``environment`` as Compose writes it (a mapping or NAME=VALUE) and ``env`` as Kubernetes does.

    Args:
        node: The variables.
        image: The image of the container; empty where it is not known.
        name: The container or the service.
        file: The file's name.
        commands: The command of the container and its arguments.
    """
    pairs = pairs_in(node)
    lines = [leaf for command in commands if command is not None for leaf in _texts(command)]
    starts_shipped = any(_SHIPPED_START.search(leaf.text or "") for leaf in lines)
    options = dict(option for leaf in lines for option in options_in(leaf.text or "", leaf.line))
    is_read = any(not name.startswith("kafka.") or is_setting(name) for name in options)
    pairs += [] if is_read else variables_in_options(lines)
    found = variables_of(expanded(pairs), image, name, file, 1 if node is None else node.line)
    if any(_STARTED_OTHERS.search(leaf.text or "") for leaf in lines):
        found = [one for one in found if one.role is not Role.BROKER]
    if starts_shipped:
        found = [replace(one, framework=_SHIPPED) if one.role is Role.BROKER else one for one in found]
    return with_options(found, options, name, file, (name.lower(), image.lower()))


def with_options(
    found: list[Source], options: Mapping[str, Leaf], name: str, file: str, hints: tuple[str, ...]
) -> list[Source]:
    """Return what variables configure together with the options of a command, which Spring puts before variables."""
    if not options:
        return found
    values = values_of(options.items(), file)
    if len(found) == 1 and found[0].role is Role.SPRING and all(key.startswith("spring.") for key in values):
        return [replace(found[0], values={**found[0].values, **values})]
    return [*found, Source(Place(file, next(iter(options.values())).line), values, name, hints=hints)]


def _texts(command: Node) -> Iterator[Leaf]:
    """Yield the parts of a command, each with its own line."""
    if isinstance(command, Row):
        yield from (leaf for node in command.nodes for leaf in _texts(node))
    elif isinstance(command, Leaf):
        yield command


def environment_of(node: Node, file: str, hints: tuple[str, ...]) -> list[Source]:
    """Return what the variables of a chart's or a tool's own ``env`` key configure."""
    found = container_environment(node, "", "", file)
    return [replace(source, hints=(*source.hints, *hints)) for source in found]


def variables_of(pairs: Iterable[tuple[str, Leaf]], image: str, name: str, file: str, line: int = 1) -> list[Source]:
    """Return what variables configure, by the conventions of images and frameworks.

    Args:
        pairs: Names and values.
        image: The image of the container; empty where it is not known.
        name: The container, the service, or the resource.
        file: The file's name.
        line: Where they begin, for variables whose values all stand in another file.
    """
    given = list(pairs)
    lines = (leaf for key, leaf in given if _JAVA_OPTIONS.search(key))
    options = dict(option for leaf in lines for option in options_in(leaf.text or "", leaf.line))
    found = _variables(given, image, name, file, line)
    return with_options(found, options, name, file, (name.lower(), image.lower()))


def _variables(pairs: Iterable[tuple[str, Leaf]], image: str, name: str, file: str, line: int) -> list[Source]:
    given, left = split_unread(unpacked(pairs), image, file)
    if left:
        role = Role.STREAMS if left[0].key.startswith("KSQL_") else Role.BROKER
        kept = _variables(given, image, name, file, line) or [Source(Place(file, line), {}, name, role)]
        return [replace(kept[0], unread=left), *kept[1:]]
    if packed := dotnet_sources(given, name, file):
        read = {value.key for source in packed for value in source.values.values()}
        return [*packed, *_variables((pair for pair in given if pair[0] not in read), image, name, file, line)]
    begin = Place(file, line)
    version = release_of_image(image)
    if any(key.upper().replace(".", "_").startswith(_SPRING_VARIABLES) for key, _ in given):
        values = {_spring_name(key): value_of(key, leaf, file, _spring_name(key)) for key, leaf in given}
        place, shown = Place(file, given[0][1].line), next(key for key, _ in given if key.upper().startswith("SPRING"))
        return [Source(place, values, name, Role.SPRING, hints=(name,), recognized_by=shown)]
    if any(key.upper().startswith("MP_MESSAGING_") for key, _ in given):
        values = {_spring_name(key): value_of(key, leaf, file, _spring_name(key)) for key, leaf in given}
        return [Source(Place(file, given[0][1].line), values, name, hints=(name.lower(),))]
    if any(leaf.text == _NO_BROKER for _, leaf in given) or _base_name(image).endswith("zookeeper"):
        return []
    if is_image_of_worker(image) and any(key in WORKER_VARIABLES for key, _ in given):
        given = [(f"CONNECT_{key}" if key in WORKER_VARIABLES else key, leaf) for key, leaf in given]
    hints = (name.lower(), image.lower())
    by_role = _by_role(given, file)
    if not _is_worker(by_role.get(Role.CONNECT_WORKER, {})):
        by_role.pop(Role.CONNECT_WORKER, None)  # CONNECT_ is a common prefix, also of pages that show workers
    servers = by_role.get(Role.BROKER, {})
    if servers and not _is_brokers(servers, image):
        # An application's variables, or those of some tool: KAFKA_CLUSTERS_0_NAME.
        del by_role[Role.BROKER]
        servers = servers if _is_clients(servers) else {}
    own = {**_own_variables(given, file), **servers} if not by_role or servers else {}
    found = [_source(values, role, name, version, hints, begin) for role, values in by_role.items()]
    # Only Bitnami's image has such variables, which shows it where no image stands.
    is_bitnamis = not image and any(key.startswith(_BITNAMI) for key, _ in given)
    if framework := _SHIPPED if is_bitnamis else _image_defaults(image):
        found = [replace(one, framework=framework) if one.role is Role.BROKER else one for one in found]
    if own and Role.BROKER not in by_role:
        found.append(_source(own, None, name, version, hints, begin))
    return found


def _image_defaults(image: str) -> Mapping[str, str | None]:
    """Return what an image sets below the variables; empty for one that adds nothing to Kafka's defaults."""
    if any(one in image for one in _SHIPPED_FILE):
        return _SHIPPED
    is_kafkas = _base_name(image) in _BROKER_IMAGES and not _is_of_other_project(image)
    return {} if not image or is_kafkas else _OF_IMAGE


def _is_of_other_project(image: str) -> bool:
    """Return whether an image of Docker Hub is another project's: ``acme/kafka`` has a start script of its own.

    Images in a registry with a host are often copies.
    """
    project, slash, rest = image.partition("/")
    is_host = "." in project or ":" in project
    return bool(slash) and "/" not in rest and not is_host and project not in _PROJECTS


def is_image_of_broker(image: str) -> bool:
    """Return whether an image is one of Kafka's brokers, by its name."""
    return _base_name(image) in _BROKER_IMAGES


def is_image_of_worker(image: str) -> bool:
    """Return whether an image is one of Connect's workers, by its name."""
    return "connect" in image


def _base_name(image: str) -> str:
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _source(
    values: Mapping[str, Value], role: Role | None, name: str, version: str, hints: tuple[str, ...], begin: Place
) -> Source:
    own = (value.place for value in values.values() if value.place and value.place.file == begin.file)
    place = min(own, default=begin)
    client = None if role is None else Client.JAVA
    known = load_tables()[role.value].parameters if role is not None else values
    shown = next((value.key for key, value in values.items() if key in known), next(iter(values.values())).key)
    return Source(
        place=place,
        values=values,
        label=name,
        role=role,
        client=client,
        version=version,
        hints=hints,
        recognized_by=shown,
    )


def _by_role(given: Iterable[tuple[str, Leaf]], file: str) -> dict[Role, dict[str, Value]]:
    """Return the settings of variables by the conventions of images; ``KAFKA_`` counts as the prefix of a broker.

    Next to variables with Bitnami's prefix, the others are words of the image's own script.
    """
    are_bitnamis = any(key.startswith(_BITNAMI) for key, _ in given)
    by_role: dict[Role, dict[str, Value]] = {}
    streams = _streams_variables(given, file)
    taken = {value.key for value in streams.values()}
    for key, leaf in given:
        if key in taken or (are_bitnamis and key.startswith(_BROKERS) and not key.startswith(_OF_BITNAMI)):
            continue
        for prefix, role in _ENVIRONMENTS:
            if key.startswith(prefix) and len(key) > len(prefix):
                setting = setting_of(key.removeprefix("KSQL_") if prefix == _KSQL_OWN else key[len(prefix) :])
                by_role.setdefault(role, {})[setting] = value_of(key, leaf, file, setting)
                break
    if streams:
        # One application: its variables without the prefix are those that brokers do not have.
        if Role.BROKER in by_role and _is_application(by_role[Role.BROKER]):
            streams = {**by_role.pop(Role.BROKER), **streams}
        by_role[Role.STREAMS] = {**by_role.get(Role.STREAMS, {}), **streams}
    return by_role


def _own_variables(given: Iterable[tuple[str, Leaf]], file: str) -> dict[str, Value]:
    """Return an application's settings in variables that end as the settings do: ``PAY_TRANSACTIONAL_ID``."""
    found: dict[str, Value] = {}
    for key, leaf in given:
        match = _OWN_VARIABLE.match(key)
        is_common = match is not None and (match["name"] == "ACKS" or match["name"].endswith(_SHORT_IDS))
        if match is not None and (not is_common or "KAFKA" in key or "PRODUCER" in key):
            setting = "transactional.id" if match["name"].endswith(_SHORT_IDS) else setting_of(match["name"])
            found[setting] = value_of(key, leaf, file, setting)
    return found


def _streams_variables(given: Iterable[tuple[str, Leaf]], file: str) -> dict[str, Value]:
    """Return the variables of a Streams application by their setting: ``APP_STREAMS_COMMIT_INTERVAL_MS``."""
    tables = load_tables()
    clients = {name for role in CLIENT_ROLES for name in tables[role.value].parameters}
    own = {*tables[Role.STREAMS.value].parameters, *(f"topic.{name}" for name in tables["topic"].parameters)}
    found: dict[str, Value] = {}
    for key, leaf in given:
        match = _STREAMS_VARIABLE.match(key)
        setting = setting_of(match["name"]) if match and not key.startswith("KSQL_") else ""
        if setting in own or _CLIENT_PREFIX.sub("", setting) in clients:
            found[setting] = value_of(key, leaf, file, setting)
    return found


def _is_application(names: Iterable[str]) -> bool:
    """Return whether no variable is one that brokers alone have."""
    tables = load_tables()
    clients = {name for role in CLIENT_ROLES for name in tables[role.value].parameters}
    return not set(names) & (tables["broker"].parameters.keys() - clients)


def _is_brokers(names: Iterable[str], image: str) -> bool:
    """Return whether brokers alone have some of the settings, or have any and the image is that of a broker."""
    tables = load_tables()
    clients = {name for role in CLIENT_ROLES for name in tables[role.value].parameters}
    own = tables["broker"].parameters.keys()
    if _base_name(image) in _BROKER_IMAGES:
        return not own.isdisjoint(names)
    of_tools = _OF_TOOLS if not _WHERE_BROKERS_ARE.isdisjoint(names) else frozenset[str]()
    return not (own - clients - _OF_EVERY_SERVER - of_tools).isdisjoint(names)


def _is_worker(names: Iterable[str]) -> bool:
    """Return whether a worker of Connect has one of the settings, for itself or for its clients."""
    tables = load_tables()
    clients = {name for role in (Role.PRODUCER, Role.CONSUMER) for name in tables[role.value].parameters}
    worker = tables[Role.CONNECT_WORKER.value].parameters
    is_own = (name in worker or _WORKER_CLIENT.sub("", name) in clients for name in names if name != "client.id")
    return any(is_own)  # without client.id: OAuth has clients, too


def _is_clients(names: Iterable[str]) -> bool:
    """Return whether `KAFKA_` variables belong to an application: some are for clients only, none for brokers."""
    tables = load_tables()
    brokers = tables["broker"].parameters.keys()
    clients = {name for role in CLIENT_ROLES for name in tables[role.value].parameters}
    plain = {_CLIENT_PREFIX.sub("", name) for name in names}
    return bool(plain & (clients - brokers)) and not plain & (brokers - clients)


def is_release(text: str) -> bool:
    """Return whether a text is a release of Kafka, as in ``3.9``."""
    return text in _releases()


@cache
def _releases() -> frozenset[str]:
    """Return the releases of Kafka from 0.10 to the newest known."""
    table = load_tables()["broker"]
    known = {f"{major}.{number}" for major, last in ((3, 9), (2, 8), (1, 1)) for number in range(last + 1)}
    return frozenset({*known, *(f"{table.last[0]}.{number}" for number in range(table.last[1] + 1)), "0.10", "0.11"})


def _spring_name(text: str) -> str:
    return text.lower().replace("_", ".")


def release_of_image(image: str) -> str:
    """Return the release of Kafka that an image's tag names; empty where the tag counts something else.

    >>> release_of_image("apache/kafka:3.9.0"), release_of_image("quay.io/strimzi/kafka:0.45.0-kafka-3.9.0")
    ('3.9', '3.9')
    >>> release_of_image("wurstmeister/kafka:2.13-2.8.1"), release_of_image("quay.io/debezium/kafka:3.1")
    ('2.8', '')
    >>> release_of_image("confluentinc/cp-kafka:6.0.0"), release_of_image("confluentinc/cp-kafka:7.9.1")
    ('2.6', '3.9')
    >>> release_of_image("confluent/kafka:0.10.0.0-cp1"), release_of_image("confluentinc/cp-kafka:4.1.0")
    ('0.10', '1.1')
    """
    found = _IMAGE.search(image.partition("@")[0])
    if found is None:
        return ""
    name, tag = found["name"], found["tag"]
    if "confluentinc/" in name or name.startswith("cp-"):
        version = re.match(r"\d+\.\d+", tag)
        old = re.match(r"0\.1[01](?=\.\d+\.\d+-cp\d)", tag)
        return old[0] if old else _OF_CONFLUENT.get(version[0], "") if version else ""
    # Strimzi writes its own version first and Kafka's last, others that of Scala: kafka:0.45.0-kafka-3.9.0, 2.13-2.8.1.
    later = re.search(r"kafka-(\d+\.\d+)", tag) or re.match(r"2\.1[0-3]-(\d+\.\d+)", tag)
    if later:
        return later[1]
    own = re.match(r"v?(\d+\.\d+)(?:\.\d+){0,2}(?![\d.])", tag)  # 0.x releases have four numbers
    if own is None or any(other in name for other in _OTHER_VERSIONS):
        return ""
    return own[1] if name.rpartition("/")[2] in _KAFKA_IMAGES and own[1] in _releases() else ""
