"""EOS-CFG-120."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence


@check(
    "EOS-CFG-120",
    "Non-blocking retries with transactions",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.SPRING,),
    reads=("retry.topic.enabled",),
    references=("KIP-98",),
)
def spring_retry_topics_with_transactions(case: Case) -> Iterator[Problem]:
    """Find Spring applications that combine retry topics with container transactions.

    What it checks:
        spring.kafka.retry.topic.enabled=true together with a transaction-id-prefix.

    Why it matters for exactly-once:
        Spring Kafka does not combine non-blocking retries with container transactions. The copy to the retry topic is
        not part of the record's transaction: after a crash it is there twice or not at all, and the order of a key is
        lost.

    Example:
        spring.kafka.retry.topic.enabled=true in an application with transaction-id-prefix.

    Fix:
        Retry within the transaction (DefaultErrorHandler with a back-off), and publish dead letters with the
        transactional template.

    Verify:
        eosctl config lint reports it no longer.
    """
    for spring in case.deployment.of(Role.SPRING):
        enabled = spring.value("retry.topic.enabled")
        if enabled.flag is not True:
            continue
        for producer in case.deployment.same_application(spring, Role.PRODUCER):
            prefix = producer.value("transactional.id")
            if prefix.is_given and prefix.text:
                yield problem(
                    spring,
                    (enabled, prefix),
                    "Retry topics are enabled in an application with transactions.",
                    confidence=Confidence.LIKELY,
                    impact="A retried record is outside of the transaction: it can be lost or processed twice.",
                    remedy="Use blocking retries, or give up the transaction.",
                )
