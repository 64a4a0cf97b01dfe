"""EOS-CFG-011."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import (
    demands_idempotence,
    has_transactions,
    is_idempotent_by_default,
)
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Component, Role, ValueSource
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

FEWER_REPLICAS: Final = frozenset({"0", "1"})
_IMPACTS: Final = {Client.KAFKAJS: "KafkaJS refuses every send."}
# Where a framework takes acks from.
OWN_NAMES: Final = {Role.SPRING: "spring.cloud.stream.kafka.binder.required-acks"}


@check(
    "EOS-CFG-011",
    "Idempotence and acks contradict each other",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.PRODUCER,),
    reads=("acks", "enable.idempotence"),
    references=(
        "KIP-98",
        "KIP-679",
        "KAFKA-13598",
        "io.smallrye.reactive.messaging.kafka.impl.ReactiveKafkaProducer",
    ),
)
def idempotence_without_all_acks(case: Case) -> Iterator[Problem]:
    """Find producers whose acks rule idempotence out.

    What it checks:
        acks other than all (or -1) with enable.idempotence=true or a transactional.id; and acks other than all
        where only the default of Kafka 3.0 makes the producer idempotent: acks=1 is information where nothing of the
        input writes in transactions. Other words than 0 and 1 are those of EOS-CFG-088. Spring Cloud Stream sets
        acks=1 unless required-acks says otherwise. Logstash's own default is 1, too: a warning, as the file is silent.
        So is that of SmallRye's outgoing channels (Quarkus): information where none asks for idempotence.

    Why it matters for exactly-once:
        A contradiction that is written down ends in a ConfigException. Where idempotence comes from the default,
        the producer silently goes without it, and retries duplicate records.

    Example:
        acks=1 kept from an older configuration: since 3.0 it is the one line that turns idempotence off.

    Fix:
        Remove acks or set it to all. Write enable.idempotence=true, so that contradictions fail loudly.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in case.deployment.of(Role.PRODUCER):
        if producer.client is Client.LIBRDKAFKA:
            continue  # EOS-CFG-070
        acks = producer.value("acks")
        if acks.source is ValueSource.DEFAULT or acks.word is None or acks.word.lower() not in FEWER_REPLICAS:
            continue
        if demands_idempotence(producer):
            key = acks.key if acks.is_given else OWN_NAMES.get(producer.inside or producer.role, "acks")
            setting = f"{acks.key}={acks.word}"
            if not acks.is_given:
                setting = f"acks={acks.word}, the default of {_framework(producer)},"
            yield problem(
                producer,
                (acks, producer.value("transactional.id"), producer.value("enable.idempotence")),
                f"{setting} contradicts idempotence, which needs acks=all.",
                confidence=Confidence.CERTAIN if acks.is_given or not _is_channel(producer) else Confidence.LIKELY,
                impact=_IMPACTS.get(producer.client, "The producer does not start."),
                remedy=f"Set {key}=all.",
            )
        elif acks.source is ValueSource.FRAMEWORK and producer.inside is None and is_idempotent_by_default(producer):
            yield problem(
                producer,
                (acks,),
                f"acks is not set, and {_framework(producer)} sets {acks.word}, not Kafka's all: idempotence is off.",
                severity=Severity.INFO if _is_channel(producer) else Severity.WARNING,
                impact="A retry can write a record twice, and a lost leader can lose acknowledged records.",
                remedy="Set acks=all.",
            )
        elif acks.is_given and is_idempotent_by_default(producer):
            yield problem(
                producer,
                (acks,),
                f"{acks.key}={acks.word} silently switches idempotence off, which Kafka 3.0 and later have by default.",
                severity=Severity.WARNING if has_transactions(case.deployment) or acks.word == "0" else Severity.INFO,
                impact="A retry can write a record twice, and a lost leader can lose acknowledged records.",
                remedy=f"Set {acks.key}=all and enable.idempotence=true.",
            )


def _framework(producer: Component) -> str:
    """Return the name of what sets acks where the file does not."""
    if producer.inside is not None:
        return producer.inside.capitalize()
    return "SmallRye's connector" if _is_channel(producer) else "the tool"


def _is_channel(producer: Component) -> bool:
    """Return whether a producer is an outgoing channel of MicroProfile Reactive Messaging."""
    return producer.recognized_by.lower().replace("_", ".").startswith("mp.messaging.")
