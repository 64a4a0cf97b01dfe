"""Signs of a client of Kafka in a document from which nothing was read: keys, addresses of brokers, and blocks of text.

Pipelines, catalogs, builds, and lists of users name Kafka without any of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.platforms.workloads import GENERATED

_KEY: Final = re.compile(
    r"kafka|redpanda|bootstrap|brokers?|topics?(?![a-z])|consumer|producer|acks|transaction|isolation|idempot|exactly"
    r"|replica|in.?sync|connector|group.?id",
    re.IGNORECASE,
)
_NAMES_ALONE: Final = re.compile(r"kafka|redpanda|.*(?:version|enabled|password|secret|repository)s?", re.IGNORECASE)
"""Keys whose texts are users, or say which software there is."""
_ADDRESS: Final = re.compile(r"(?:^|[\s,\"'/@=])[\w.${}()-]+:\d{4,5}(?!\d)")
_BROKER: Final = re.compile(r"kafka|redpanda|broker|:[129]?9?09[1-9]\d?(?!\d)", re.IGNORECASE)
_TEMPLATE: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_WRITES: Final = re.compile(r"toYaml|toJson|toProperties|\btpl\b|\brange\b|\bfor\b|\bwith\b")
_STRUCTURED: Final = (".yml", ".yaml", ".json", ".jsonc", ".json5", ".toml")


def shows_no_client(documents: tuple[Node, ...], file: str, text: str) -> bool:
    """Return whether a structured file names Kafka only in texts that are about something else.

    A template counts where it has nothing but calls of others, and writes no values by itself.
    """
    if not file.lower().endswith(_STRUCTURED):
        return False
    if not documents:
        plain = _TEMPLATE.sub("", text)
        return plain != text and not plain.strip() and _WRITES.search(text) is None
    return not any(_is_resource(one) or _shows_client(one) for one in documents)


def _is_resource(document: Node) -> bool:
    """Return whether a document is a resource of Kubernetes, whose kind decides, or a kustomization."""
    if not isinstance(document, Branch):
        return False
    return document.get("apiVersion") is not None or any(key in GENERATED for key, _ in document.entries)


def _shows_client(document: Node) -> bool:
    return any(_is_sign(key, child) for key, child in _pairs(document, ""))


def _pairs(node: Node, key: str) -> Iterator[tuple[str, Node]]:
    """Yield every part of a document with the key that it stands under."""
    if isinstance(node, Branch):
        for name, child in node.entries:
            yield name, child
            if not isinstance(child, Leaf):
                yield from _pairs(child, name)
    elif isinstance(node, Row):
        for child in node.nodes:
            yield from _pairs(child, key) if not isinstance(child, Leaf) else [(key, child)]


def _is_sign(key: str, child: Node) -> bool:
    """Return whether a key, or the text under it, may be about a client.

    >>> _is_sign("kafka", Leaf("secret", 1)), _is_sign("url", Leaf("kafka:9092", 1)), _is_sign("acks", Leaf("1", 1))
    (False, True, True)
    """
    if isinstance(child, Leaf):
        text = child.text or ""
        if key == "image" and _BROKER.search(text) is not None:
            return True
        if "\n" in text or (_ADDRESS.search(text) is not None and _BROKER.search(text) is not None):
            return _BROKER.search(text) is not None or _KEY.search(text) is not None
        return _KEY.search(key) is not None and _NAMES_ALONE.fullmatch(key) is None
    return _KEY.search(key) is not None
