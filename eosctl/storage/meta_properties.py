"""The files `meta.properties` and `.kafka_cleanshutdown` of a log directory."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eosctl.storage.atomic import replace_file
from eosctl.storage.errors import DamagedFile
from eosctl.storage.names import CLEAN_SHUTDOWN, META_PROPERTIES
from eosctl.storage.regular_file import lines_of, read_regular

_LONGEST_ID: Final = 10
"""Digits of a node id, an int of 32 bits."""
_PROPERTY: Final = re.compile(r"\s*([^=:\s]+)\s*[=:]?\s*(.*?)\s*")


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """The cluster, node, and directory id of a log directory.

    Version 1 belongs to KRaft. Version 0, written by ZooKeeper brokers, has no directory id and may lack the cluster
    id.
    """

    node_id: int
    cluster_id: str = ""
    directory_id: str = ""
    version: int = 1


def read_meta_properties(log_dir: Path) -> MetaProperties:
    """Read a log directory's `meta.properties`.

    Raises:
        DamagedFile: A required property is missing, or the version is unknown.
        OSError: The file cannot be read.
    """
    path = log_dir / META_PROPERTIES
    properties: dict[str, str] = {}
    for line in lines_of(read_regular(path).decode(errors="replace")):
        if line.strip() and not line.lstrip().startswith(("#", "!")):
            match = _PROPERTY.fullmatch(line)
            if match is not None:
                properties[match[1]] = re.sub(r"\\(.)", r"\1", match[2])
    version = properties.get("version", "0")
    if version not in ("0", "1"):
        raise DamagedFile(path, f"version {version!r}, known are 0 and 1")
    node_id = properties.get("node.id" if version == "1" else "broker.id", "")
    if not node_id.isdecimal() or len(node_id) > _LONGEST_ID:
        raise DamagedFile(path, f"node id {node_id[:40]!r}")
    return MetaProperties(
        int(node_id), properties.get("cluster.id", ""), properties.get("directory.id", ""), int(version)
    )


def write_meta_properties(log_dir: Path, properties: MetaProperties, *, sync: bool = False) -> None:
    """Write a log directory's `meta.properties` in version 1."""
    lines = [f"node.id={properties.node_id}", "version=1", f"cluster.id={properties.cluster_id}"]
    if properties.directory_id:
        lines.insert(1, f"directory.id={properties.directory_id}")
    replace_file(log_dir / META_PROPERTIES, "".join(f"{line}\n" for line in lines).encode(), sync=sync)


def write_clean_shutdown(log_dir: Path, broker_epoch: int) -> None:
    """Write `.kafka_cleanshutdown` with the broker epoch (KIP-966), after all logs of the directory are closed."""
    content = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    replace_file(log_dir / CLEAN_SHUTDOWN, content.encode())


def take_clean_shutdown(log_dir: Path) -> int | None:
    """Remove `.kafka_cleanshutdown`, so that a later crash is recognized.

    Returns:
        The broker epoch in the file (-1 when it has none), or None when the directory was not closed cleanly.
    """
    path = log_dir / CLEAN_SHUTDOWN
    try:
        content = read_regular(path)
        path.unlink()
    except FileNotFoundError:
        return None
    try:
        return int(json.loads(content)["brokerEpoch"])
    except (ValueError, KeyError, TypeError):  # Kafka before 3.7 writes an empty file.
        return -1
