"""EOS-CFG-102."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-102",
    "Assignor of a Streams application is set",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.STREAMS,),
    reads=("partition.assignment.strategy",),
    references=("KIP-441",),
)
def streams_assignor_replaced(case: Case) -> Iterator[Problem]:
    """Find Streams applications that name an assignor of plain consumers.

    What it checks:
        partition.assignment.strategy, with or without the prefix of a consumer, in a Streams application.

    Why it matters for exactly-once:
        Kafka Streams replaces it with its own assignor, which also moves state and standby tasks. The setting
        suggests a behavior that does not exist, such as cooperative rebalancing, which Streams has anyway since 2.4.

    Example:
        consumer.partition.assignment.strategy=...CooperativeStickyAssignor.

    Fix:
        Remove it.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in case.deployment.of(Role.STREAMS):
        for name, value in streams.given.items():
            if name.endswith("partition.assignment.strategy") and value.word is not None:
                yield problem(
                    streams,
                    (value,),
                    f"{value.key} is replaced by the assignor of Kafka Streams.",
                    impact="It has no effect.",
                    remedy="Remove it.",
                )
