"""EOS-CFG-158."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

REPLICAS: Final = 3
"""With fewer, a minimum of two stops writes during every restart (EOS-CFG-033)."""


@check(
    "EOS-CFG-158",
    "Topic acknowledges records that one replica has",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.TOPIC,),
    reads=("min.insync.replicas", "replication.factor"),
    tags=("durability",),
    references=("KIP-966",),
)
def topic_acknowledged_by_one_replica(case: Case) -> Iterator[Problem]:
    """Find topics with three replicas or more that acknowledge what only one of them has.

    What it checks:
        min.insync.replicas=1, written down, on a topic that is declared with three replicas or more, or whose number of
        replicas is not declared.

    Why it matters for exactly-once:
        acks=all then means the leader alone when its followers lag. If it is lost, committed records are lost with
        it, also those of completed transactions.

    Example:
        A topic with replication factor 3 whose min.insync.replicas was lowered during an incident.

    Fix:
        Set min.insync.replicas=2.

    Verify:
        eosctl config lint reports it no longer.
    """
    for topic in case.deployment.of(Role.TOPIC):
        minimum, factor = topic.value("min.insync.replicas"), topic.value("replication.factor")
        is_unknown = factor.text is None
        if not minimum.is_given or minimum.number != 1 or not (is_unknown or (factor.number or 0) >= REPLICAS):
            continue
        yield problem(
            topic,
            (minimum,) if is_unknown else (minimum, factor),
            f"{minimum.key} is 1." if is_unknown else f"{minimum.key} is 1 with {factor.number} replicas.",
            confidence=Confidence.LIKELY if is_unknown else Confidence.CERTAIN,
            impact="Acknowledged records, and committed transactions, are lost with one broker.",
            remedy=f"Set {minimum.key}=2.",
        )
