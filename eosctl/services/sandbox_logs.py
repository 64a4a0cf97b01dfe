"""The logs of a sandbox's nodes, and what its own process printed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.errors import EosctlError, UsageError
from eosctl.model.sandbox import NodeRecord
from eosctl.sandbox.logging.log_reader import LogReader
from eosctl.sandbox.process import manage, paths
from eosctl.services.sandboxes import DEFAULT_NAME
from eosctl.services.stopwatch import SYSTEM, Stopwatch

POLL_S: Final = 0.2


class SandboxLogsRequest(NamedTuple):
    """The records to read.

    Attributes:
        name: The sandbox.
        node: The id or name of one broker or controller, `2` or `broker-2`; None for all.
        lines: How many of the last records.
        follow: Whether to continue with what is added, as long as the sandbox runs.
    """

    name: str = DEFAULT_NAME
    node: str | None = None
    lines: int = 50
    follow: bool = False


def read_sandbox_logs(request: SandboxLogsRequest, stopwatch: Stopwatch = SYSTEM) -> Iterator[tuple[NodeRecord, ...]]:
    """Yield the last records, then what is added, in order of time.

    Raises:
        EosctlError: The sandbox has no logs.
        UsageError: It has no such node.
    """
    name, node = request.name, request.node
    found = manage.find(name)
    data_dir = Path(found.sandbox.data_dir) if found is not None else paths.default_data_dir(name)
    nodes = LogReader(paths.logs_dir(data_dir)).nodes()
    if not nodes:
        raise EosctlError(
            f"The sandbox {name!r} has no logs.",
            f"{paths.logs_dir(data_dir)} is empty.",
            "Start it with: eosctl sandbox up; if that fails, see: eosctl sandbox logs --process",
        )
    chosen = nodes if node is None else [one for one in nodes if node in _names_of(one)]
    if not chosen:
        raise UsageError(f"The sandbox {name!r} has no node {node}.", f"It has: {', '.join(nodes)}.", "Choose one.")
    reader = LogReader(paths.logs_dir(data_dir), chosen)
    yield tuple(reader.read(request.lines))
    runs = request.follow
    while runs:
        stopwatch.pause_s(POLL_S)
        now = manage.find(name)
        runs = now is not None and now.running
        yield tuple(reader.read())


def _names_of(node: str) -> tuple[str, str, str]:
    """Return the names by which faults take a node as well."""
    number = node.rpartition("-")[2]
    return node, number, f"node-{number}"


def read_process_output(name: str = DEFAULT_NAME, lines: int = 50) -> str:
    """Return the last lines that the process of a sandbox printed.

    Raises:
        EosctlError: The file cannot be read.
    """
    path = paths.log_file(name)
    try:
        with path.open(encoding="utf-8", errors="replace") as log:
            return "".join(deque(log, maxlen=lines))
    except OSError as error:
        raise EosctlError(
            f"Cannot read {path}.", error.strerror or str(error), "See what runs: eosctl sandbox status"
        ) from error
