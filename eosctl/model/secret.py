"""A string that never shows itself."""

from __future__ import annotations

from typing import Final

MASK: Final = "[hidden]"


class Secret:
    """A password, token or key that prints as a mask wherever it lands.

    The text leaves only through `reveal`, so that a search for that name lists every use.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the secret text, for the code that sends it."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)
