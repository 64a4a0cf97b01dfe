"""Clusters of clouds that a file describes without settings of Kafka: their release, and the number of their brokers.

Sources: the resources of MSK, the same in Terraform, CloudFormation, Pulumi, and Kubernetes' operators (``Cluster`` of
``AWS::MSK``); Terraform's providers of Aiven, Azure, DigitalOcean, Yandex, and Alibaba.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Client, Place, Role
from eosctl.model.parameter import relaxed
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten
from eosctl.settings.frameworks.operators import SET_BY_NUMBER
from eosctl.settings.programs.environment import is_release
from eosctl.settings.programs.process_counts import COUNT
from eosctl.settings.values.sources import Source, value_of

_RELEASE: Final = re.compile(r"^(\d+\.\d+)(?:\.|$)")
_VERSION: Final = "kafkaversion"
_BROKERS: Final = "numberofbrokernodes"
_CONFIGURED: Final = "configuration"
"""Begins the keys under which a cluster of MSK has settings, which are read where they stand."""
_PROPERTIES: Final = "serverproperties"
"""Ends the key under which a configuration of MSK in the same file has the settings."""
_OF_CLOUDS: Final = {
    "aiven_kafka": ("kafka_user_config", "kafka_version"),
    "azurerm_hdinsight_kafka_cluster": ("component_version", "kafka"),
    "digitalocean_database_cluster": ("version",),
    "yandex_mdb_kafka_cluster": ("config", "version"),
    "alicloud_alikafka_instance": ("service_version",),
}
_SETTINGS: Final = ("kafka", "kafka_config", "config")
"""What these call their settings of brokers."""


def managed_clusters(document: Node, file: str) -> Iterator[Source]:
    """Yield the clusters of clouds that have the provider's settings, which are not known here."""
    if not isinstance(document, Branch) or document.is_plain:
        return
    if not any(relaxed(key).endswith(_PROPERTIES) for key, _ in flatten(document)):
        yield from _of_msk(document, "", file)
    for kind, path in _OF_CLOUDS.items():
        resources = document.branch("resource", kind)
        for name, cluster in resources.entries if resources is not None else ():
            if not isinstance(cluster, Branch) or cluster.text("engine") not in (None, "kafka"):
                continue
            around = cluster.branch(*path[:-1]) if len(path) > 1 else cluster
            is_set = around is not None and any(isinstance(around.get(key), Branch) for key in _SETTINGS)
            version = cluster.get(*path)
            if isinstance(version, Leaf) and not is_set:
                yield from _cluster(cluster, name, version, None, file)


def with_brokers_counted(sources: list[Source], document: Node, file: str) -> list[Source]:
    """Return the sources, the only configuration of a cluster of MSK with the number of its brokers in the document."""
    brokers = [one for one in sources if one.role is Role.BROKER]
    if len(brokers) != 1 or not brokers[0].cluster or brokers[0].instances is not None:
        return sources
    counts = [leaf for key, leaf in flatten(document) if relaxed(key.rpartition(".")[2]) == _BROKERS]
    if len(counts) != 1 or not (counts[0].text or "").isdecimal():
        return sources
    counted = replace(brokers[0], instances=value_of(COUNT, counts[0], file))
    return [counted if one is brokers[0] else one for one in sources]


def _of_msk(node: Node, name: str, file: str) -> Iterator[Source]:
    if isinstance(node, Row):
        for member in node.nodes:
            yield from _of_msk(member, name, file)
    if not isinstance(node, Branch):
        return
    own = {relaxed(key): child for key, child in node.entries}
    version, count = own.get(_VERSION), own.get(_BROKERS)
    if isinstance(version, Leaf) and isinstance(count, Leaf):
        if not any(key.startswith(_CONFIGURED) for key in own):
            yield from _cluster(node, name, version, count, file)
        return
    for key, child in node.entries:
        if not isinstance(child, Leaf):
            yield from _of_msk(child, key, file)


def _cluster(node: Branch, name: str, version: Leaf, count: Leaf | None, file: str) -> Iterator[Source]:
    release = _RELEASE.match((version.text or "").strip())
    if release is None or not is_release(release[1]):
        return
    place = Place(version.file or file, version.line)
    yield Source(
        place=place,
        values={},
        label=name,
        role=Role.BROKER,
        client=Client.JAVA,
        version=release[1],
        framework=dict.fromkeys(SET_BY_NUMBER),
        cluster=f"{Place(file, node.line)} {name}",
        recognized_by="a cluster of a cloud",
        instances=None if count is None else value_of("count", count, file),
    )
