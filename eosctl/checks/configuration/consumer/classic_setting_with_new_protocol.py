"""EOS-CFG-086."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.rule import problem, rule
from eosctl.checks.declaration import Problem
from eosctl.model.deployment import Client, Deployment, Role
from eosctl.model.severity import Severity


@rule(
    "EOS-CFG-086",
    "Setting of the classic protocol with group.protocol=consumer",
    Severity.ERROR,
    roles=(Role.CONSUMER,),
    reads=("group.protocol", "heartbeat.interval.ms", "session.timeout.ms", "partition.assignment.strategy"),
    references=("KIP-848",),
)
def classic_setting_with_new_protocol(deployment: Deployment) -> Iterator[Problem]:
    """Find consumers that use the new group protocol and set what the brokers decide there.

    What it checks:
        heartbeat.interval.ms, session.timeout.ms and partition.assignment.strategy together with
        group.protocol=consumer, in Java consumers of 4.0 and later.

    Why it matters for exactly-once:
        The consumer throws a ConfigException and does not start.

    Example:
        group.protocol=consumer added to an existing configuration.

    Fix:
        Remove the settings; set group.consumer.session.timeout.ms and group.consumer.heartbeat.interval.ms on the
        brokers.

    Verify:
        eosctl config lint reports it no longer.

    References:
        KIP-848; group.protocol; heartbeat.interval.ms; session.timeout.ms; partition.assignment.strategy.
    """
    for consumer in deployment.of(Role.CONSUMER):
        protocol = consumer.value("group.protocol")
        if (
            consumer.client is not Client.JAVA
            or consumer.release < (4, 0)
            or (protocol.word or "").lower() != "consumer"
        ):
            continue
        if consumer.inside is Role.STREAMS:
            continue
        for name in ("heartbeat.interval.ms", "session.timeout.ms", "partition.assignment.strategy"):
            classic = consumer.value(name)
            if classic.is_given:
                yield problem(
                    consumer,
                    (classic, protocol),
                    f"{classic.key} cannot be set with group.protocol=consumer.",
                    impact="The consumer does not start (ConfigException).",
                    remedy=f"Remove {classic.key}; the brokers decide it.",
                )
