"""EOS-CFG-086."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Role
from eosctl.model.severity import Severity

REFUSED_SINCE: Final = {Client.JAVA: (4, 0), Client.LIBRDKAFKA: (2, 10)}


@check(
    "EOS-CFG-086",
    "Setting of the classic protocol with group.protocol=consumer",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.CONSUMER,),
    reads=("group.protocol", "heartbeat.interval.ms", "session.timeout.ms", "partition.assignment.strategy"),
    references=("KIP-848", "rdkafka_conf.c"),
)
def classic_setting_with_new_protocol(case: Case) -> Iterator[Problem]:
    """Find consumers that use the new group protocol and set what the brokers decide there.

    What it checks:
        heartbeat.interval.ms, session.timeout.ms and partition.assignment.strategy together with
        group.protocol=consumer, in Java consumers of 4.0 and later and in those of librdkafka 2.10 and later.

    Why it matters for exactly-once:
        The consumer is refused (a ConfigException in Java) and does not start.

    Example:
        group.protocol=consumer added to an existing configuration.

    Fix:
        Remove the settings; set group.consumer.session.timeout.ms and group.consumer.heartbeat.interval.ms on the
        brokers.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        protocol = consumer.value("group.protocol")
        since = REFUSED_SINCE.get(consumer.client)
        if since is None or consumer.release < since or (protocol.word or "").lower() != "consumer":
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
                    impact="The consumer is refused and does not start.",
                    remedy=f"Remove {classic.key}; the brokers decide it.",
                )
