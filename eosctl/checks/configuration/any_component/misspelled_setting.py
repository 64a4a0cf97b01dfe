"""EOS-CFG-089."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import TABULATED, Component, Deployment, Role, Value
from eosctl.model.parameter import ParameterTable, relaxed
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

NEVER_EXISTED: Final = {
    "transactional.id.timeout.ms": "transactional.id.expiration.ms",
    "max.transaction.timeout.ms": "transaction.max.timeout.ms",
    "transaction.timeout": "transaction.timeout.ms",
    "transaction.id": "transactional.id",
    "isolation": "isolation.level",
    "idempotence": "enable.idempotence",
    "idempotence.enable": "enable.idempotence",
    "idempotent": "enable.idempotence",
    "auto.commit": "enable.auto.commit",
    "auto.commit.enable": "enable.auto.commit",
    "autocommit": "enable.auto.commit",
    "auto.commit.enabled": "enable.auto.commit",
    "enable.autocommit": "enable.auto.commit",
    "max.in.flight.requests": "max.in.flight.requests.per.connection",
    "transaction.state.log.min.insync.replicas": "transaction.state.log.min.isr",
    "transaction.state.replication.factor": "transaction.state.log.replication.factor",
    "exactly.once.source.enabled": "exactly.once.source.support",
    "guarantee": "processing.guarantee",
}
SPRING: Final = "spring.kafka."
FLINK: Final = ("sink.", "scan.")
_INDEX: Final = re.compile(r"\[\d+\]$")
RELEVANT: Final = (
    "acks",
    "commit.interval.ms",
    "delivery.timeout.ms",
    "enable.auto.commit",
    "enable.idempotence",
    "exactly.once.source.support",
    "exactly.once.support",
    "isolation.level",
    "max.in.flight.requests.per.connection",
    "max.poll.interval.ms",
    "min.insync.replicas",
    "num.standby.replicas",
    "offsets.topic.replication.factor",
    "processing.guarantee",
    "producer.id.expiration.ms",
    "transaction.max.timeout.ms",
    "transaction.partition.verification.enable",
    "transaction.state.log.min.isr",
    "transaction.state.log.replication.factor",
    "transaction.timeout.ms",
    "transactional.id",
    "transactional.id.expiration.ms",
    "unclean.leader.election.enable",
)


@lru_cache(maxsize=65_536)
def _ends_known(name: str, known: frozenset[str]) -> bool:
    """Return whether a name is known, or one of several words is behind any prefix; single words end many keys."""
    parts = name.split(".")[-_most_parts(known) :]
    return name in known or any(".".join(parts[start:]) in known for start in range(len(parts) - 1))


@lru_cache(maxsize=8)
def _most_parts(known: frozenset[str]) -> int:
    return max((name.count(".") + 1 for name in known), default=1)


_SERVERS: Final = (
    *(Role.BROKER, Role.TOPIC, Role.CONNECT_WORKER, Role.SOURCE_CONNECTOR, Role.SINK_CONNECTOR, Role.MIRROR_MAKER),
)
_OVERRIDES: Final = re.compile(r"(?:producer|consumer|admin)\W+override\b")
_BY_LETTERS: Final = {relaxed(name): name for name in RELEVANT if "." in name}
_MOST_SEPARATED: Final = 64
SIMILAR: Final = 0.9
"""How much a key must resemble a setting that exactly-once depends on."""
NEARLY_EQUAL: Final = 0.95
"""How much it must resemble any other setting of its component: one letter in ten."""
OWN_NAMES: Final = frozenset({"bootstrap.server"})
"""What applications call their own settings, which they pass to Kafka under its names."""
READ_BY_KAFKA: Final = (".properties", ".cfg", ".config", ".conf")


@check(
    "EOS-CFG-089",
    "Misspelled setting",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(),
    reads=(),
    references=("org.apache.kafka.common.config.ConfigDef",),
)
def misspelled_setting(case: Case) -> Iterator[Problem]:
    """Find misspelled settings of exactly-once.

    What it checks:
        Keys that no table knows and that differ by little from a setting that exactly-once depends on, or by a letter
        from any other setting of the component; settings of exactly-once with dashes, underscores, or capitals in the
        place of dots, where Kafka reads the key as it stands; names from articles that never existed; and names under
        spring.kafka, or of Flink's connector, that differ by little from one that it has. Variables that a client's
        program reads may have any name.

    Why it matters for exactly-once:
        Kafka ignores what it does not know with one line in the log; the default holds instead.

    Example:
        transaction.timeout=60000; max.transaction.timeout.ms on a broker.

    Fix:
        Write the name as Kafka spells it.

    Verify:
        eosctl config lint reports it no longer.
    """
    known = frozenset(name for table in case.deployment.tables.values() for name in (*table.parameters, *table.aliases))
    seen: set[object] = set()
    for component in case.deployment.components:
        if component.client not in TABULATED:
            continue  # names of others are not compared
        if (table := case.deployment.framework_table(component)) is not None:
            yield from _of_framework(component, table)
            continue
        for name, value in component.given.items():
            if value.place in seen or (name not in NEVER_EXISTED and _ends_known(name, known)):
                continue
            is_kafkas_own = _is_read_as_it_stands(component, value) and not _is_plugins(component, name)
            meant = _separated(name) if is_kafkas_own else ""
            if not meant and component.role is Role.MIRROR_MAKER:
                continue  # its names begin with those of clusters
            if not meant and "." not in name and not _is_kafkas(component, value):
                continue  # a single word in another file is the application's own
            if not meant and component.role not in _SERVERS and _is_variable(value):
                continue  # the program reads it, and passes it to Kafka under its name
            meant = meant or NEVER_EXISTED.get(name) or _meant(case.deployment, component, name)
            if meant:
                seen.add(value.place)
                yield problem(
                    component,
                    (value,),
                    f"{value.key} is not a setting of Kafka; {meant} is.",
                    confidence=Confidence.LIKELY,
                    impact="It is ignored, and the default holds.",
                    remedy=f"Write {meant}.",
                )


def _is_read_as_it_stands(component: Component, value: Value) -> bool:
    """Return whether Kafka reads the key as the file has it; in other files an application may spell it its own way."""
    is_in_properties = value.place is not None and value.place.file.endswith(READ_BY_KAFKA)
    return component.role in _SERVERS or is_in_properties or value.key.startswith("spring.kafka.")


def _is_plugins(component: Component, name: str) -> bool:
    """Return whether a key is one of a connector's own names: Iceberg's has ``iceberg.control.commit.interval-ms``."""
    is_connectors = component.role in (Role.SOURCE_CONNECTOR, Role.SINK_CONNECTOR)
    return is_connectors and not _OVERRIDES.match(name) and relaxed(name) not in _BY_LETTERS


@lru_cache(maxsize=65_536)
def _separated(name: str) -> str:
    """Return a key whose end is a setting of exactly-once but for dashes, underscores, and capitals, as Kafka has it.

    >>> _separated("a.consumer.isolation-level"), _separated("isolation.level")
    ('a.consumer.isolation.level', '')
    """
    parts = name.split(".")
    # A name of Kafka has few letters, and so few parts: a longer end of the key is none.
    for start in range(max(len(parts) - _MOST_SEPARATED, 0), len(parts)):
        rest = ".".join(parts[start:])
        meant = _BY_LETTERS.get(relaxed(rest), rest)
        if meant != rest:
            return ".".join((*parts[:start], meant))
    return ""


def _is_variable(value: Value) -> bool:
    """Return whether a key is a variable of the environment; no client of Kafka's reads those."""
    return "_" in value.key and value.key.isupper()


