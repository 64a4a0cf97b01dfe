"""The answer to a file in the place of a decoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eosctl.errors import UsageError
from eosctl.services.likely_decoder import likely_decoder


def refuse_file(word: str, decoders: Sequence[str]) -> None:
    """Refuse a file in the place of a decoder, and name the decoder that it wants.

    Raises:
        UsageError: The word names a file or directory.
    """
    if Path(word).exists():
        kind = likely_decoder(Path(word))
        raise UsageError(
            f"{word} is a file or directory, and decode wants to know of which kind first.",
            f"There are: {', '.join(decoders)}.",
            f"Its name says: eosctl decode {kind} {word}" if kind else "Choose one: eosctl decode KIND FILE",
        )
