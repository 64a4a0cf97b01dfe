"""EOS-CFG-043."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import BROKER_MAX_TIMEOUT_MS, broker_limits, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-043",
    "Records are deleted while a transaction may still hide them",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.TOPIC,),
    reads=("retention.ms", "cleanup.policy"),
)
def retention_shorter_than_transaction(case: Case) -> Iterator[Problem]:
    """Find topics whose retention is shorter than a transaction may be open.

    What it checks:
        retention.ms of topics with the clean-up policy delete, where it was written down, against the longest
        transaction.max.timeout.ms given, or 900,000 ms.

    Why it matters for exactly-once:
        read_committed readers wait for the end of the oldest open transaction. What is deleted meanwhile is never
        read.

    Example:
        retention.ms=600000 on an input topic of a transactional application.

    Fix:
        Keep records well above the longest transaction and the longest stop of a reader.

    Verify:
        eosctl config lint reports it no longer.
    """
    limits = [limit for _, _, limit in broker_limits(case.deployment, "transaction.max.timeout.ms")]
    longest = max(limits, default=BROKER_MAX_TIMEOUT_MS)
    for topic in case.deployment.of(Role.TOPIC):
        retention, policy = topic.value("retention.ms"), topic.word("cleanup.policy")
        if not retention.is_given or retention.number is None or policy is None or "delete" not in policy:
            continue
        if 0 <= retention.number < longest:
            yield problem(
                topic,
                (retention,),
                f"retention.ms is {minutes(retention.number)}; a transaction may be open for {minutes(longest)}.",
                impact="Committed records can be deleted before a reader of committed data may see them.",
                remedy="Raise retention.ms above the longest transaction and the longest stop of a reader.",
            )
