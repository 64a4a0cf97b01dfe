"""Masking secrets in text that somebody else wrote: passwords, tokens, keys in the lines of logs."""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "[hidden]"

# None may tell one digit from another: the log mining remembers whether texts alike but for their digits hold a secret.
PATTERNS: Final = (
    # name=value, name: value and "name": "value", in properties, YAML, JSON and JAAS
    (
        r"""((?:password|passwd|passphrase|secret|token|credential|api[._-]?key|private[._-]?key|access[._-]?key)"""
        r"""[\w.-]*["']?\s*[=:]\s*["']?)(?!null\b|\[hidden\]|\s)[^\s"',;}\]&]+"""
    ),
    r"""(sasl\.jaas\.config["']?\s*[=:]\s*)(?!null\b|\[hidden\])[^\r\n]+""",
    r"""(basic\.auth\.user\.info["']?\s*[=:]\s*["']?)[^\s"',;}]+""",
    r"""(\b(?:bearer|basic)\s+)[A-Za-z0-9+/._~=-]{8,}""",
    r"""(\w+://[^\s/:@]+:)[^\s/@]+(?=@)""",
)
_IN_TEXT: Final = tuple(re.compile(pattern, re.IGNORECASE) for pattern in PATTERNS)
_IN_BYTES: Final = tuple(re.compile(pattern.encode(), re.IGNORECASE) for pattern in PATTERNS)


def redact_text(text: str) -> str:
    """Return a text with its secrets masked.

    >>> redact_text('jdbc:postgresql://h/db?user=a&password=changeit failed')
    'jdbc:postgresql://h/db?user=a&password=[hidden] failed'
    """
    for pattern in _IN_TEXT:
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def redact_line(line: bytes) -> bytes:
    """Return a line of any encoding that extends ASCII with its secrets masked.

    >>> redact_line(b'ssl.keystore.password = changeit')
    b'ssl.keystore.password = [hidden]'
    """
    for pattern in _IN_BYTES:
        line = pattern.sub(rb"\1" + MASK.encode(), line)
    return line
