"""Storage of Strimzi's brokers that ends with their pod.

Strimzi makes an ``emptyDir`` of the type ``ephemeral`` (``VolumeUtils``): Kubernetes deletes it with the pod, so that a
drained or replaced node takes the replicas with it. A restart of the container alone keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eosctl.model.deployment import Value
from eosctl.settings.formats.tree import Branch, Leaf
from eosctl.settings.values.sources import value_of

STORAGE_TYPE: Final = "storage.type"
"""The name under which a broker has the type of its volume; no setting of Kafka."""
EPHEMERAL: Final = "ephemeral"


def lost_storage(storage: Branch | None, file: str) -> Mapping[str, Value]:
    """Return the type of a volume that ends with the pod, by its name; nothing where all volumes outlive it.

    Args:
        storage: The storage of a cluster or of a node pool; None without any.
        file: The file's name.
    """
    volumes = () if storage is None else (storage, *storage.items("volumes"))
    types = (volume.get("type") for volume in volumes if isinstance(volume, Branch))
    lost = next((leaf for leaf in types if isinstance(leaf, Leaf) and leaf.text == EPHEMERAL), None)
    return {} if lost is None else {STORAGE_TYPE: value_of(STORAGE_TYPE, lost, file)}
