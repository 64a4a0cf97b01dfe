"""EOS-CFG-142."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-142",
    "librdkafka's poll interval is shorter than its session timeout",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.CONSUMER,),
    reads=("max.poll.interval.ms", "session.timeout.ms", "group.protocol"),
    tags=("librdkafka",),
    references=("rdkafka_conf.c",),
)
def poll_interval_below_session(case: Case) -> Iterator[Problem]:
    """Find consumers of librdkafka's family that cannot be created because of two timeouts.

    What it checks:
        max.poll.interval.ms >= session.timeout.ms where one of them is written down; equal values are accepted. The
        session's default is 10 s before librdkafka 1.7 and 45 s since (--librdkafka-version). Not with
        group.protocol=consumer, where brokers keep the session.

    Why it matters for exactly-once:
        The consumer is not created. A short poll interval that served for years is refused after an upgrade.

    Example:
        max.poll.interval.ms=30000 and nothing else, with librdkafka 1.7 or later.

    Fix:
        Set session.timeout.ms to no more than max.poll.interval.ms, or raise max.poll.interval.ms.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        poll, session = consumer.value("max.poll.interval.ms"), consumer.value("session.timeout.ms")
        if consumer.client is not Client.LIBRDKAFKA or (consumer.word("group.protocol") or "").lower() == "consumer":
            continue
        if poll.number is None or session.number is None or not (poll.is_given or session.is_given):
            continue
        if poll.number < session.number:
            yield problem(
                consumer,
                (poll, session) if poll.is_given else (session, poll),
                f"max.poll.interval.ms is {poll.number:,} ms, session.timeout.ms {session.number:,} ms.",
                impact="librdkafka does not create the consumer.",
                remedy=f"Set session.timeout.ms to {poll.number} or less, or raise max.poll.interval.ms.",
            )
