"""Transactions that coordinators rolled back for their age, where only brokers' logs are at hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.logs.incidents.story import LogStory, by_key, episodes, incident
from eosctl.model.incident import Incident

_BURST_MS: Final = 30_000
_DOUBT: Final = 0.5
"""The rollback is certain, what kept the client from ending its transaction is not."""


def find_rollbacks(story: LogStory) -> Iterator[Incident]:
    """Yield the rollbacks of clients of which no log is here; where there is one, it tells what they met."""
    programs = {source.application for source in story.sources} | {event.application for event in story.events}
    if not programs <= story.servers():
        return
    # A client that came back to commit is told with its refusal.
    returned = {event.fields.get("transactional_id", "") for event in story.of("TXN_LATE_COMMIT")}
    rollbacks = ((event.fields.get("transactional_id", ""), event) for event in story.of("TXN_TIMEOUT_ABORT"))
    for transactional_id, events in by_key(rollbacks).items():
        if transactional_id in returned:
            continue
        for burst in episodes(events, _BURST_MS):
            yield incident(
                "transaction_timeout",
                "process-pause-beyond-transaction-timeout",
                {"transactional.id": transactional_id},
                burst,
                f"The coordinator rolled back the open transaction of {transactional_id} for its age. Most likely its "
                "process stood still; one that died or hangs looks the same, and no client's log here tells.",
                "Add the client's log of this time, and look for what stopped the process.",
                confidence=_DOUBT,
            )
