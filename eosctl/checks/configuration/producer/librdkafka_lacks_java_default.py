"""EOS-CFG-071."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import is_transactional, librdkafka_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

BATCHES_REMEMBERED: Final = 5


@check(
    "EOS-CFG-071",
    "librdkafka producer relies on a default that only Java has",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.PRODUCER,),
    reads=(
        "enable.idempotence",
        "max.in.flight.requests.per.connection",
        "acks",
    ),
    tags=("librdkafka",),
    references=("KIP-679",),
)
def librdkafka_lacks_java_default(case: Case) -> Iterator[Problem]:
    """Find librdkafka producers that look idempotent and are not.

    What it checks:
        A librdkafka producer that writes acks=all together with a bound of five or fewer requests in flight, which
        idempotence alone asks for, but neither enable.idempotence nor a transactional id.

    Why it matters for exactly-once:
        Idempotence is on by default in Java since 3.0; librdkafka's default is false. Retries of this producer are
        written twice.

    Example:
        A Java configuration copied to a Python service: acks=all, max.in.flight=5.

    Fix:
        Set enable.idempotence=true.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in librdkafka_producers(case.deployment):
        acks, flight = producer.value("acks"), producer.value("max.in.flight.requests.per.connection")
        if producer.value("enable.idempotence").is_given or is_transactional(producer) or not acks.is_given:
            continue
        if acks.word in ("all", "-1") and flight.is_given and (flight.number or 0) in range(1, BATCHES_REMEMBERED + 1):
            yield problem(
                producer,
                (flight, acks, producer.value("enable.idempotence")),
                "acks and requests in flight suit an idempotent producer, but librdkafka's default is not idempotent.",
                confidence=Confidence.LIKELY,
                impact="Retried records are written twice.",
                remedy="Set enable.idempotence=true.",
            )
