"""Which rules an application needs, and whether those of a cluster cover them."""

from __future__ import annotations

import pytest

from eosctl.analysis.minimal_access import Application, plan_access, state_of, states_of
from eosctl.model.access import ApplicationKind, Name, NeededRule, RuleState
from eosctl.model.cluster_state import AccessRule, AccessRules

WRITES_ORDERS = NeededRule("Topic", Name("orders"), "Write", (), "")
WRITES_ANY = NeededRule("Topic", Name("orders-", prefixed=True), "Write", (), "")


def rule(name: str, operation: str = "Write", pattern: str = "Literal", **more: str) -> AccessRule:
    fields = {"principal": "User:a", "host": "*", "permission": "Allow", "kind": "Topic", **more}
    return AccessRule(
        fields["principal"], fields["host"], fields["kind"], name, pattern, operation, fields["permission"]
    )


@pytest.mark.parametrize(
    ("needed", "rules", "state"),
    [
        (WRITES_ORDERS, [rule("orders")], RuleState.PRESENT),
        (WRITES_ORDERS, [rule("*")], RuleState.PRESENT),
        (WRITES_ORDERS, [rule("ord", pattern="Prefixed")], RuleState.PRESENT),
        (WRITES_ORDERS, [rule("orders", "All")], RuleState.PRESENT),
        (WRITES_ORDERS, [rule("orders", principal="User:*")], RuleState.PRESENT),
        (WRITES_ORDERS, [], RuleState.MISSING),
        (WRITES_ORDERS, [rule("orders", "Read")], RuleState.MISSING),
        (WRITES_ORDERS, [rule("orders*")], RuleState.MISSING),
        (WRITES_ORDERS, [rule("orders", kind="Group")], RuleState.MISSING),
        (WRITES_ORDERS, [rule("orders", principal="User:b")], RuleState.MISSING),
        (WRITES_ORDERS, [rule("orders", host="10.0.0.1")], RuleState.MISSING),
        (WRITES_ORDERS, [rule("orders"), rule("*", "All", permission="Deny")], RuleState.DENIED),
        (WRITES_ORDERS, [rule("orders"), rule("orders", "Describe", permission="Deny")], RuleState.DENIED),
        (WRITES_ORDERS, [rule("orders"), rule("orders", "Delete", permission="Deny")], RuleState.PRESENT),
        (WRITES_ORDERS, [rule("orders"), rule("payments", permission="Deny")], RuleState.PRESENT),
        (WRITES_ANY, [rule("orders-", pattern="Prefixed")], RuleState.PRESENT),
        (WRITES_ANY, [rule("ord", pattern="Prefixed")], RuleState.PRESENT),
        (WRITES_ANY, [rule("*")], RuleState.PRESENT),
        (WRITES_ANY, [rule("orders-*")], RuleState.MISSING),
        (WRITES_ANY, [rule("orders-")], RuleState.MISSING),
        (WRITES_ANY, [rule("orders-1", pattern="Prefixed")], RuleState.MISSING),
        (WRITES_ANY, [rule("*"), rule("orders-7", permission="Deny")], RuleState.DENIED),
    ],
)
def test_state(needed: NeededRule, rules: list[AccessRule], state: RuleState) -> None:
    assert state_of(needed, "User:a", rules) is state


def test_without_an_authorizer_or_knowledge_there_is_no_verdict() -> None:
    application = Application(ApplicationKind.PRODUCER, "User:a", Name("t"), writes=(Name("orders"),))
    needed = plan_access(application)
    assert states_of(needed, "User:a", None) == (None, None)
    assert states_of(needed, "User:a", AccessRules(enabled=False)) == (None, None)
    assert states_of(needed, "User:a", AccessRules(enabled=True)) == (RuleState.MISSING, RuleState.MISSING)


@pytest.mark.parametrize(("release", "cluster"), [((2, 7), True), ((2, 8), False), (None, False)])
def test_idempotence_needs_a_cluster_permission_before_2_8(release: tuple[int, int] | None, cluster: bool) -> None:
    application = Application(ApplicationKind.IDEMPOTENT_PRODUCER, "User:a", writes=(Name("orders"),), release=release)
    assert ("IdempotentWrite" in {one.operation for one in plan_access(application)}) is cluster


def test_no_rule_is_asked_for_twice_and_describe_never() -> None:
    application = Application(
        ApplicationKind.PROCESSOR, "User:a", Name("t"), Name("g"), (Name("in"),), (Name("out"), Name("in"))
    )
    needed = plan_access(application)
    keys = [(one.resource_type, one.name, one.operation) for one in needed]
    assert len(keys) == len(set(keys)) == 5
    assert not [one for one in needed if one.operation == "Describe"]
