"""Access rules as files of tools: Strimzi's KafkaUser, and Terraform's provider Mongey/kafka."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from eosctl.model.access import NeededRule

_STRIMZI_TYPES: Final = {
    "Topic": "topic",
    "Group": "group",
    "TransactionalId": "transactionalId",
    "Cluster": "cluster",
}


def kafka_user(rules: Iterable[NeededRule], principal: str) -> tuple[str, ...]:
    """Return the lines of a KafkaUser with these rules."""
    name = principal.removeprefix("User:")
    lines = [
        "apiVersion: kafka.strimzi.io/v1beta2",
        "kind: KafkaUser",
        "metadata:",
        f"  name: {json.dumps(name)}",
        "  labels:",
        "    strimzi.io/cluster: my-cluster",
        "spec:",
        "  authorization:",
        "    type: simple",
        "    acls:",
    ]
    for (resource_type, name, pattern), operations in _by_resource(rules).items():
        lines.append("      - resource:")
        lines.append(f"          type: {_STRIMZI_TYPES[resource_type]}")
        if resource_type != "Cluster":
            lines.append(f"          name: {json.dumps(name)}")
            lines.append(f"          patternType: {'prefix' if pattern == 'Prefixed' else 'literal'}")
        lines.append(f"        operations: [{', '.join(operations)}]")
    return tuple(lines)


def terraform(rules: Iterable[NeededRule], principal: str) -> tuple[str, ...]:
    """Return the lines of ``kafka_acl`` resources with these rules."""
    lines: list[str] = []
    for rule in rules:
        label = f"{rule.resource_type}_{rule.operation}".lower()
        lines += [
            f'resource "kafka_acl" "eosctl_{label}" {{',
            f"  resource_name                = {json.dumps(rule.name.text)}",
            f"  resource_type                = {json.dumps(rule.resource_type)}",
            f"  resource_pattern_type_filter = {json.dumps(rule.name.pattern_type)}",
            f"  acl_principal                = {json.dumps(principal)}",
            '  acl_host                     = "*"',
            f"  acl_operation                = {json.dumps(rule.operation)}",
            '  acl_permission_type          = "Allow"',
            "}",
        ]
    return tuple(lines)


def _by_resource(rules: Iterable[NeededRule]) -> dict[tuple[str, str, str], Sequence[str]]:
    found: dict[tuple[str, str, str], list[str]] = {}
    for rule in rules:
        key = (rule.resource_type, rule.name.text, rule.name.pattern_type)
        found.setdefault(key, []).append(rule.operation)
    return {key: tuple(operations) for key, operations in found.items()}
