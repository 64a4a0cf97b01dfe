"""EOS-CFG-038."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.advice import three_replicas
from eosctl.checks.configuration.broker_clusters import runs_on_one_broker
from eosctl.checks.configuration.clients import concerns_tests_alone, exactly_once_streams
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

KSQL_REPLICAS: Final = "ksql.internal.topic.replicas"


@check(
    "EOS-CFG-038",
    "Internal topics of a Streams application have one replica",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.STREAMS,),
    reads=("replication.factor", KSQL_REPLICAS),
    tags=("durability",),
    references=("KIP-733",),
)
def streams_internal_topics_not_replicated(case: Case) -> Iterator[Problem]:
    """Find exactly-once Streams applications whose state is kept once.

    What it checks:
        replication.factor=1 in an exactly-once application; before 3.0 also when it is not set, because the default
        was 1. Since 3.0 the default is that of the brokers. ksql.internal.topic.replicas=1 of an exactly-once ksqlDB
        server, a warning if its state has more replicas. Applications next to the description of a cluster with one
        broker are left out. What a profile for tests or of developers, or a file under src/test, sets to 1 is
        information.

    Why it matters for exactly-once:
        Changelogs are the state. With one replica the loss of a broker is the loss of state and of repartitioned
        records. ksqlDB's command topic holds all statements: without it no server can rebuild its queries.

    Example:
        Kafka Streams 2.8 without replication.factor.

    Fix:
        Set replication.factor=3, or -1 for the brokers' default (brokers 2.4 and later).

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        if runs_on_one_broker(case.deployment, streams):
            continue
        commands, factor = streams.value(KSQL_REPLICAS), streams.value("replication.factor")
        if commands.is_given and commands.number == 1:
            yield problem(
                streams,
                (commands,),
                f"{commands.key} is 1.",
                severity=Severity.WARNING if factor.is_given and factor.number != 1 else None,
                impact="The loss of one broker loses the command topic: no server can rebuild its queries.",
                remedy=three_replicas(case.deployment, commands.key),
            )
        if factor.number == 1:
            values = (factor,) if factor.is_given else (streams.value("processing.guarantee"), factor)
            yield problem(
                streams,
                values,
                f"replication.factor is 1{'' if factor.is_given else ' by default before Kafka 3.0'}.",
                impact="The loss of one broker loses state and records between sub-topologies.",
                severity=Severity.INFO if concerns_tests_alone(case.deployment, streams, factor) else None,
                remedy="Set replication.factor=3, or -1 for the brokers' default.",
            )
