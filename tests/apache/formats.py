"""Data directories that are formatted once per release and level of its feature, not once per cluster."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

from eosctl.lab.apache.node import format_without_tool, is_formatted
from eosctl.lab.apache.nodes import STORAGE_SETTINGS, ApacheConfig, random_cluster_id
from eosctl.storage.meta_properties import MetaProperties
from eosctl.storage.names import BOOTSTRAP_SNAPSHOT

#: What StorageTool has written in this process, by release and level of transaction.version.
_WRITTEN: Final[dict[tuple[str, int | None], bytes]] = {}


def format_as_before(config: ApacheConfig, directory: Path) -> None:
    """Format the first node of a new cluster with the records that StorageTool wrote for an earlier one, if any.

    StorageTool takes more than a second of processor time, and the tests start some hundred clusters.
    """
    records = _WRITTEN.get((config.version, config.transaction_version))
    data_dir = directory / "node-1" / "data"
    if records is None or data_dir.exists() or STORAGE_SETTINGS & config.settings.keys():
        return
    rng = random.Random()
    format_without_tool(data_dir, records, MetaProperties(1, random_cluster_id(rng), random_cluster_id(rng)))


def note_format(config: ApacheConfig, directory: Path) -> None:
    """Keep the records of a cluster that has started."""
    data_dir = directory / "node-1" / "data"
    if is_formatted(data_dir):
        _WRITTEN.setdefault((config.version, config.transaction_version), (data_dir / BOOTSTRAP_SNAPSHOT).read_bytes())
