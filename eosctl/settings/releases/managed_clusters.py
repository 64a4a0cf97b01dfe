"""Clusters of clouds that a file describes without settings of Kafka: their release, and the number of their brokers.

Sources: the resources of MSK, the same in Terraform, CloudFormation, Pulumi, and Kubernetes' operators (``Cluster`` of
``AWS::MSK``); Terraform's providers of Aiven, Azure, DigitalOcean, Yandex, and Alibaba.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Client, Place, Role, Value
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


def configured_clusters(document: Node, file: str) -> tuple[tuple[str, Value], ...]:
    """Return the number of brokers of each cluster of MSK in a document, each behind the file.

    The place of a number that a variable gives is that of the cluster.
    """
    return tuple((file, count) for count in _counts(document, file))


def _counts(node: Node, file: str) -> Iterator[Value]:
    if isinstance(node, Row):
        for member in node.nodes:
            yield from _counts(member, file)
    for key, child in node.entries if isinstance(node, Branch) else ():
        if not isinstance(child, Leaf):
            yield from _counts(child, file)
        elif relaxed(key) == _BROKERS:
            own = value_of(COUNT, child, file)
            yield replace(own, place=Place(file, node.line)) if child.file else own


def with_brokers_counted(sources: Iterable[Source], clusters: Iterable[tuple[str, Value]]) -> list[Source]:
    """Return the sources, the configurations of clusters of MSK with the number of their brokers.

    MSK sets what depends on that number where the configuration does not, and the number is that of the only cluster in
    the file, or else in the folder: Terraform reads all files of one as a module.

    Args:
        sources: What all files configure.
        clusters: Files, and the number of brokers of a cluster that each describes.
    """
    found, described = list(sources), list(clusters)
    files = [one.place.file for one in found if _is_of_configuration(one)]
    if not files:
        return found

    def counted(source: Source) -> Source:
        if not _is_of_configuration(source) or source.instances is not None:
            return source
        file = source.place.file
        known = replace(source, framework={**dict.fromkeys(SET_BY_NUMBER), **source.framework})
        own = [count for one, count in described if one == file]
        near = [count for one, count in described if _is_of_module(one, file)]
        is_only = files.count(file) == 1 if own else sum(_is_of_module(one, file) for one in files) == 1
        counts = own or near
        is_known = is_only and len(counts) == 1 and counts[0].number is not None
        return replace(known, instances=counts[0]) if is_known else known

    return list(map(counted, found))


def _is_of_configuration(source: Source) -> bool:
    """Return whether a source is the text of a configuration of MSK."""
    named = relaxed(source.hints[-1]) if source.hints else ""
    return source.role is Role.BROKER and bool(source.cluster) and named.endswith(_PROPERTIES)


def _is_of_module(one: str, other: str) -> bool:
    """Return whether two files of Terraform stand in one folder."""
    are_terraforms = one.endswith(".tf") and other.endswith(".tf")
    return are_terraforms and posixpath.dirname(one) == posixpath.dirname(other)


def _of_msk(node: Node, name: str, file: str) -> Iterator[Source]:
    if isinstance(node, Row):
        for member in node.nodes:
            yield from _of_msk(member, name, file)
    if not isinstance(node, Branch):
        return
    own = {relaxed(key): child for key, child in node.entries}
    version, count = own.get(_VERSION), own.get(_BROKERS)
    if version is not None and isinstance(count, Leaf):
        if not any(key.startswith(_CONFIGURED) for key in own):
            yield from _cluster(node, name, version, count, file)
        return
    for key, child in node.entries:
        if not isinstance(child, Leaf):
            yield from _of_msk(child, key, file)


def _cluster(node: Branch, name: str, version: Node, count: Leaf | None, file: str) -> Iterator[Source]:
    """Yield a cluster; a release that a parameter or another module gives is not known."""
    text = version.text if isinstance(version, Leaf) else None
    release = _RELEASE.match((text or "").strip())
    is_given = text is None or "${" in text
    if not is_given and (release is None or not is_release(release[1])):
        return
    own = version if isinstance(version, Leaf) else Leaf(None, node.line)
    place = Place(own.file or file, own.line)
    yield Source(
        place=place,
        values={},
        label=name,
        role=Role.BROKER,
        client=Client.JAVA,
        version="" if release is None else release[1],
        framework=dict.fromkeys(SET_BY_NUMBER),
        cluster=f"{Place(file, node.line)} {name}",
        recognized_by="a cluster of a cloud",
        instances=None if count is None else value_of("count", count, file),
    )
