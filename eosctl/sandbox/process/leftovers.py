"""What the workers of a sandbox leave when its process was killed: they end on their own, but perhaps not yet."""

from __future__ import annotations

import json
import signal
from typing import Final

from eosctl.sandbox.process import paths
from eosctl.sandbox.process.identity import send_signal, wait_for_exit
from eosctl.sandbox.process.spec import SandboxSpec

KILL_TIMEOUT_S: Final = 60.0


def remove_worker_files(spec: SandboxSpec) -> None:
    """Delete the sockets of the workers and the file that identifies them."""
    paths.workers_file(spec.name).unlink(missing_ok=True)
    for worker in range(1, spec.processes + 1):
        paths.worker_socket(spec.name, worker).unlink(missing_ok=True)
        paths.link_socket(spec.name, worker).unlink(missing_ok=True)


def end_workers(spec: SandboxSpec) -> None:
    """Kill exactly the workers of an ended sandbox that still run, and delete their files."""
    if spec.processes == 1:
        return
    try:
        workers = json.loads(paths.workers_file(spec.name).read_bytes())
    except (OSError, ValueError):
        workers = []
    for pid, ticks in workers:
        send_signal(pid, ticks, signal.SIGKILL)
        wait_for_exit(pid, ticks, KILL_TIMEOUT_S)
    remove_worker_files(spec)
