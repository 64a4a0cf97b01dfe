"""A cluster as Strimzi's resources describe it: `Kafka`, its `KafkaNodePool`s, and `KafkaTopic`s."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from eosctl.capacity.partial_workload import Given, PartialWorkload, Section
from eosctl.capacity.plain_document import find, find_items, find_text, find_whole
from eosctl.errors import ConfigFileError
from eosctl.model.workload import parse_cleanup

_GROUP: Final = "kafka.strimzi.io/"
_QUANTITY: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(Ki|Mi|Gi|Ti|k|M|G|T|)")
_UNITS: Final = {"": "B", "k": "kB", **{unit: f"{unit}B" for unit in ("Ki", "Mi", "Gi", "Ti", "M", "G", "T")}}
_SIZES: Final = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "": 1}
_HEAP: Final = re.compile(r"([0-9]+)([kKmMgG]?)")
#: Settings of brokers and their keys in a workload file, with the unit of the setting.
_SETTINGS: Final[Mapping[str, tuple[str, str]]] = {
    "default.replication.factor": ("replication_factor", ""),
    "min.insync.replicas": ("min_insync_replicas", ""),
    "log.segment.bytes": ("segment", " B"),
    "transaction.state.log.num.partitions": ("transaction_log_partitions", ""),
    "offsets.topic.num.partitions": ("offsets_partitions", ""),
    "num.io.threads": ("io_threads", ""),
    "num.network.threads": ("network_threads", ""),
    "producer.id.expiration.ms": ("producer_id_expiration", " ms"),
    "transactional.id.expiration.ms": ("transactional_id_expiration", " ms"),
    "transaction.max.timeout.ms": ("transaction_max_timeout", " ms"),
}
#: What topics can have of their own and a plan has once: the setting, its path, the key of the cluster, and the unit.
_OF_TOPICS: Final = (
    ("replicas", ("replicas",), "replication_factor", ""),
    ("min.insync.replicas", ("config", "min.insync.replicas"), "min_insync_replicas", ""),
    ("segment.bytes", ("config", "segment.bytes"), "segment", " B"),
)
_RETENTIONS: Final = (("log.retention.ms", "ms"), ("log.retention.minutes", "min"), ("log.retention.hours", "h"))
#: What Kafka takes for no limit of time.
NO_LIMIT: Final = "-1"


def is_strimzi(document: object) -> bool:
    """Return whether a document is a resource of Strimzi."""
    return find_text(document, "apiVersion").startswith(_GROUP)


def describe_strimzi(documents: Sequence[object], source: str) -> PartialWorkload:
    """Return the part of a workload that Strimzi's resources describe.

    Raises:
        ConfigFileError: There is not exactly one `Kafka` resource.
    """
    clusters = [document for document in documents if _is_kind(document, "Kafka")]
    if len(clusters) != 1:
        raise ConfigFileError(
            f"{source} has {len(clusters)} Kafka resources.",
            "A workload has one cluster.",
            "Give a file with one Kafka resource and its KafkaNodePools.",
        )
    (kafka,) = clusters
    name = find_text(kafka, "metadata", "name")
    own = [
        document for document in documents if find_text(document, "metadata", "labels", "strimzi.io/cluster") == name
    ]
    pools = [pool for pool in own if _is_kind(pool, "KafkaNodePool") and "broker" in find_items(pool, "spec", "roles")]
    brokers = pools or [find(kafka, "spec", "kafka")]
    cluster: dict[str, Given] = {**_nodes(pools, kafka, name), **_settings(kafka, name)}
    version = find_text(kafka, "spec", "kafka", "version")
    if match := re.match(r"\d+\.\d+", version):
        cluster["kafka_version"] = Given(f'"{match[0]}"', f"Kafka {name}: version {version}")
    remarks = []
    if len(brokers) > 1:
        remarks.append(
            f"Kafka {name} has {len(brokers)} node pools of brokers; disk, memory, and heap are the smallest."
        )
    if find(kafka, "spec", "kafka", "rack") is not None:
        remarks.append(f"Kafka {name} has rack awareness; how many zones there are, it does not say.")
    resources = [resource for resource in own if _is_kind(resource, "KafkaTopic")]
    if copies := Counter(count for one in resources if (count := find_whole(one, "spec", "replicas")) is not None):
        most, _ = copies.most_common(1)[0]
        cluster.setdefault("replication_factor", Given(str(most), "KafkaTopics: replicas"))
    remarks += [remark for one in resources if (remark := _remark_what_differs(one, cluster))]
    usual = _usual_retention(kafka, name)
    topics = {
        find_text(one, "spec", "topicName") or find_text(one, "metadata", "name"): {**usual, **_topic(one)}
        for one in resources
    }
    return PartialWorkload(cluster, topics, {}, remarks)


def _is_kind(document: object, kind: str) -> bool:
    return is_strimzi(document) and find_text(document, "kind") == kind


def _nodes(pools: Sequence[object], kafka: object, name: str) -> dict[str, Given]:
    """Return the number of brokers, and what the smallest of them has."""
    specs = [find(pool, "spec") for pool in pools] or [find(kafka, "spec", "kafka")]
    names = ", ".join(find_text(pool, "metadata", "name") for pool in pools)
    source = f"KafkaNodePool {names}" if pools else f"Kafka {name}"
    found: dict[str, Given] = {}
    counts = [find_whole(spec, "replicas") for spec in specs]
    known = [count for count in counts if count is not None]
    if len(known) == len(counts):
        found["brokers"] = Given(str(sum(known)), f"{source}: replicas")
    # A pool without resources or JVM options of its own has those of the Kafka resource; its storage is its own.
    common = find(kafka, "spec", "kafka")
    readers: tuple[tuple[str, str, Callable[[object], tuple[float, str] | None], object], ...] = (
        ("disk", "storage", _disk, None),
        ("memory", "resources.limits.memory", _memory, common),
        ("heap", "jvmOptions -Xmx", _heap, common),
    )
    for key, setting, read, default in readers:
        sizes = [read(spec) or read(default) for spec in specs]
        complete = [size for size in sizes if size is not None]
        if complete and len(complete) == len(sizes):
            found[key] = Given(min(complete)[1], f"{source}: {setting}")
    return found


def _disk(spec: object) -> tuple[float, str] | None:
    storage = find(spec, "storage")
    volumes = [*find_items(storage, "volumes")] if find_text(storage, "type") == "jbod" else [storage]
    sizes = [_size(find_text(volume, "size")) for volume in volumes]
    complete = [size for size in sizes if size is not None]
    if not complete or len(complete) != len(sizes):
        return None
    if len(complete) == 1:
        return complete[0]
    total = sum(size for size, _ in complete)
    return total, f"{total:.0f} B"


def _memory(spec: object) -> tuple[float, str] | None:
    return _size(find_text(spec, "resources", "limits", "memory"))


def _heap(spec: object) -> tuple[float, str] | None:
    match = _HEAP.fullmatch(find_text(spec, "jvmOptions", "-Xmx"))
    if match is None:
        return None
    unit = {"k": "Ki", "m": "Mi", "g": "Gi"}.get(match[2].lower(), "")
    return _size(f"{match[1]}{unit}")


def _size(text: str) -> tuple[float, str] | None:
    """Return a quantity of Kubernetes in bytes, and as a workload file has it.

    >>> _size("1Ti"), _size("500G"), _size("1.5x")
    ((1099511627776.0, '1 TiB'), (500000000000.0, '500 GB'), None)
    """
    match = _QUANTITY.fullmatch(text)
    return None if match is None else (float(match[1]) * _SIZES[match[2]], f"{match[1]} {_UNITS[match[2]]}")


def _settings(kafka: object, name: str) -> dict[str, Given]:
    config = find(kafka, "spec", "kafka", "config")
    return {
        key: Given(f"{value}{unit}", f"Kafka {name}: {setting}")
        for setting, (key, unit) in _SETTINGS.items()
        if (value := find_whole(config, setting)) is not None
    }


def _topic(topic: object) -> Section:
    source = f"KafkaTopic {find_text(topic, 'metadata', 'name')}"
    found: dict[str, Given] = {}
    if (count := find_whole(topic, "spec", "partitions")) is not None:
        found["partitions"] = Given(str(count), source)
    policy = find_text(topic, "spec", "config", "cleanup.policy")
    if policy:
        try:
            found["cleanup"] = Given(f'"{parse_cleanup(policy)}"', f"{source}: cleanup.policy")
        except ValueError:
            found["cleanup"] = Given(policy, f"{source}: cleanup.policy, which Kafka does not have")
    if (retention := find_text(topic, "spec", "config", "retention.ms")) == NO_LIMIT or retention.isdigit():
        found["retention"] = Given(f"{retention} ms", f"{source}: retention.ms")
    if (local := find_whole(topic, "spec", "config", "local.retention.ms")) is not None:
        found["local_retention"] = Given(f"{local} ms", f"{source}: local.retention.ms")
    return found


def _usual_retention(kafka: object, name: str) -> Section:
    """Return the retention of topics without their own, as brokers work it out: the finest unit counts."""
    for setting, unit in _RETENTIONS:
        value = find_text(kafka, "spec", "kafka", "config", setting)
        if value == NO_LIMIT or value.isdigit():
            text = f"{value} {'ms' if value == NO_LIMIT else unit}"
            return {"retention": Given(text, f"Kafka {name}: {setting}")}
    return {}


def _remark_what_differs(topic: object, cluster: Section) -> str:
    """Return what a topic has other than the cluster; empty where a plan takes it as it is."""
    differing = [
        f"{setting} {value}"
        for setting, path, key, unit in _OF_TOPICS
        if (value := find_whole(topic, "spec", *path)) is not None
        and (key not in cluster or cluster[key].text != f"{value}{unit}")
    ]
    if not differing:
        return ""
    name = find_text(topic, "metadata", "name")
    return f"KafkaTopic {name} has {', '.join(differing)}; a plan takes what the cluster has for all topics."
