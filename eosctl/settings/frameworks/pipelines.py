"""Kafka's clients inside tools that move data.

Logstash, Fluent Bit, Vector, Telegraf, Beats, Redpanda Connect, and OpenTelemetry's Collector.
Names and defaults are those of each tool's own reference; which client is inside decides on the rules that hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.settings.formats.logstash_file import LOGSTASH as PIPELINE_KEY
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten
from eosctl.settings.names.library_words import turned
from eosctl.settings.values.durations import duration_ms
from eosctl.settings.values.sources import Source, value_of


class Tool(NamedTuple):
    """How a tool hands settings to Kafka's client.

    Attributes:
        title: What it is called.
        client: Whose client is inside.
        maps: Keys under which settings stand as the client spells them.
        names: The tool's own names, and what they are for the client.
        words: What the tool's values of some settings mean, by the client's name.
        defaults: What the tool sets where the file does not, by role.
    """

    title: str
    client: Client
    maps: tuple[str, ...] = ()
    names: Mapping[str, str] = {}
    words: Mapping[str, Mapping[str, str]] = {}
    defaults: Mapping[Role, Mapping[str, str | None]] = {}


_COMMON: Final = {
    "bootstrap_servers": "bootstrap.servers",
    "brokers": "bootstrap.servers",
    "seed_brokers": "bootstrap.servers",
    "addresses": "bootstrap.servers",
    "group_id": "group.id",
    "consumer_group": "group.id",
    "topics": "topics",
    "topic": "topic",
    "topic_id": "topic",
    "client_id": "client.id",
}
LOGSTASH: Final = Tool(
    "Logstash",
    Client.JAVA,
    defaults={Role.PRODUCER: {"acks": "1"}, Role.CONSUMER: {"group.id": "logstash"}},
)
# in_kafka sets the automatic commit from its own option alone, after the options of librdkafka.
FLUENT_BIT: Final = Tool(
    "Fluent Bit",
    Client.LIBRDKAFKA,
    ("rdkafka",),
    names={"enable_auto_commit": "enable.auto.commit", "rdkafka.enable.auto.commit": "rdkafka.enable.auto.commit"},
    defaults={Role.CONSUMER: {"group.id": "fluent-bit", "enable.auto.commit": "false"}},
)
VECTOR: Final = Tool(
    "Vector",
    Client.LIBRDKAFKA,
    ("librdkafka_options",),
    names={
        "auto_offset_reset": "auto.offset.reset",
        "batch.max_bytes": "batch.size",
        "batch.max_events": "batch.num.messages",
        "commit_interval_ms": "auto.commit.interval.ms",
        "compression": "compression.type",
        "message_timeout_ms": "message.timeout.ms",
        "session_timeout_ms": "session.timeout.ms",
        "socket_timeout_ms": "socket.timeout.ms",
    },
    defaults={
        Role.CONSUMER: {
            "enable.auto.commit": "true",
            "enable.auto.offset.store": "false",
            "auto.commit.interval.ms": "5000",
            "session.timeout.ms": "10000",
        }
    },
)
TELEGRAF: Final = Tool(
    "Telegraf",
    Client.SARAMA,
    names={"required_acks": "acks", "idempotent_writes": "enable.idempotence", "max_retry": "retries"},
    words={"acks": {"-1": "all"}},
    defaults={Role.PRODUCER: {"acks": "all"}},
)
CONNECT_SARAMA: Final = Tool(
    "Redpanda Connect",
    Client.SARAMA,
    names={
        "ack_replicas": "acks",
        "idempotent_write": "enable.idempotence",
        "group.session_timeout": "session.timeout.ms",
        "group.heartbeat_interval": "heartbeat.interval.ms",
    },
    words={"acks": {"true": "all", "false": "1"}},
    # saramaConfigFromParsed leaves sarama's own.
    defaults={Role.PRODUCER: {"max.in.flight.requests.per.connection": "5"}},
)
# An output that is idempotent, as it is by default, refuses to start with another acks than all.
CONNECT_FRANZ: Final = Tool(
    "Redpanda Connect",
    Client.FRANZ_GO,
    names={
        "idempotent_write": "enable.idempotence",
        "max_in_flight_requests": "max.in.flight.requests.per.connection",
        "transactional_id": "transactional.id",
        "transaction_isolation_level": "isolation.level",
        "session_timeout": "session.timeout.ms",
        "heartbeat_interval": "heartbeat.interval.ms",
        "instance_id": "group.instance.id",
    },
    words={"acks": {"none": "0", "leader": "1"}},
    defaults={Role.PRODUCER: {"enable.idempotence": "true"}},
)
# libbeat's output; max_retries does not hold for inputs that guarantee delivery.
BEATS: Final = Tool(
    "Beats",
    Client.SARAMA,
    names={"hosts": "bootstrap.servers", "required_acks": "acks", "compression": "compression.type"},
    words={"acks": {"-1": "all"}},
    defaults={Role.PRODUCER: {"acks": "1"}},
)
_SIGNALS: Final = "otlp_logs,otlp_metrics,otlp_spans"
# configkafka.ProducerConfig and ConsumerConfig; without acks=all the exporter switches idempotence off.
COLLECTOR: Final = Tool(
    "OpenTelemetry Collector",
    Client.FRANZ_GO,
    names={
        "producer.required_acks": "acks",
        "producer.compression": "compression.type",
        "group_instance_id": "group.instance.id",
        "initial_offset": "auto.offset.reset",
        "session_timeout": "session.timeout.ms",
        "heartbeat_interval": "heartbeat.interval.ms",
        "autocommit.enable": "enable.auto.commit",
        "autocommit.interval": "auto.commit.interval.ms",
    },
    words={"acks": {"-1": "all"}},
    defaults={
        Role.PRODUCER: {"acks": "1", "enable.idempotence": None, "topics": _SIGNALS},
        Role.CONSUMER: {
            "topics": _SIGNALS,
            "group.id": "otel-collector",
            "session.timeout.ms": "10000",
            "heartbeat.interval.ms": "3000",
            "enable.auto.commit": "true",
        },
    },
)
TITLES: Final = frozenset(
    tool.title.lower() for tool in (LOGSTASH, FLUENT_BIT, VECTOR, TELEGRAF, CONNECT_SARAMA, BEATS, COLLECTOR)
)
"""What the surroundings of tools' clients are called; their libraries are those of the tools."""
_CONNECT: Final = {
    **dict.fromkeys(("kafka",), CONNECT_SARAMA),
    **dict.fromkeys(
        ("kafka_franz", "redpanda", "redpanda_common", "redpanda_migrator", "kafka_migrator"), CONNECT_FRANZ
    ),
}

