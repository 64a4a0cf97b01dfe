"""EOS-CFG-024."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-024",
    "Heartbeat interval is not below the session timeout",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.CONSUMER,),
    reads=("heartbeat.interval.ms", "session.timeout.ms"),
)
def heartbeat_not_below_session(case: Case) -> Iterator[Problem]:
    """Find consumers that are declared dead between two heartbeats.

    What it checks:
        heartbeat.interval.ms < session.timeout.ms; equal values are refused. Not judged with
        group.protocol=consumer, where the brokers decide.

    Why it matters for exactly-once:
        Kafka's own consumer throws an IllegalArgumentException. Other libraries start, and their consumers are
        removed from the group before each heartbeat: records since the last commit are processed again.

    Example:
        session.timeout.ms=3000, the value of the heartbeat's default.

    Fix:
        Let the heartbeat be a third of the session timeout.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        beat, session = consumer.value("heartbeat.interval.ms"), consumer.value("session.timeout.ms")
        if beat.number is None or session.number is None or _leaves_it_to_brokers(consumer):
            continue
        if (beat.is_given or session.is_given) and beat.number >= session.number:
            yield problem(
                consumer,
                (beat, session) if beat.is_given else (session, beat),
                f"heartbeat.interval.ms is {beat.number:,} ms, session.timeout.ms {session.number:,} ms.",
                impact="A consumer of Java or kafka-python does not start; the group removes any other before its next "
                "heartbeat, and rebalances again and again.",
                remedy=f"Set heartbeat.interval.ms to {max(1, session.number // 3)}, or raise session.timeout.ms.",
            )


def _leaves_it_to_brokers(consumer: Component) -> bool:
    return consumer.release >= (3, 7) and (consumer.word("group.protocol") or "").lower() == "consumer"
