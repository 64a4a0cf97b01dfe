"""EOS-CFG-031."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

INTERNAL: Final = ("__transaction_state", "__consumer_offsets")
HARMFUL: Final = frozenset({"all", "delete", "alter", "alterconfigs", "write"})


@check(
    "EOS-CFG-031",
    "A user may delete or alter Kafka's internal topics",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.ACCESS_RULE,),
    reads=(
        "resource.name",
        "operations",
        "pattern.type",
    ),
    tags=(
        "security",
        "internal-topics",
    ),
    references=("KIP-290",),
)
def internal_topic_may_be_deleted(case: Case) -> Iterator[Problem]:
    """Find users with the right to delete, alter or write Kafka's internal topics.

    What it checks:
        Allowing ACLs on topics whose name or prefix covers __transaction_state or __consumer_offsets, with All,
        Delete, Alter, AlterConfigs or Write among the operations. A rule on every topic is a warning.

    Why it matters for exactly-once:
        Nothing else keeps a principal from deleting __transaction_state: with it go all decisions, open transactions
        hang, and fencing starts from nothing. Clients need no right on these topics at all.

    Example:
        A rule that grants All on the topic __transaction_state because an article says so.

    Fix:
        Remove the rule. An application needs Write on its TransactionalId, Read on its group, and Read or Write on
        its own topics.

    Verify:
        eosctl config lint reports it no longer.
    """
    for entry in case.deployment.of(Role.ACCESS_RULE):
        operations, name = entry.value("operations"), entry.value("resource.name")
        granted = {word.strip().lower() for word in (operations.word or "").split(",")}
        covered = _covered(name.word or "", (entry.word("pattern.type") or "literal").lower())
        if (entry.word("resource.type") or "").lower() != "topic" or (entry.word("permission") or "allow") == "deny":
            continue
        if name.word is None and name.is_given:
            continue  # it refers to something outside of the file
        if covered and granted & HARMFUL:
            everything = name.word in ("*", "")
            yield problem(
                entry,
                (name, operations),
                f"{entry.name} may {', '.join(sorted(granted & HARMFUL))} {' and '.join(covered)}.",
                severity=Severity.WARNING if everything else None,
                impact="Deleting the transaction log loses every decision, and open transactions hang.",
                remedy="Name the topics of the application, or a prefix of theirs.",
            )


def _covered(name: str, pattern: str) -> tuple[str, ...]:
    if pattern == "prefix":
        return tuple(topic for topic in INTERNAL if topic.startswith(name))
    return INTERNAL if name == "*" else tuple(topic for topic in INTERNAL if topic == name)
