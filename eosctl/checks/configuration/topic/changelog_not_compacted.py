"""EOS-CFG-176."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

_NAME: Final = re.compile(r"(?:^|[\s(:/])(?P<name>[\w.-]+-changelog)\)?$")
_OF_JOINS: Final = ("JOINTHIS", "JOINOTHER", "OUTERTHIS", "OUTEROTHER", "OUTERSHARED")
"""Names of stores that keep each record once, in which nothing is replaced."""


@check(
    "EOS-CFG-176",
    "Changelog topic is not compacted",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.TOPIC,),
    reads=("cleanup.policy", "application.id"),
    tags=("durability",),
    references=("org.apache.kafka.streams.processor.internals.UnwindowedUnversionedChangelogTopicConfig",),
)
def changelog_not_compacted(case: Case) -> Iterator[Problem]:
    """Find changelog topics of Kafka Streams that delete records by age alone.

    What it checks:
        cleanup.policy without compact of a topic with the name APPLICATION-STORE-changelog, where the Streams
        application is given with it. Stores of joins between streams are left out: nothing is replaced in them.

    Why it matters for exactly-once:
        The changelog is the state. Keys that were not written within the retention are missing after a restore, which
        follows each unclean exit of an exactly-once application. No error shows it.

    Example:
        cleanup.policy=delete and retention.ms=86400000 of basket-view-basket-store-changelog.

    Fix:
        Set cleanup.policy=compact, or compact,delete for a windowed store, before the next restore.

    Verify:
        eosctl config lint reports it no longer.
    """
    applications = {name for one in case.deployment.of(Role.STREAMS) if (name := one.word("application.id"))}
    for topic in case.deployment.of(Role.TOPIC):
        policy = topic.value("cleanup.policy")
        found = _NAME.search(topic.name)
        if found is None or any(word in found["name"] for word in _OF_JOINS):
            continue
        is_own = any(found["name"].startswith(f"{name}-") for name in applications)
        if is_own and policy.is_given and policy.word == "delete":
            yield problem(
                topic,
                (policy,),
                f"{found['name']} is a changelog, and {policy.key} is {policy.word}.",
                impact="State that is restored from it lacks the keys that were not written within the retention.",
                remedy=f"Set {policy.key}=compact, or compact,delete for a windowed store.",
            )
