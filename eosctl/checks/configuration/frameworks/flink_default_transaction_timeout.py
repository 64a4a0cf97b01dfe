"""EOS-CFG-005."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import BROKER_MAX_TIMEOUT_MS, broker_limits, is_transactional, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-005",
    "Flink's default transaction timeout is larger than the broker allows",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.FLINK,),
    reads=("sink.delivery-guarantee", "properties.transaction.timeout.ms"),
    tags=("timeout",),
)
def flink_default_transaction_timeout(case: Case) -> Iterator[Problem]:
    """Find exactly-once Flink sinks that leave the transaction timeout to the connector.

    What it checks:
        Flink's KafkaSink sets transaction.timeout.ms to 1 hour unless it is configured; brokers allow 15 minutes by
        default.

    Why it matters for exactly-once:
        The job fails when it opens its first transaction.

    Example:
        'sink.delivery-guarantee' = 'exactly-once' without 'properties.transaction.timeout.ms', against brokers with
        defaults.

    Fix:
        Set properties.transaction.timeout.ms to at most the brokers' transaction.max.timeout.ms, and well above
        checkpoint interval, checkpoint duration and restart time together.

    Verify:
        eosctl config lint reports it no longer.
    """
    brokers = broker_limits(case.deployment, "transaction.max.timeout.ms")
    limit = min((number for _, _, number in brokers), default=BROKER_MAX_TIMEOUT_MS)
    for producer in case.deployment.of(Role.PRODUCER):
        timeout = producer.value("transaction.timeout.ms")
        if producer.inside is not Role.FLINK or not is_transactional(producer) or timeout.is_given:
            continue
        if timeout.number is not None and timeout.number > limit:
            sink = next(flink for flink in case.deployment.same_application(producer, Role.FLINK))
            guarantee = sink.value("sink.delivery-guarantee")
            yield problem(
                sink,
                (guarantee,),
                f"Flink's transaction timeout is {minutes(timeout.number)}; the broker allows {minutes(limit)}.",
                impact="The job fails when it opens its first transaction.",
                remedy=f"Set properties.transaction.timeout.ms to at most {limit}.",
            )
