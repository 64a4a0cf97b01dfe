"""Distinguish names of settings from what stands in their place when a value lost its marks of continuation.

A PEM block whose lines end without a backslash is read as one name a line, and so is a file with a password alone. No
message shows such a line.
"""

from __future__ import annotations

import re
from typing import Final

from eosctl.model.random_words import is_random
from eosctl.model.redaction import redact_text
from eosctl.model.secret import MASK

_LONGEST: Final = 120
# linger.ms, schema.registry.url, KAFKA_HEAP_OPTS, and the only settings of clients without a dot
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*\.[a-z0-9]+(?:[._-][a-z0-9]+)*|acks|retries", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", re.ASCII)
_PART: Final = re.compile(r"[A-Za-z0-9]{12,}", re.ASCII)
# A line of Base64
_BODY: Final = re.compile(r"[\w+/]{16,}={0,2}", re.ASCII)


def is_setting_name(text: str) -> bool:
    """Return whether a text has the form of a setting's name, so that it may be shown.

    >>> is_setting_name("linger.ms"), is_setting_name("/jc7Ebj9fdONCjwxPFYmdPycgO10"), is_setting_name("changeit")
    (True, False, False)
    """
    if len(text) > _LONGEST or not (_NAME.fullmatch(text) or _VARIABLE.fullmatch(text)):
        return False
    return not any(map(is_random, _PART.findall(text))) and redact_text(text) == text


def shown_key(text: str) -> str:
    """Return a key of any file for people, masked where it is a line of key material or holds a secret.

    >>> shown_key("My key"), shown_key("/jc7Ebj9fdONCjwxPFYmdPycgO10MDELxIofNitNjqLWMkSZ1Z3vTWe8cDJ1t0JJ")
    ('My key', '[hidden]')
    """
    if text.startswith("-----") or (_BODY.fullmatch(text) and is_random(text)):
        return MASK
    return redact_text(text)
