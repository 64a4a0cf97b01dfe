"""Transaction markers that end nothing: counted, since most of them are healthy and some clusters have millions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from eosctl.analysis.fsck.notes import INFO, WARNING, Notes
from eosctl.storage.scan import LogBatch
from eosctl.text import count_text
from eosctl.wire.records.control import EndTxnMarker


class FirstMarker(NamedTuple):
    """The first of several markers, and its producer."""

    file: str
    position: int
    offset: int
    producer_id: int
    producer_epoch: int


@dataclass(slots=True)
class BareMarkers:
    """Gathers the markers of a partition before which their producer had no open transaction.

    Aborts are written to every partition that a transaction has named, and a coordinator that was replaced sends
    markers again. A commit of a producer that the whole log has never seen is another matter: a client commits only
    what was acknowledged.

    Attributes:
        found: The first marker and their number, of those that are odd (True) and of the others.
    """

    found: dict[bool, tuple[FirstMarker, int]] = field(default_factory=dict)

    def follow(self, batch: LogBatch, file: str, marker: EndTxnMarker, *, is_known: bool) -> None:
        """Take in a marker that has ended nothing.

        Args:
            batch: Its batch.
            file: The log.
            marker: The marker.
            is_known: Whether the log holds anything of the producer before it.
        """
        header = batch.header
        is_odd = marker.committed and not is_known
        here = FirstMarker(file, batch.position, header.base_offset, header.producer_id, header.producer_epoch)
        first, count = self.found.get(is_odd, (here, 0))
        self.found[is_odd] = first, count + 1

    def finish(self, notes: Notes) -> None:
        """Note what was found."""
        for is_odd, (first, count) in self.found.items():
            what = f"producer {first.producer_id} epoch {first.producer_epoch} at offset {first.offset}"
            notes.add(
                "commit-without-data" if is_odd else "markers-without-data",
                f"{count_text(count, 'COMMIT marker')} of producers without any record before, the first of {what}"
                if is_odd
                else f"{count_text(count, 'marker')} that end no transaction, the first of {what}",
                first.file,
                severity=WARNING if is_odd else INFO,
                since=first.offset,
                position=first.position,
                offset=first.offset,
                producer_id=first.producer_id,
                producer_epoch=first.producer_epoch,
            )
