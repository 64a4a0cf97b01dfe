"""Access rules as providers of Terraform and other tools declare them: a resource, a principal, and an operation."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Client, Place, Role
from eosctl.settings.formats.tree import Branch, Leaf
from eosctl.settings.values.sources import Source, value_of

_NAMES: Final = {
    "resource_type": "resource.type",
    "resource_name": "resource.name",
    "pattern_type": "pattern.type",
    "resource_pattern_type": "pattern.type",
    "resource_pattern_type_filter": "pattern.type",
    "principal": "principal",
    "acl_principal": "principal",
    "operation": "operations",
    "acl_operation": "operations",
    "permission": "permission",
    "permission_type": "permission",
    "acl_permission_type": "permission",
    # The module kafka_acl of Ansible's collection for Kafka.
    "acl_resource_type": "resource.type",
    "acl_resource": "resource.name",
    "acl_pattern_type": "pattern.type",
    "acl_permission": "permission",
}
_OF_ANSIBLE: Final = "acl_resource_type"
_NEEDED: Final = ("resource.type", "resource.name", "operations")
_ALONE: Final = {"cluster": "kafka-cluster", "allTopics": "*", "allConsumerGroups": "*", "allTransactionalIds": "*"}
_SHORT: Final = {
    "consumerGroup": "group",
    "consumerGroupPrefixed": "group",
    "allTopics": "topic",
    "allConsumerGroups": "group",
    "allTransactionalIds": "transactionalId",
}
"""What an id of Google's managed Kafka calls a type of resources."""
_PREFIXED: Final = "prefixed"


def access_rules_declared(document: Branch, file: str) -> list[Source]:
    """Return the access rule that a mapping declares, as a KafkaUser of Strimzi spells it; nothing for others."""
    leaves = {
        setting: (key, leaf)
        for key, leaf in document.entries
        if (setting := _NAMES.get(key)) is not None and isinstance(leaf, Leaf)
    }
    if isinstance(name := document.get("name"), Leaf) and document.get(_OF_ANSIBLE) is not None:
        leaves.setdefault("resource.name", ("name", name))
    if not all(name in leaves for name in _NEEDED):
        return _of_google(document, file)
    values = {
        name: value_of(key, replace(leaf, text=_spelled(name, leaf.text or "")), file, name)
        for name, (key, leaf) in leaves.items()
    }
    shown = leaves["resource.type"][0]
    return [Source(Place(file, document.line), values, "", Role.ACCESS_RULE, Client.JAVA, recognized_by=shown)]


def _of_google(document: Branch, file: str) -> list[Source]:
    """Return the rules of Google's managed Kafka: an id such as ``topic/orders``, and entries of its own."""
    leaf = document.get("acl_id")
    kind, slash, name = (leaf.text or "").partition("/") if isinstance(leaf, Leaf) else ("", "", "")
    if not isinstance(leaf, Leaf) or not (slash or kind in _ALONE):
        return []
    is_prefix = kind.endswith("Prefixed")
    own = {
        "resource.type": replace(leaf, text=_SHORT.get(kind, kind.removesuffix("Prefixed"))),
        "resource.name": replace(leaf, text=name or _ALONE.get(kind)),
        "pattern.type": replace(leaf, text="prefix" if is_prefix else "literal"),
    }
    entries = [node for key, node in document.entries if key == "acl_entries" and isinstance(node, Branch)]
    return [
        rule
        for entry in entries
        for rule in access_rules_declared(
            Branch((*((key.replace(".", "_"), one) for key, one in own.items()), *entry.entries), entry.line), file
        )
    ]


def _spelled(name: str, text: str) -> str:
    if name == "principal":
        return text.removeprefix("User:")
    if name == "resource.name":
        return text
    if name == "operations":
        return text[:1].upper() + text[1:].lower() if text.isalpha() else text
    word = text.lower().replace("_", "")
    return "prefix" if word == _PREFIXED else word
