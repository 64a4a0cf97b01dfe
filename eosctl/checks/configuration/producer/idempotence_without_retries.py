"""EOS-CFG-012."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eosctl.checks.configuration.clients import demands_idempotence, is_idempotent_by_default, java_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Component, Deployment, Role
from eosctl.model.severity import Severity

_TIMEOUT: Final = "delivery.timeout.ms bounds the retries"
_BOUNDS: Final[Mapping[Client, str]] = {
    Client.KAFKAJS: "an idempotent producer then retries without a limit",
    Client.SARAMA: "the default is 3",
}


@check(
    "EOS-CFG-012",
    "Idempotence without retries",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.PRODUCER,),
    reads=("retries", "enable.idempotence"),
    references=("KIP-98", "KAFKA-13598"),
)
def idempotence_without_retries(case: Case) -> Iterator[Problem]:
    """Find producers that are idempotent and must not retry.

    What it checks:
        retries=0 with enable.idempotence=true or a transactional.id; and retries=0 where only the default makes the
        producer idempotent. KafkaJS (retry.retries) and sarama (Retry.Max) refuse it as Java's client does.

    Why it matters for exactly-once:
        Written down, it ends in an exception; against the default it silently switches idempotence off, and
        the first lost response loses or aborts work.

    Example:
        retries=0, set to avoid duplicates before idempotence existed.

    Fix:
        Remove retries. delivery.timeout.ms bounds how long a record is tried.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in (*java_producers(case.deployment), *_of_kafkajs(case.deployment)):
        retries = producer.value("retries")
        if not retries.is_given or retries.number != 0:
            continue
        if demands_idempotence(producer):
            yield problem(
                producer,
                (retries, producer.value("enable.idempotence")),
                f"{retries.key}=0 contradicts idempotence.",
                impact="The producer does not start.",
                remedy=f"Remove {retries.key}; {_BOUNDS.get(producer.client, _TIMEOUT)}.",
            )
        elif is_idempotent_by_default(producer):
            yield problem(
                producer,
                (retries,),
                f"{retries.key}=0 silently switches idempotence off.",
                severity=Severity.WARNING,
                impact="A lost response loses the record.",
                remedy=f"Remove {retries.key}; delivery.timeout.ms bounds the retries.",
            )


def _of_kafkajs(deployment: Deployment) -> tuple[Component, ...]:
    """Return the producers of KafkaJS that set ``idempotent``; a transactional id does not imply it."""
    return tuple(
        producer
        for producer in deployment.of(Role.PRODUCER)
        if producer.client is Client.KAFKAJS and producer.value("enable.idempotence").word == "true"
    )
