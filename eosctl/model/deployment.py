"""Resolved configurations of brokers and applications, with the place of each value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from eosctl.model.parameter import ParameterTable, Release

JOINED_BY: Final = ("controller.quorum.voters", "controller.quorum.bootstrap.servers", "zookeeper.connect")
"""The settings by which a broker joins a cluster."""
ALL_BROKERS: Final = "all brokers"
"""The name of what stands for every broker: defaults that a tool printed without the brokers."""


class Role(StrEnum):
    """The role of a configured component."""

    BROKER = "broker"
    TOPIC = "topic"
    PRODUCER = "producer"
    CONSUMER = "consumer"
    STREAMS = "streams"
    CONNECT_WORKER = "connect-worker"
    SOURCE_CONNECTOR = "source-connector"
    SINK_CONNECTOR = "sink-connector"
    MIRROR_MAKER = "mirror-maker"
    FLINK = "flink"
    SPRING = "spring"
    ACCESS_RULE = "access-rule"


FRAMEWORKS: Final = (Role.SPRING, Role.FLINK)
"""Roles that pass settings to Kafka's clients and have additional ones."""


class Client(StrEnum):
    """The client library, or another server than Kafka's own, which determines names and defaults."""

    JAVA = "java"
    LIBRDKAFKA = "librdkafka"
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"
    KAFKAJS = "KafkaJS"
    SARAMA = "sarama"
    KAFKA_GO = "kafka-go"
    FRANZ_GO = "franz-go"
    RSKAFKA = "rskafka"
    RUBY_KAFKA = "ruby-kafka"
    PHPKAFKA = "phpkafka"
    REDPANDA = "Redpanda"
    OTHER = "another library's"


PYTHON_CLIENTS: Final = (Client.KAFKA_PYTHON, Client.AIOKAFKA)
"""Clients with settings as keyword arguments that reject unknown ones."""
TABULATED: Final = (Client.JAVA, Client.LIBRDKAFKA, *PYTHON_CLIENTS)
"""Clients with a table of every setting; for others only a few defaults are known."""


def table_name(role: Role, client: Client) -> str:
    """Return the name of the table that declares the settings of a client or server."""
    own = client is Client.REDPANDA or (client is not Client.JAVA and role in (Role.PRODUCER, Role.CONSUMER))
    return client.value if own else role.value


