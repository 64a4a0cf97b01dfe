"""EOS-CFG-038."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import exactly_once_streams
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-038",
    "Internal topics of a Streams application have one replica",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.STREAMS,),
    reads=("replication.factor",),
    tags=("durability",),
    references=("KIP-733",),
)
def streams_internal_topics_not_replicated(case: Case) -> Iterator[Problem]:
    """Find exactly-once Streams applications whose state is kept once.

    What it checks:
        replication.factor=1 in an exactly-once application; before 3.0 also when it is not set, because the default
        was 1. Since 3.0 the default is that of the brokers.

    Why it matters for exactly-once:
        Changelogs are the state. With one replica the loss of a broker is the loss of state and of repartitioned
        records.

    Example:
        Kafka Streams 2.8 without replication.factor.

    Fix:
        Set replication.factor=3, or -1 for the brokers' default (brokers 2.4 and later).

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        factor = streams.value("replication.factor")
        if factor.number == 1:
            values = (factor,) if factor.is_given else (streams.value("processing.guarantee"), factor)
            yield problem(
                streams,
                values,
                f"replication.factor is 1{'' if factor.is_given else ' by default before Kafka 3.0'}.",
                impact="The loss of one broker loses state and records between sub-topologies.",
                remedy="Set replication.factor=3, or -1 for the brokers' default.",
            )
