"""The error of appending to a closed log."""

from __future__ import annotations


class LogClosed(OSError):  # noqa: N818 - what is the matter, not whose fault it is
    """The log belongs to a node that has stopped."""
