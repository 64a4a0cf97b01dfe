"""Split records with many lines in one: layouts and shippers replace line breaks with signs or escapes.

A sign replaces a line break if a part of a stack trace or a setting follows it. Escapes such as ``\\n`` are line breaks
at any position, except in the names of Windows files.
"""

from __future__ import annotations

import re
from typing import Final

_HINTS: Final = ("\\n", "#012", "^M", "\tat ", " at ", "|at ", "Exception", "Caused by: ", "Traceback", " values: ")
"""Every message with many lines contains one of these."""
_SPELLED: Final = re.compile(r"(?<![\\\w])[A-Za-z]:\\[^\s\"']{1,300}|(?:\\r)?\\n|(?:#015)?#012")
"""An escaped line break, or a path in which the same characters have another meaning."""
_JOINT: Final = re.compile(
    r"(?:\^M|\x0b|\x1e|\r| ?(?:\||~|\u00b6|\u21b5|\u23ce|\u240a|\u2028|\u0085|<br ?/?>)) ?"
    r"(?=\s{0,8}(?:at [\w.$/<>]{1,300}\(|Caused by: |\.\.\. \d{1,5} (?:more|common)|Suppressed: |Traceback \(|File \""
    r"|(?:\w{1,80}\.){1,12}(?:\w{0,80}(?:Exception|Error)\b|\w{1,80} = )))"
)
"""A replacement of a line break before a part of a stack trace or a setting."""


def unfold(message: str, text: str = "") -> tuple[str, str]:
    """Split a message with many lines into the first line and the others.

    Args:
        message: The text of the first line.
        text: The text after it. If it is not empty, only the signs of line breaks in the message count.
    """
    if text.strip():
        return (message[:-2], text.replace("^M\n", "\n")) if message.endswith("^M") else (message, text)
    if not any(hint in message for hint in _HINTS):
        return message, text
    whole = message
    if "\\n" in whole or "#012" in whole:
        whole = _SPELLED.sub(lambda found: found[0] if found[0][1] == ":" else "\n", whole)
        if "\n" in whole:
            whole = whole.replace("\\t", "\t").replace("#011", "\t")
    elif joint := _JOINT.search(whole):
        # The sign between the first two lines also joins the others.
        blank = " " if joint[0].startswith(" ") else ""
        further = re.split(f"{blank}{re.escape(joint[0].strip(' '))} ?", whole[joint.end() :])
        whole = "\n".join((whole[: joint.start()], *further))
    head, _, tail = whole.replace("^M\n", "\n").removesuffix("^M").partition("\n")
    return head, tail
