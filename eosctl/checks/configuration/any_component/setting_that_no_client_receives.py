"""EOS-CFG-168."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

_RECEIVERS: Final = {Role.BROKER: "The broker does not receive", Role.TOPIC: "The topic does not receive"}
_IMPACTS: Final = {Role.FLINK: "Flink refuses the table."}


@check(
    "EOS-CFG-168",
    "Setting of a client where no client receives it",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(),
    reads=(),
    references=(
        "KIP-458",
        "org.springframework.boot.autoconfigure.kafka.KafkaProperties",
        "org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicTableFactory",
    ),
)
def setting_that_no_client_receives(case: Case) -> Iterator[Problem]:
    """Find settings of Kafka's clients next to the place from which a framework hands settings to them.

    What it checks:
        Settings of exactly-once under spring.kafka without properties or next to it, of a connector without
        producer.override or consumer.override, of a worker with them, of a Flink table without properties, of Alpakka
        or Pekko outside of kafka-clients, under beginnings that Quarkus, SmallRye, Micronaut, or Spring Cloud Stream do
        not pass on, of Kafka Streams under Spring Cloud Stream's binder of message channels, outside of config in
        Strimzi's resources, and in variables of containers whose image reads others.

    Why it matters for exactly-once:
        No client receives them, and the defaults hold: a consumer reads uncommitted records, and a producer has
        another timeout than the file shows.

    Example:
        spring.kafka.producer.transaction.timeout.ms=30000; consumer.isolation.level in a connector.

    Fix:
        Write the key that the finding names.

    Verify:
        eosctl config lint reports it no longer.
    """
    seen: set[object] = set()
    for component in case.deployment.components:
        for value in component.unread:
            if (value.place, value.key) in seen:
                continue
            seen.add((value.place, value.key))
            yield problem(
                component,
                (value,),
                f"{_RECEIVERS.get(component.role, 'No client of Kafka receives')} {value.key}.",
                confidence=Confidence.LIKELY,
                impact=_IMPACTS.get(component.role, "It is ignored, and the default holds."),
                remedy=f"Write {value.name}.",
            )
