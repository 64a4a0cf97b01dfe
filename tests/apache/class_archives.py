"""Archives of Kafka's classes for the releases that tests start often, with which brokers start sooner."""

from __future__ import annotations

import asyncio
import fcntl
import random
from pathlib import Path
from typing import Final

from eosctl.lab.apache.java import QUIET_START, prepare_runtime
from eosctl.lab.apache.node import QUICK_START
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.apache.process import end_recorded
from eosctl.lab.apache.releases import resolve_release

#: To write an archive takes some seconds of processor time, after the broker has shut down.
END_PATIENCE_MS: Final = 300_000
STARTED_OFTEN: Final = frozenset({"3.9.2", "4.3.1", "4.4.0"})


def archive_classes(version: str, directory: Path) -> None:
    """Write the archive of a release that is started often, unless it exists.

    Args:
        version: The release.
        directory: A directory for the broker that loads the classes; it must not exist.

    Raises:
        EngineError: Java or the jars are missing, or the broker did not start.
    """
    if version not in STARTED_OFTEN:
        return
    runtime = prepare_runtime(resolve_release(version))
    archive = runtime.class_archive
    if archive.exists():
        return
    with archive.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if archive.exists():  # Another worker has written it.
            return
        part = archive.with_suffix(".part")
        options = (*QUICK_START, f"-XX:ArchiveClassesAtExit={part}", *QUIET_START)
        nodes = ApacheNodes(ApacheConfig(version, jvm_options=options), directory, random.Random(1))
        try:
            asyncio.run(nodes.up())
            for record in nodes.records().values():
                end_recorded(record, patience_ms=END_PATIENCE_MS)
        finally:
            asyncio.run(nodes.down())
        if part.exists():
            part.rename(archive)