class Place(NamedTuple):
    """A line of a file, counted from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class ValueSource(StrEnum):
    """The source of a value, strongest first."""

    GIVEN = "given"
    FRAMEWORK = "framework-default"
    DEFAULT = "default"


class Value(msgspec.Struct, frozen=True):
    """A resolved setting.

    `name` is the component's own name for it, `key` the key in the file, with its prefix. A `text` that refers to
    something outside of the file is not resolved, nor is that of a key that stands alone (None): no conclusions may be
    drawn from it. `owner` is the file of the component that a default belongs to. `words` are pairs of a word of
    Kafka's and the word that the file has for it, where these differ: `all` and `WaitForAll`.
    """

    name: str
    text: str | None
    key: str
    place: Place | None = None
    source: ValueSource = ValueSource.GIVEN
    resolved: bool = True
    owner: str = ""
    words: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        """Return the name and the place: the text may be a secret, and a traceback shows this."""
        return f"{type(self).__name__}({self.name!r}, {self.place}, {self.source.value})"

    @property
    def file(self) -> str:
        """Return the file that determines it: its own, or that of the component with the default."""
        return self.owner if self.place is None else self.place.file

    @property
    def number(self) -> int | None:
        """Return the value as a whole number, as Kafka parses it; None if it is not a number or not resolved."""
        if self.text is None or not self.resolved:
            return None
        try:
            # Kafka trims values before it parses them; underscores are valid in Python only.
            return None if "_" in self.text else int(self.text.strip())
        except ValueError:
            return None

    @property
    def flag(self) -> bool | None:
        """Return the value as Kafka parses a boolean: `true` or `false` in any case, else None."""
        if self.text is None or not self.resolved:
            return None
        return {"true": True, "false": False}.get(self.text.strip().lower())

    @property
    def word(self) -> str | None:
        """Return the trimmed text; None if it is absent or not resolved."""
        return None if self.text is None or not self.resolved else self.text.strip()

    @property
    def is_given(self) -> bool:
        """Return whether it is set explicitly."""
        return self.source is ValueSource.GIVEN


class Component(msgspec.Struct, frozen=True, eq=False):
    """One configured thing.

    Attributes:
        role: What it is.
        name: What people call it: its file, or file and name within.
        place: Where its configuration begins.
        application: Equal for components that are parts of one application or server.
        given: Values that were written down, by their name within the component.
        framework: Defaults that the surrounding framework (Streams, Connect, Spring) sets over the component's own.
        defaults: The component's own defaults in `release`.
        release: The Kafka release whose defaults hold.
        client: Whose client it is.
        inside: The role that it is a part of: the producer inside a Streams application.
        forced: Names whose given values the framework ignores.
        release_named: Whether the user or the file named the release; else it is the newest one known.
        cluster: The cluster that it configures as a whole, where one thing stands for all its brokers; else empty.
        recognized_by: The key, or the name of the surroundings, that shows the role; empty if no single one does.
        instances: How many processes run with it, by the description of the platform; None if none shows that.
        described_by: The file that describes its cluster as a whole, as a Compose file does; empty if several files of
            a folder may be parts of one.
        others: What else it may be, where no key decides: components of these roles stand for the same settings.
        environment: The file of the one environment that it holds for; empty if it holds for any.
        secrets: The names of the Secrets that its workload reads.
        unread: Settings of Kafka's clients that no client receives from where they stand; the name of each is the key
            that would hand it over.
        topics: Names of topics under keys of the application's own, by these keys.
    """

    role: Role
    name: str
    place: Place
    application: str
    given: Mapping[str, Value] = msgspec.field(default_factory=dict)
    framework: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    defaults: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    release: Release = (4, 4)
    client: Client = Client.JAVA
    inside: Role | None = None
    forced: frozenset[str] = frozenset()
    release_named: bool = False
    cluster: str = ""
    recognized_by: str = ""
    instances: Value | None = None
    described_by: str = ""
    others: tuple[Role, ...] = ()
    environment: str = ""
    secrets: frozenset[str] = frozenset()
    unread: tuple[Value, ...] = ()
    topics: tuple[Value, ...] = ()

    def value(self, name: str) -> Value:
        """Return the effective value: the given one, the framework's default, or the component's own."""
        found = self.given.get(name)
        if found is not None and name not in self.forced:
            return found
        if name in self.framework:
            return Value(name, self.framework[name], name, source=ValueSource.FRAMEWORK, owner=self.place.file)
        return Value(name, self.defaults.get(name), name, source=ValueSource.DEFAULT, owner=self.place.file)

    def number(self, name: str) -> int | None:
        """Return a setting as a whole number."""
        return self.value(name).number

    def flag(self, name: str) -> bool | None:
        """Return a setting as a boolean."""
        return self.value(name).flag

    def word(self, name: str) -> str | None:
        """Return a setting as trimmed text."""
        return self.value(name).word

    def is_unknown(self, name: str) -> bool:
        """Return whether a setting is not set, and the default of its client library or image is unknown."""
        if self.role is Role.BROKER and name not in self.given and self.framework.get(name, "") is None:
            return True
        is_known = name in self.given or name in self.framework or name in self.defaults
        return self.client not in TABULATED and not is_known

    def has(self, name: str) -> bool:
        """Return whether a setting is set explicitly."""
        return name in self.given


class Variation(NamedTuple):
    """A deployment where one condition of a template, which nothing decides, does not hold.

    Attributes:
        condition: The condition as the template has it.
        place: Where it stands.
        components: All components of the deployment without the settings that the condition guards.
    """

    condition: str
    place: Place
    components: tuple[Component, ...]


class Deployment(msgspec.Struct, frozen=True, dict=True):
    """Everything that was configured together, including parts of applications, with Kafka's declarations.

    `components` has all settings that an undecided condition of a template guards, each of the `variations` lacks some.
    """

    components: tuple[Component, ...] = ()
    tables: Mapping[str, ParameterTable] = msgspec.field(default_factory=dict)
    variations: tuple[Variation, ...] = ()

    def joined_by(self, components: Iterable[Component]) -> Deployment:
        """Return the deployment with further components."""
        others = tuple(components)
        variations = tuple(one._replace(components=(*one.components, *others)) for one in self.variations)
        return Deployment((*self.components, *others), self.tables, variations)

    def table(self, component: Component) -> ParameterTable | None:
        """Return the declarations that a component's settings follow."""
        found = self.tables.get(table_name(component.role, component.client))
        return None if found is None or component.role in FRAMEWORKS else found

    def framework_table(self, component: Component) -> ParameterTable | None:
        """Return the declarations of a framework's own settings; None for Kafka's components."""
        return self.tables.get(component.role.value) if component.role in FRAMEWORKS else None

    def of(self, *roles: Role) -> tuple[Component, ...]:
        """Return the components with one of these roles."""
        found = [self._by_role[role] for role in dict.fromkeys(roles) if role in self._by_role]
        if len(found) < 2:
            return found[0] if found else ()
        return tuple(component for component in self.components if component.role in roles)

    def same_application(self, component: Component, *roles: Role) -> tuple[Component, ...]:
        """Return the components of the same application and environment with one of these roles."""
        near = self._by_application.get((component.application, component.environment), {})
        return tuple(other for role in roles for other in near.get(role, ()) if other is not component)

    @cached_property
    def unresolved(self) -> tuple[tuple[Component, str, Value], ...]:
        """The values that refer to something outside of the files, with their component and their name in it."""
        return tuple(
            (component, name, value)
            for component in self.components
            for name, value in component.given.items()
            if not value.resolved
        )

    @cached_property
    def unresolved_by_name(self) -> Mapping[str, Sequence[int]]:
        """The positions of unresolved values by the name of each, and by what stands behind a dot in it."""
        found: dict[str, list[int]] = {}
        for number, (_, name, _) in enumerate(self.unresolved):
            rest, dot = name, "."
            while dot:
                found.setdefault(rest, []).append(number)
                _, dot, rest = rest.partition(".")
        return found

    @cached_property
    def with_unknown_defaults(self) -> tuple[Component, ...]:
        """The components with a default that is not known, as the client library or the image decides it."""
        return tuple(
            one
            for one in self.components
            if one.client not in TABULATED or (one.role is Role.BROKER and None in one.framework.values())
        )

    def same_cluster(self, broker: Component) -> Sequence[Component]:
        """Return the brokers of a broker's cluster and folder, itself included."""
        return self._by_cluster.get((folder_of(broker), cluster_of(broker)), ())

    def brokers_near(self, component: Component) -> Sequence[Component]:
        """Return the brokers of the description or of the folder that a component's file belongs to."""
        return self._by_scope.get(_scope_of(component), ())

    @cached_property
    def _by_scope(self) -> Mapping[str, Sequence[Component]]:
        found: dict[str, list[Component]] = {}
        for broker in self.of(Role.BROKER):
            found.setdefault(_scope_of(broker), []).append(broker)
        return found

    @cached_property
    def _by_cluster(self) -> Mapping[tuple[str, str], Sequence[Component]]:
        found: dict[tuple[str, str], list[Component]] = {}
        for broker in self.of(Role.BROKER):
            found.setdefault((folder_of(broker), cluster_of(broker)), []).append(broker)
        return found

    @cached_property
    def _by_role(self) -> Mapping[Role, tuple[Component, ...]]:
        found: dict[Role, list[Component]] = {}
        for component in self.components:
            found.setdefault(component.role, []).append(component)
        return {role: tuple(components) for role, components in found.items()}

    @cached_property
    def _by_application(self) -> Mapping[tuple[str, str], Mapping[Role, list[Component]]]:
        found: dict[tuple[str, str], dict[Role, list[Component]]] = {}
        for component in self.components:
            near = found.setdefault((component.application, component.environment), {})
            near.setdefault(component.role, []).append(component)
        return found


class Difference(msgspec.Struct, frozen=True):
    """A setting with two meanings; the sources are file:line, or the owner of a default."""

    role: str
    setting: str
    left: str
    right: str
    left_source: str
    right_source: str


def cluster_of(broker: Component) -> str:
    """Return the cluster that a broker stands for or joins, else its file; each environment has one of its own."""
    where = f"{broker.described_by} ".lstrip()
    end = f" with {broker.environment}" if broker.environment else ""
    if broker.cluster:
        return f"{where}{broker.cluster}{end}"
    for name in JOINED_BY:
        if broker.has(name) and broker.word(name):
            return f"{where}{name}={broker.word(name)}{end}"
    return (broker.described_by or (broker.place.file if broker.place.line else "the running cluster")) + end


def _scope_of(component: Component) -> str:
    return component.described_by or folder_of(component)


def folder_of(component: Component) -> str:
    """Return the folder of a component's file: copies for other environments stand in other folders."""
    return component.place.file.rpartition("/")[0]
