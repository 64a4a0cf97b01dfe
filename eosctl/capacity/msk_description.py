"""A cluster as `aws kafka describe-cluster` and `describe-cluster-v2` describe it (Amazon MSK)."""

from __future__ import annotations

import re
from typing import Final

from eosctl.capacity.partial_workload import Given, PartialWorkload
from eosctl.capacity.plain_document import find, find_items, find_text, find_whole
from eosctl.errors import ConfigFileError

#: The memory of AWS's general-purpose instances, in GiB: 8 at large, and 16 for each xlarge.
_GENERAL: Final = re.compile(r"(?:kafka|express)\.m[0-9]g?\.(large|([0-9]*)xlarge)")
_SMALL: Final = {"kafka.t3.small": 2}


def is_msk(document: object) -> bool:
    """Return whether a document describes an MSK cluster."""
    info = find(document, "ClusterInfo")
    return any(find(info, key) is not None for key in ("BrokerNodeGroupInfo", "Provisioned", "Serverless"))


def describe_msk(document: object, source: str) -> PartialWorkload:
    """Return the part of a workload that a description of an MSK cluster has.

    Raises:
        ConfigFileError: The cluster is serverless.
    """
    info = find(document, "ClusterInfo")
    if find(info, "Serverless") is not None:
        raise ConfigFileError(
            f"{source} describes a serverless cluster.",
            "It has no brokers to plan.",
            "Give the description of a provisioned cluster.",
        )
    name = f"MSK {find_text(info, 'ClusterName') or source}"
    body = find(info, "Provisioned") or info
    group = find(body, "BrokerNodeGroupInfo")
    cluster: dict[str, Given] = {}
    if (count := find_whole(body, "NumberOfBrokerNodes")) is not None:
        cluster["brokers"] = Given(str(count), f"{name}: NumberOfBrokerNodes")
    version = find_text(body, "CurrentBrokerSoftwareInfo", "KafkaVersion")
    if match := re.match(r"\d+\.\d+", version):
        cluster["kafka_version"] = Given(f'"{match[0]}"', f"{name}: KafkaVersion {version}")
    if subnets := len([*find_items(group, "ClientSubnets")]):
        cluster["zones"] = Given(str(subnets), f"{name}: ClientSubnets, one for each zone")
    storage = find(group, "StorageInfo", "EbsStorageInfo")
    if (size := find_whole(storage, "VolumeSize")) is not None:
        cluster["disk"] = Given(f"{size} GiB", f"{name}: VolumeSize")
    throughput = find(storage, "ProvisionedThroughput")
    rate = find_whole(throughput, "VolumeThroughput")
    if rate is not None and find_text(throughput, "Enabled") == "true":
        cluster["disk_write"] = Given(f"{rate} MiB/s", f"{name}: VolumeThroughput")
    instance = find_text(group, "InstanceType")
    if (memory := _memory_gib(instance)) is not None:
        cluster["memory"] = Given(f"{memory} GiB", f"{name}: InstanceType {instance}")
    remarks = [f"{name}: settings of the brokers are in its configuration, which this description does not contain."]
    if find_text(body, "StorageMode") == "TIERED":
        remarks.append(f"{name} has tiered storage: state local_retention for each topic that uses it.")
    return PartialWorkload(cluster, {}, {}, remarks)


def _memory_gib(instance: str) -> int | None:
    """Return the memory of an instance type, None if it is not known.

    >>> _memory_gib("kafka.m5.large"), _memory_gib("kafka.m7g.4xlarge"), _memory_gib("kafka.x9.large")
    (8, 64, None)
    """
    match = _GENERAL.fullmatch(instance)
    if match is None:
        return _SMALL.get(instance)
    return 8 if match[1] == "large" else 16 * int(match[2] or 1)
