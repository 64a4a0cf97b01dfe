"""EOS-CFG-035."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.advice import ENOUGH_REPLICAS, three_replicas
from eosctl.checks.configuration.broker_clusters import is_only_broker, known_number
from eosctl.checks.configuration.clients import concerns_tests_alone, exactly_once_streams
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Deployment, Role, ValueSource
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence


@check(
    "EOS-CFG-035",
    "Topics are created with one replica or acknowledged by one",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    references=("KIP-733",),
    reads=("min.insync.replicas", "default.replication.factor"),
    tags=("durability",),
)
def broker_defaults_not_durable(case: Case) -> Iterator[Problem]:
    """Find brokers that write down a durability of one.

    What it checks:
        min.insync.replicas=1 and default.replication.factor=1, where they were written down. Nothing
        is reported where the platform starts one broker in all: more replicas have no place there. Also
        default.replication.factor left at its default of 1 on the only cluster of the input, of three or more brokers,
        while an exactly-once Streams application has replication.factor=-1, its default since 3.0.

    Why it matters for exactly-once:
        A record of a committed transaction that only the leader holds is lost with the leader. Internal topics of
        Streams use the brokers' defaults since 3.0.

    Example:
        default.replication.factor=1 from a quick start.

    Fix:
        Set default.replication.factor=3 and min.insync.replicas=2.

    Verify:
        eosctl config lint reports it no longer.
    """
    relying = _relying_on_default(case.deployment)
    for broker in case.deployment.of(Role.BROKER):
        if is_only_broker(case.deployment, broker):
            continue
        for name, wanted in (("default.replication.factor", 3), ("min.insync.replicas", 2)):
            value = broker.value(name)
            if value.is_given and value.number == 1:
                yield problem(
                    broker,
                    (value,),
                    f"{name} is 1.",
                    impact="Acknowledged records of committed transactions are lost with one broker.",
                    remedy=three_replicas(case.deployment, name) if wanted == 3 else f"Set {name}={wanted}.",
                )
        factor = broker.value("default.replication.factor")
        is_silent = factor.source is ValueSource.DEFAULT and factor.number == 1
        if is_silent and relying is not None:
            yield problem(
                broker,
                (factor,),
                f"default.replication.factor is not set, and its default is 1. {relying.name} creates its topics "
                "with as many replicas.",
                confidence=Confidence.LIKELY,
                impact="The loss of one broker loses the state of an exactly-once application.",
                remedy=f"Set {factor.name}={ENOUGH_REPLICAS}. Internal topics that exist keep their replicas.",
            )


def _relying_on_default(deployment: Deployment) -> Component | None:
    """Return an exactly-once Streams application with the replicas that the brokers set, where these are several."""
    if known_number(deployment) < ENOUGH_REPLICAS:
        return None
    return next(
        (
            streams
            for streams in exactly_once_streams(deployment)
            if streams.number("replication.factor") == -1
            and not any(name.startswith("ksql.") for name in streams.given)
            and not concerns_tests_alone(deployment, streams, streams.value("processing.guarantee"))
        ),
        None,
    )