def _is_kafkas(component: Component, value: Value) -> bool:
    """Return whether Kafka's own names stand next to a single word, in a file that Kafka reads."""
    is_read = value.place is not None and value.place.file.endswith(READ_BY_KAFKA)
    return is_read and any("." in name for name in component.given)


def _meant(deployment: Deployment, component: Component, name: str) -> str:
    """Return the setting that a key was meant to be; empty for a name of the application's own."""
    close = _close_relevant(name)
    table = deployment.table(component)
    if close or table is None or name in OWN_NAMES:
        return close
    near = _nearly_equal(name, tuple(table.parameters))
    return next((one for one in near if not component.has(one)), "")


@lru_cache(maxsize=4096)
def _close_relevant(name: str) -> str:
    return next(iter(get_close_matches(name, RELEVANT, 1, SIMILAR)), "")


@lru_cache(maxsize=4096)
def _nearly_equal(name: str, settings: tuple[str, ...]) -> tuple[str, ...]:
    """Return the settings with as many parts that a name nearly equals, the nearest first."""
    return tuple(
        get_close_matches(name, [one for one in settings if one.count(".") == name.count(".")], 9, NEARLY_EQUAL)
    )


def _of_framework(component: Component, table: ParameterTable) -> Iterator[Problem]:
    """Compare the names that begin as a framework's own do; below a map anything may stand."""
    spring = component.role is Role.SPRING
    maps = tuple(relaxed(p.name.removeprefix(SPRING)) for p in table.parameters.values() if p.type == "map")
    names = table.aliases if spring else {name: name for name in table.parameters}
    for name, value in component.given.items():
        bare = relaxed(_INDEX.sub("", name)) if spring else name
        own = not name.startswith("binder.") if spring else name.startswith(FLINK)
        if not own or bare in names or (spring and bare.startswith(maps)):
            continue
        meant = next(iter(get_close_matches(bare, names, 1, 0.9)), "")
        if meant:
            yield problem(
                component,
                (value,),
                f"{value.key} is not a setting of {table.software}; {names[meant]} is.",
                confidence=Confidence.LIKELY,
                impact="It is ignored, and the default holds." if spring else "The table cannot be used.",
                remedy=f"Write {names[meant]}.",
            )
