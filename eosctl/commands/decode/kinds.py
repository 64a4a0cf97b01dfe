"""What kind of file a person means who names a file alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from typer.core import TyperGroup

from eosctl.errors import UsageError
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


class DecoderGroup(TyperGroup):
    """The decoders; a file in the place of one is told which one it wants."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the decoder that is named.

        Raises:
            UsageError: A file is named and no decoder.
        """
        if args and args[0] not in self.commands and Path(args[0]).exists():
            kind = likely_kind(Path(args[0]))
            raise UsageError(
                f"{args[0]} is a file or directory, and decode wants to know of which kind first.",
                f"There are: {', '.join(self.commands)}." if len(self.commands) > 1 else "",
                f"Its name says: eosctl decode {kind} {args[0]}" if kind else "Choose one: eosctl decode KIND FILE",
            )
        return super().resolve_command(ctx, args)


def likely_kind(path: Path) -> str:
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
