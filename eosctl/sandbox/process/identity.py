"""Distinguish a process from a later one with the same id."""

from __future__ import annotations

import os
import select
import signal
from pathlib import Path


def start_ticks(pid: int) -> int | None:
    """Return the start time of a process in clock ticks since boot; None if it does not run or is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The command's name, in parentheses, may contain spaces and parentheses.
    fields = stat[stat.rindex(")") + 2 :].split()
    return None if fields[0] == "Z" else int(fields[19])


def is_same_process(pid: int, ticks: int) -> bool:
    """Return whether the process with this id and start time is still running."""
    return start_ticks(pid) == ticks


def wait_for_exit(pid: int, ticks: int, timeout_s: float) -> bool:
    """Wait until the process has ended; return False if it still runs after `timeout_s`."""
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


def is_readable_within(descriptor: int, timeout_s: float) -> bool:
    """Wait until a descriptor is readable; return False after `timeout_s`."""
    # select() rejects descriptors from 1,024 on.
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(timeout_s * 1000))


def send_signal(pid: int, ticks: int, number: signal.Signals) -> None:
    """Send a signal to exactly this process; do nothing if it has ended."""
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
