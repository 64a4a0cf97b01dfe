"""EOS-CFG-097."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

INTERNAL: Final = re.compile(r"__transaction_state|__consumer_offsets|transaction-state---|consumer-offsets---")


@check(
    "EOS-CFG-097",
    "Internal topic is managed with the wrong clean-up policy",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.TOPIC,),
    reads=("cleanup.policy",),
    tags=("internal-topics",),
)
def internal_topic_redefined(case: Case) -> Iterator[Problem]:
    """Find topic resources that would turn Kafka's internal topics into ordinary ones.

    What it checks:
        Resources for __transaction_state and __consumer_offsets whose cleanup.policy is not compact alone.

    Why it matters for exactly-once:
        What is older than the retention is deleted: decisions, fencing epochs, committed offsets.

    Example:
        A KafkaTopic for __consumer_offsets with cleanup.policy: delete.

    Fix:
        Remove the resource, or set cleanup.policy: compact.

    Verify:
        eosctl config lint reports it no longer.
    """
    for topic in case.deployment.of(Role.TOPIC):
        policy = topic.value("cleanup.policy")
        if INTERNAL.search(topic.name) and policy.is_given and policy.word is not None and policy.word != "compact":
            yield problem(
                topic,
                (policy,),
                f"cleanup.policy of an internal topic is {policy.word}.",
                impact="Transaction outcomes, fencing epochs or offsets are deleted after the retention time.",
                remedy="Set cleanup.policy to compact, or leave the topic to Kafka.",
            )
