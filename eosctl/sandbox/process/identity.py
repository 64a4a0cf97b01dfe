"""Telling one process from another that got its id later."""

from __future__ import annotations

import os
import select
import signal
from pathlib import Path


def start_ticks(pid: int) -> int | None:
    """Return when the process started, in clock ticks since boot; None when there is none, or only a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The command's name, in parentheses, may hold spaces and parentheses itself.
    fields = stat[stat.rindex(")") + 2 :].split()
    return None if fields[0] == "Z" else int(fields[19])


def is_same_process(pid: int, ticks: int) -> bool:
    """Return whether the process that had this id and start time still runs."""
    return start_ticks(pid) == ticks


def wait_for_exit(pid: int, ticks: int, timeout_s: float) -> bool:
    """Wait until the process has ended; False when it still runs after `timeout_s`."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        if not is_same_process(pid, ticks):
            return True
        # A child of ours that nobody has waited for would stay a zombie; a pidfd becomes readable all the same.
        return is_readable_within(handle, timeout_s)
    finally:
        os.close(handle)


def is_readable_within(descriptor: int, timeout_s: float) -> bool:
    """Wait until a descriptor can be read; False when `timeout_s` pass before."""
    # Not select(): it refuses descriptors from 1,024 on.
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(timeout_s * 1000))


def send_signal(pid: int, ticks: int, number: signal.Signals) -> None:
    """Signal exactly this process; nothing happens when it has ended."""
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
