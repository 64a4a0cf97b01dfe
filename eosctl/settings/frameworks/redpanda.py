"""Brokers of Redpanda: their own file, the cluster properties of a chart or a bootstrap file, and options of commands.

Names with the meaning of a setting of Kafka are read as that setting. Source: config/configuration.cc of Redpanda.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.settings.formats.tree import Branch, Leaf, Node, flatten
from eosctl.settings.values.sources import Source, value_of

DEVELOPER_MODE: Final = "developer_mode"
MODE: Final = "--mode"
"""The option of a command that sets the mode of developers."""
_MEANT: Final[Mapping[str, str]] = {
    MODE: DEVELOPER_MODE,
    "group_max_session_timeout_ms": "group.max.session.timeout.ms",
    "group_min_session_timeout_ms": "group.min.session.timeout.ms",
    "kafka_batch_max_bytes": "message.max.bytes",
    "default_topic_replication": "default_topic_replications",
}
ENABLE_TRANSACTIONS: Final = "enable_transactions"
ENABLE_IDEMPOTENCE: Final = "enable_idempotence"
WRITE_CACHING: Final = "write_caching_default"
INTERNAL_REPLICAS: Final = "internal_topic_replication_factor"
DEFAULT_REPLICAS: Final = "default_topic_replications"
_DEFAULTS: Final[Mapping[str, str | None]] = {
    ENABLE_TRANSACTIONS: "true",
    ENABLE_IDEMPOTENCE: "true",
    DEVELOPER_MODE: "false",
    WRITE_CACHING: "false",
    INTERNAL_REPLICAS: "3",
}
_OWN: Final = frozenset({*_DEFAULTS, DEFAULT_REPLICAS})
# Keys of the node's own section; every file of Redpanda has at least one.
_NODE: Final = frozenset({"data_directory", "kafka_api", "seed_servers", "rpc_server", "empty_seed_starts_cluster"})
_IMAGE: Final = "redpandadata/redpanda"
_COUNT: Final = ("statefulset", "replicas")
_OLD_CLUSTER: Final = "redpanda.vectorized.io/"
"""Begins the version of the resource of the first operator, which has settings under names of its own."""
_OF_OLD_CLUSTER: Final = {"developerMode": DEVELOPER_MODE}
_START: Final = re.compile(r"(?:^|\bredpanda[\s,]+)start(?![\w-])")
_OPTION: Final = re.compile(r"\bredpanda\.(\w+)=(\w+)")
_DEVELOPMENT: Final = re.compile(r"--mode[ =,]+(dev-container|development|dev)\b")


def redpanda(document: Branch, file: str) -> list[Source] | None:
    """Return the broker that a document of Redpanda's configures; None when it is something else."""
    own = document.branch("redpanda")
    name = file.rpartition("/")[2].lower()
    if own is not None and not _NODE.isdisjoint(key for key, _ in own.entries):
        return [_source(own, file, "redpanda")]
    if name in (".bootstrap.yaml", "bootstrap.yaml") and _has_own(document):
        return [_source(document, file, name)]
    if (document.text("apiVersion") or "").startswith(_OLD_CLUSTER):
        return _old_cluster(document, file)
    found: list[Source] = []
    for chart in filter(None, (document, document.branch("spec", "clusterSpec"))):
        parts = ((name, chart.branch("config", name)) for name in ("cluster", "node"))
        read = [_source(part, file, f"config.{name}") for name, part in parts if part is not None and _has_own(part)]
        found += _counted(read, chart.get(*_COUNT), file)
    return found or None


def _old_cluster(document: Branch, file: str) -> list[Source] | None:
    """Return the brokers that a resource of the first operator describes, whose options stand in camel case."""
    own = document.branch("spec", "configuration")
    more = document.branch("spec", "additionalConfiguration")
    options = [(_OF_OLD_CLUSTER.get(key, key), leaf) for key, leaf in (own.entries if own is not None else ())]
    options += [(key.removeprefix("redpanda."), leaf) for key, leaf in (more.entries if more is not None else ())]
    node = Branch(tuple(options), own.line if own is not None else document.line)
    found = [_source(node, file, "kind: Cluster")] if _has_own(node) else []
    return _counted(found, document.get("spec", "replicas"), file) or None


def _counted(sources: list[Source], count: Node | None, file: str) -> list[Source]:
    if not isinstance(count, Leaf):
        return sources
    return [replace(one, instances=value_of(_COUNT[-1], count, file)) for one in sources]


def _has_own(node: Branch) -> bool:
    return not (_MEANT.keys() | _OWN).isdisjoint(key for key, _ in node.entries)


def redpanda_command(
    image: str, commands: Iterable[Node | None], name: str, file: str, *, has_own_file: bool = True
) -> list[Source]:
    """Return the broker that the command of a container of Redpanda configures.

    Args:
        image: The image of the container.
        commands: The command and its arguments.
        name: The container or the service.
        file: The file's name.
        has_own_file: Whether the broker may have a file of its own, which is read where it stands; a container without
            options is a broker of its own if it has none.
    """
    if _IMAGE not in image:
        return []
    leaves = [leaf for command in commands if command is not None for _, leaf in flatten(command)]
    found = list(_options(leaves))
    starts = () if has_own_file else leaves
    started = next((leaf.line for leaf in starts if _START.search(leaf.text or "")), None)
    line = found[0][1].line if found else started
    return [] if line is None else [_source(Branch(tuple(found), line), file, f"image: {image}", name)]


def _options(leaves: Iterable[Leaf]) -> Iterator[tuple[str, Leaf]]:
    for leaf in leaves:
        text = leaf.text or ""
        for match in _OPTION.finditer(text):
            yield match[1], Leaf(match[2], leaf.line)
        if _DEVELOPMENT.search(text):
            yield MODE, Leaf("true", leaf.line)


def _source(node: Branch, file: str, shown: str, label: str = "") -> Source:
    values: dict[str, Value] = {}
    for key, leaf in node.entries:
        if isinstance(leaf, Leaf):
            meant = _MEANT.get(key, key)
            values[meant] = value_of(key, leaf, file, meant)
    return Source(
        Place(file, node.line),
        values,
        label,
        Role.BROKER,
        Client.REDPANDA,
        framework=_DEFAULTS,
        recognized_by=shown,
    )
