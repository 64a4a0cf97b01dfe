"""The resources of a broker's JVM, from the JDK's `jcmd`: live heap, and processor time by kind of thread."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.lab.apache.process import read_record
from eosctl.lab.engine import EngineError, MissingTool

REQUEST_HANDLER: Final = "request handler"
NETWORK_THREAD: Final = "network thread"
_TIMEOUT_S: Final = 120
_CLASS: Final = re.compile(r"^\s*\d+:\s+\d+\s+(\d+)\s+(\S+)", re.MULTILINE)
_THREAD: Final = re.compile(r'^"([^"]+)".*? cpu=([\d.]+)ms', re.MULTILINE)
_LOADED: Final = re.compile(
    r"Finished loading \d+ transaction metadata from __transaction_state-\d+ in (\d+) milliseconds, of which (\d+)"
)


def read_live_object_bytes(record: Path) -> int:
    """Return the size of all reachable objects of a broker but byte arrays, by its class histogram.

    Byte arrays are buffers and text: a quorum's leader alone takes one of 8 MiB with its first append.

    Args:
        record: The record of the running process (`eosctl.lab.apache.node`).

    Raises:
        MissingTool: `jcmd` is not installed.
        EngineError: The process does not run or does not respond.
    """
    rows = _CLASS.findall(_ask(record, "GC.class_histogram"))
    return sum(int(size) for size, name in rows if name != "[B")


def read_thread_cpu_ms(record: Path) -> Mapping[str, float]:
    """Return the processor time of a broker's request handlers and network threads, in milliseconds.

    Raises:
        MissingTool: `jcmd` is not installed.
        EngineError: The process does not run or does not respond.
    """
    used: defaultdict[str, float] = defaultdict(float)
    for name, cpu_ms in _THREAD.findall(_ask(record, "Thread.print")):
        if "request-handler" in name:
            used[REQUEST_HANDLER] += float(cpu_ms)
        elif "network-thread" in name and "CONTROLLER" not in name:
            used[NETWORK_THREAD] += float(cpu_ms)
    return used


class CoordinatorLoads(NamedTuple):
    """The number of loaded partitions of the transaction log, and the total duration."""

    partition_count: int
    duration_ms: int


def parse_coordinator_loads(log: str) -> CoordinatorLoads:
    """Return the coordinator loads in a broker's log, without the time spent waiting for the loading thread.

    >>> line = "Finished loading 3 transaction metadata from __transaction_state-0 in 17 milliseconds, of which 5 mill"
    >>> parse_coordinator_loads(line)
    CoordinatorLoads(partition_count=1, duration_ms=12)
    """
    found = _LOADED.findall(log)
    return CoordinatorLoads(len(found), sum(int(total_ms) - int(waited_ms) for total_ms, waited_ms in found))


def _ask(record: Path, command: str) -> str:
    tool = shutil.which("jcmd")
    if tool is None:
        raise MissingTool(
            "jcmd",
            "It comes with a JDK.",
            "apt-get install openjdk-17-jdk-headless; Debian 13 has 21.",
        )
    running = read_record(record)
    if running is None:
        raise EngineError(
            f"No process is recorded in {record}.",
            "The broker was never started here, or has ended.",
            "Start it, then ask again.",
        )
    done = subprocess.run(
        [tool, str(running.pid), command], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise EngineError(
            f"jcmd {command} failed.",
            (done.stderr or done.stdout).strip()[:200],
            "Run it as the user of the broker's process, with the jcmd of its Java.",
        )
    return done.stdout
