"""Distinguish a process from a later one with the same id.

Linux has /proc, and pidfds, which stay those of one process. Other systems answer the same questions through psutil,
which is a dependency there alone; between its answer and a signal, a process may end and its id may be used again.
"""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

HAS_PIDFDS: Final = hasattr(os, "pidfd_open") and Path("/proc/self/stat").exists()
_CHECK_EVERY_MS: Final = 20


def start_ticks(pid: int) -> int | None:
    """Return the start time of a process; None if it does not run or is a zombie.

    The unit is that of the system: clock ticks since boot on Linux, microseconds since the epoch elsewhere.
    """
    if not HAS_PIDFDS:
        return _start_elsewhere(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The command's name, in parentheses, may contain spaces and parentheses.
    fields = stat[stat.rindex(")") + 2 :].split()
    return None if fields[0] == "Z" else int(fields[19])


def _start_elsewhere(pid: int) -> int | None:
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else round(process.create_time() * 1_000_000)
    except psutil.Error:
        return None


def is_same_process(pid: int, ticks: int) -> bool:
    """Return whether the process with this id and start time is still running."""
    return start_ticks(pid) == ticks


def wait_for_exit(pid: int, ticks: int, timeout_s: float) -> bool:
    """Wait until the process has ended; return False if it still runs after `timeout_s`."""
    if not HAS_PIDFDS:
        return _is_gone_within(pid, ticks, timeout_s)
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        if not is_same_process(pid, ticks):
            return True
        # A child process stays a zombie until it is waited for, but its pidfd becomes readable.
        return is_readable_within(handle, timeout_s)
    finally:
        os.close(handle)


def _is_gone_within(pid: int, ticks: int, timeout_s: float) -> bool:
    """Check a process until it has ended; a child process is not waited for, which would take its exit status."""
    for _ in range(int(timeout_s * 1000) // _CHECK_EVERY_MS):
        if not is_same_process(pid, ticks):
            return True
        select.poll().poll(_CHECK_EVERY_MS)
    return not is_same_process(pid, ticks)


def is_readable_within(descriptor: int, timeout_s: float) -> bool:
    """Wait until a descriptor is readable; return False after `timeout_s`."""
    # select() rejects descriptors from 1,024 on.
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(timeout_s * 1000))


def send_signal(pid: int, ticks: int, number: signal.Signals) -> None:
    """Send a signal to exactly this process; do nothing if it has ended."""
    if not HAS_PIDFDS:
        if is_same_process(pid, ticks):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if is_same_process(pid, ticks):
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return
    finally:
        os.close(handle)