_METRICS: Final = "kafkametrics"
"""The receiver that asks brokers for their own metrics."""
_CONNECT_PARTS: Final = frozenset(
    {"input", "output", "pipeline", "input_resources", "output_resources", "processor_resources"}
)
_CONNECT_REST: Final = frozenset(
    {
        *("cache_resources", "rate_limit_resources", "resources", "buffer", "http", "logger", "metrics", "tracer"),
        *("shutdown_timeout", "shutdown_delay", "tests"),
    }
)
"""What else stands at the top of a file of Redpanda Connect."""


_TOPS: Final = frozenset(
    {
        *(PIPELINE_KEY, "pipeline", "sinks", "sources", "outputs", "inputs", "output.kafka", "exporters", "receivers"),
        *("output", "input", "output_resources", "input_resources", "resources", "config", "spec"),
    }
)
"""The keys at the top of a document under which one of the readers finds a client."""


def pipelines(document: Branch, file: str) -> list[Source] | None:
    """Return the producers and consumers of a pipeline; None when the document is not one of these tools'."""
    if _TOPS.isdisjoint(document.by_key):
        return None
    for reader in (_logstash, _fluent_bit, _vector, _telegraf, _beats, _connect, _collector):
        if found := list(reader(document, file)):
            return found
    return None


def _logstash(document: Branch, file: str) -> Iterator[Source]:
    sections = document.branch(PIPELINE_KEY)
    for section, role in (("output", Role.PRODUCER), ("input", Role.CONSUMER)):
        for name, plugins in () if sections is None else sections.entries:
            if name == section and isinstance(plugins, Branch):
                for plugin, node in plugins.entries:
                    if plugin == "kafka" and isinstance(node, Branch):
                        yield _source(node, file, role, LOGSTASH, f"{section} kafka")


def _fluent_bit(document: Branch, file: str) -> Iterator[Source]:
    for section, role in (("outputs", Role.PRODUCER), ("inputs", Role.CONSUMER)):
        for node in document.items("pipeline", section):
            if isinstance(node, Branch) and (node.text("name") or node.text("Name") or "").lower() == "kafka":
                yield _source(node, file, role, FLUENT_BIT, f"{section[:-1]} kafka")


def _vector(document: Branch, file: str) -> Iterator[Source]:
    for section, role in (("sinks", Role.PRODUCER), ("sources", Role.CONSUMER)):
        named = document.branch(section)
        for name, node in () if named is None else named.entries:
            if isinstance(node, Branch) and node.text("type") == "kafka":
                yield _source(node, file, role, VECTOR, f"{section}.{name}")


def _telegraf(document: Branch, file: str) -> Iterator[Source]:
    for section, plugin, role in (
        ("outputs", "kafka", Role.PRODUCER),
        ("inputs", "kafka_consumer", Role.CONSUMER),
    ):
        for node in document.items(section, plugin):
            if isinstance(node, Branch):
                yield _source(node, file, role, TELEGRAF, f"{section}.{plugin}")


def _beats(document: Branch, file: str) -> Iterator[Source]:
    """Yield the output of Filebeat and its siblings, which alone call the brokers hosts."""
    for node in (document.branch("output.kafka"), document.branch("output", "kafka")):
        if node is not None and node.get("hosts") is not None:
            yield _source(node, file, Role.PRODUCER, BEATS, "output.kafka")


