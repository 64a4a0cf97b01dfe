"""EOS-CFG-010."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import is_transactional, java_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Component, Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-010",
    "Transactional producer with idempotence switched off",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.PRODUCER,),
    reads=("transactional.id", "enable.idempotence"),
    needs_presence_of=("transactional.id",),
    references=("KIP-98",),
)
def transactional_without_idempotence(case: Case) -> Iterator[Problem]:
    """Find producers that have a transactional id and forbid idempotence.

    What it checks:
        enable.idempotence=false together with transactional.id in a client of Java, kafka-python, sarama, franz-go, or
        KafkaJS. Those of librdkafka's family are judged by EOS-CFG-070.

    Why it matters for exactly-once:
        Transactions are built on idempotence; the producer throws a ConfigException and does not start. KafkaJS starts:
        it retries five times instead of without limit, and what is sent outside of a transaction can be written twice.

    Example:
        enable.idempotence=false, once written to save a permission, in an application that then became
        transactional.

    Fix:
        Remove enable.idempotence, or set it to true.

    Verify:
        eosctl config lint reports it no longer.
    """
    refused = "The producer does not start (ConfigException)."
    for producer in java_producers(case.deployment):
        if producer.inside not in (Role.STREAMS, Role.CONNECT_WORKER):
            yield from _contradictions(producer, None, refused)
    repeats = "KafkaJS guarantees exactly-once only with idempotent: true: retries end, and records repeat."
    for producer in case.deployment.of(Role.PRODUCER):
        if producer.client is Client.KAFKAJS:
            yield from _contradictions(producer, Severity.ERROR, repeats)


def _contradictions(producer: Component, severity: Severity | None, impact: str) -> Iterator[Problem]:
    asked = producer.value("enable.idempotence")
    if is_transactional(producer) and asked.is_given and asked.flag is False:
        yield problem(
            producer,
            (asked, producer.value("transactional.id")),
            f"{asked.key} is false, but the producer has a transactional id.",
            severity=severity,
            impact=impact,
            remedy=f"Remove {asked.key}, or set it to true.",
        )
