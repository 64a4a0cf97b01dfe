"""Ask a person at a terminal to confirm."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys

from eosctl.command_line.invocation import note
from eosctl.render.escaping import lines_text, utf8_text


def can_ask() -> bool:
    """Return whether a person can answer: both streams are terminals, and no pipeline runs the program."""
    return sys.stdin.isatty() and sys.stderr.isatty() and not os.environ.get("CI")


def is_typed(expected: str, question: str, *, page: str = "") -> bool:
    """Ask for a text, as `read_line` does, and return whether exactly that was typed; a remark follows another text."""
    typed = read_line(question, page=page)
    if typed not in ("", expected):
        note(f"{typed!r} was typed, not {expected!r}")
    return typed == expected


def read_line(prompt: str, *, page: str = "") -> str:
    """Show a prompt on standard error, and return the line that was typed.

    Args:
        prompt: The question.
        page: What is shown above it, as `render_page` made it: its colors stay.

    The first Ctrl-C ends it. A running event loop would only note the signal and continue to read, and Python runs no
    handler for a signal that arrives just before a read begins to wait: a socket that each signal writes to wakes it.

    Raises:
        KeyboardInterrupt: The user pressed Ctrl-C.
    """
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    wakened_before = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    try:
        if page:
            sys.stderr.write(utf8_text(f"{page}\n\n"))
        sys.stderr.write(lines_text(prompt))  # Names of a cluster may be part of it.
        sys.stderr.flush()
        while sys.stdin not in select.select([sys.stdin, woken], [], [])[0]:
            woken.recv(64)
        return sys.stdin.readline().strip()
    finally:
        signal.set_wakeup_fd(wakened_before)
        signal.signal(signal.SIGINT, before)
        woken.close()
        waker.close()