def _connect(document: Branch, file: str) -> Iterator[Source]:
    known = sum(key in _CONNECT_PARTS or key in _CONNECT_REST for key, _ in document.entries)
    if 2 * known < len(document.entries):
        return  # a chart's values, or another file with outputs
    for name, role in (("output", Role.PRODUCER), ("input", Role.CONSUMER)):
        for path in ((name,), (f"{name}_resources",), ("resources", f"{name}s")):
            yield from _connect_parts(document.get(*path), file, role)


def is_pipeline_without_kafka(document: Node) -> bool:
    """Return whether a document of a tool that moves data has no client of Kafka.

    The tool is Redpanda Connect, Logstash, Fluent Bit, Vector, or OpenTelemetry's Collector, which may read metrics.
    """
    if not isinstance(document, Branch):
        return False
    if plugins := list(_plugins(document)):
        return not any("kafka" in name.lower() for name in plugins)
    keys = {key for key, _ in document.entries}
    return not _CONNECT_PARTS.isdisjoint(keys) and keys <= _CONNECT_PARTS | _CONNECT_REST and not _has_client(document)


def _plugins(document: Branch) -> Iterator[str]:
    """Yield the names of a pipeline's inputs and outputs."""
    sections = document.branch(PIPELINE_KEY)
    for name, plugins in () if sections is None else sections.entries:
        if name in ("input", "output") and isinstance(plugins, Branch):
            yield from (plugin for plugin, _ in plugins.entries)
    for node in (*document.items("pipeline", "inputs"), *document.items("pipeline", "outputs")):
        yield (node.text("name") or node.text("Name") or "") if isinstance(node, Branch) else ""
    named = [document.branch(section) for section in ("sources", "sinks")]
    ends = [document.branch(section) for section in ("receivers", "exporters")]
    if all(ends) and document.branch("service", "pipelines") is not None:
        names = (name.partition("/")[0] for section in ends if section is not None for name, _ in section.entries)
        yield from (name for name in names if name != _METRICS)
    if all(named):
        nodes = (node for section in named if section is not None for _, node in section.entries)
        yield from ((node.text("type") or "") if isinstance(node, Branch) else "kafka" for node in nodes)


def _has_client(node: Node) -> bool:
    if isinstance(node, Row):
        return any(map(_has_client, node.nodes))
    named = node.entries if isinstance(node, Branch) else ()
    return any("kafka" in key or "redpanda" in key or _has_client(child) for key, child in named)


def _connect_parts(node: Node | None, file: str, role: Role) -> Iterator[Source]:
    """Yield Kafka's part of an input or output, also inside a broker, a switch, or a fallback."""
    if isinstance(node, Row):
        for member in node.nodes:
            yield from _connect_parts(member, file, role)
    if isinstance(node, Branch):
        for name, child in node.entries:
            if name in _CONNECT and isinstance(child, Branch):
                yield _source(child, file, role, _CONNECT[name], name)
            elif not isinstance(child, Leaf):
                yield from _connect_parts(child, file, role)


def _collector(document: Branch, file: str) -> Iterator[Source]:
    """Yield the exporters and receivers of a collector's own file, its operator's resource, or a chart's values."""
    for config in (document, document.branch("config"), document.branch("spec", "config")):
        for section, role in (("exporters", Role.PRODUCER), ("receivers", Role.CONSUMER)):
            named = None if config is None else config.branch(section)
            for name, node in () if named is None else named.entries:
                if name.partition("/")[0] == "kafka" and not (isinstance(node, Leaf) and node.text):
                    part = node if isinstance(node, Branch) else Branch((), node.line)
                    source = _source(part, file, role, COLLECTOR, f"{section[:-1]} {name}")
                    yield replace(source, values=_with_topics(source.values))


def _with_topics(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values with the topics of all signals as one list, where the file names them."""
    named = [value for name, value in values.items() if name.rpartition(".")[2] in ("topic", "topics")]
    if not named:
        return dict(values)
    text = ",".join(value.text for value in named if value.text)
    return {**values, "topics": replace(named[0], name="topics", text=text, resolved=all(v.resolved for v in named))}


def _source(node: Branch, file: str, role: Role, tool: Tool, shown: str) -> Source:
    values: dict[str, Value] = {}
    for key, leaf in flatten(node):
        name = _name_of(key, tool)
        words = tool.words.get(name, {})
        text = words.get((leaf.text or "").lower(), leaf.text)
        if name.endswith(".ms") and not key.endswith("ms") and (milliseconds := duration_ms(text)) is not None:
            text = str(milliseconds)
        values[name] = value_of(key, replace(leaf, text=text, words=turned(words)), file, name)
    return Source(
        Place(file, node.line),
        values,
        shown,
        role,
        tool.client,
        hints=(tool.title.lower(),),
        framework=tool.defaults.get(role, {}),
        recognized_by=f"{tool.title} {shown}",
    )


def _name_of(key: str, tool: Tool) -> str:
    """Return the client's name for a key of the tool."""
    named = {**_COMMON, **tool.names}.get(key)
    for prefix in tool.maps if named is None else ():
        if key.startswith(f"{prefix}."):
            return key[len(prefix) + 1 :]
    return named or (key.replace("_", ".") if tool is LOGSTASH else key)
