"""Error codes that clients print as numbers, because they are older than the code: ``Error code = 90``."""

from __future__ import annotations

import re
from typing import Final

from eosctl.wire.error_codes import ErrorCode

_CODE: Final = re.compile(r"\b[Ee]rror [Cc]ode\b ?(?:is |[=:] ?)?(\d{1,3})\b(?![.%])")
_NAMES: Final = {str(code.value): code.name for code in ErrorCode if code.value > 0}


def names_of_codes(text: str) -> str:
    """Return the names of the error codes that a text prints as numbers, as Kafka spells them.

    >>> names_of_codes("Unknown error, how did this happen? Error code = 90")
    'PRODUCER_FENCED'
    """
    if "rror " not in text:
        return ""
    return " ".join(_NAMES[code] for code in _CODE.findall(text) if code in _NAMES)
