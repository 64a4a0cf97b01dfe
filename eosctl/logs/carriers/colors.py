r"""Remove the escape sequences of colors, which stand between the parts of a line (ECMA-48, Select Graphic Rendition).

A terminal gets the byte 0x1B in front of ``[36m``. What people save and post has a printed form of that byte instead:
``^[`` from ``cat -v``, ``\x1b``, ``\e``, ``\033``, and ``\u001b`` from languages and JSON, ``#033`` from rsyslog,
``ESC`` and U+241B from editors.
"""

from __future__ import annotations

import re
from typing import Final

_FORMS: Final = (
    b"\x1b[",
    b"^[[",
    b"ESC[",
    rb"\x1b[",
    rb"\x1B[",
    rb"\e[",
    rb"\033[",
    rb"\u001b[",
    rb"\u001B[",
    b"#033[",
    "\u241b[".encode(),
)
"""The beginnings of an escape sequence; to look for each of them is faster than one expression."""
_SEQUENCE: Final = re.compile(
    rb"(?:%b)(?:(?<!ESC\[)|(?=[0-9;]*m))[0-9;]*[A-Za-z]" % b"|".join(re.escape(form) for form in _FORMS)
)
"""A sequence; after the letters ``ESC``, only one that sets a color."""


def has_colors(text: bytes | bytearray) -> bool:
    """Return whether a text has the escape sequence of a color.

    >>> has_colors(b"\\x1b[36mworker"), has_colors(b"ESC[36mworker"), has_colors(b"worker[36m")
    (True, True, False)
    """
    return any(form in text for form in _FORMS) and _SEQUENCE.search(text) is not None


def without_colors(text: bytes) -> bytes:
    """Return a text without the escape sequences of colors.

    >>> without_colors(b"ESC[36mworker-1 |ESC[0m ready^[[K")
    b'worker-1 | ready'
    """
    return _SEQUENCE.sub(b"", text) if b"[" in text and has_colors(text) else text
