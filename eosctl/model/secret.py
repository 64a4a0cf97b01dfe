"""A string that is masked when printed."""

from __future__ import annotations

from typing import Final

MASK: Final = "[hidden]"


class Secret:
    """A password, token, or key that is masked wherever it is printed.

    Only `reveal` returns the text, so a search for that name finds every use.
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
