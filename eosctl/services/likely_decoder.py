"""The decoder that a file wants by its name, for a user who names the file alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eosctl.errors import UsageError
from eosctl.input_file import exists
from eosctl.storage.names import METADATA_TOPIC, Suffix, is_metadata_snapshot, parse_segment_file

_BY_SUFFIX: Final = {
    Suffix.LOG: "segment",
    Suffix.OFFSET_INDEX: "index",
    Suffix.TIME_INDEX: "time-index",
    Suffix.TXN_INDEX: "txn-index",
    Suffix.PRODUCER_SNAPSHOT: "producer-snapshot",
}
_BY_DIRECTORY: Final = {
    "__transaction_state": "txn-log",
    "__consumer_offsets": "offsets",
    METADATA_TOPIC: "metadata-log",
}


def likely_decoder(path: Path) -> str:
    """Return the decoder of a file of Kafka's by its name and its directory's; empty when they say nothing."""
    segment = parse_segment_file(path.name)
    if segment is not None:
        topic = path.absolute().parent.name.rpartition("-")[0]
        return (segment.suffix is Suffix.LOG and _BY_DIRECTORY.get(topic)) or _BY_SUFFIX[segment.suffix]
    if is_metadata_snapshot(path.name):
        return "metadata-log"
    if path.name.endswith("checkpoint"):
        return "checkpoint"
    return ""


def refuse_file(word: str, decoders: Sequence[str]) -> None:
    """Refuse a file in the place of a decoder, and name the decoder that it wants.

    Raises:
        UsageError: The word names a file or directory.
    """
    if exists(word):
        kind = likely_decoder(Path(word))
        raise UsageError(
            f"{word} is a file or directory; decode needs its kind first.",
            f"Kinds: {', '.join(decoders)}.",
            f"Its name says: eosctl decode {kind} {word}" if kind else "Choose one: eosctl decode KIND FILE",
        )
