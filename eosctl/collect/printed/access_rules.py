"""Access rules that kafka-acls.sh printed, as rules of a configuration are given: clients in other files need them."""

from __future__ import annotations

from typing import Final

from eosctl.collect.printed.evidence import PrintedEvidence
from eosctl.collect.printed.sections import ACLS
from eosctl.model.cluster_state import AccessRule
from eosctl.model.deployment import Component, Place, Role, Value

_PATTERNS: Final = {"Prefixed": "prefix"}


def printed_rules(printed: PrintedEvidence) -> tuple[Component, ...]:
    """Return the rules in outputs; nothing without any. All have the place of the first output."""
    found = None if printed.snapshot is None else printed.snapshot.access_rules
    output = next((one for one in printed.outputs if one.tool == ACLS), None)
    if found is None or output is None:
        return ()
    place = Place(output.file, output.line)
    return tuple(_component(rule, place) for rule in found.rules)


def _component(rule: AccessRule, place: Place) -> Component:
    pattern = _PATTERNS.get(rule.pattern_type, rule.pattern_type.lower())
    own = {
        "resource.type": rule.resource_type[:1].lower() + rule.resource_type[1:],
        "resource.name": rule.resource_name,
        "pattern.type": pattern,
        "operations": rule.operation,
        "permission": rule.permission.lower(),
        "principal": rule.principal.removeprefix("User:"),
    }
    given = {name: Value(name, text, name, place) for name, text in own.items()}
    return Component(Role.ACCESS_RULE, rule.principal, place, place.file, given, recognized_by=ACLS)
