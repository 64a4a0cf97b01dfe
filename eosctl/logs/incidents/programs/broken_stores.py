"""Describe the state stores of Kafka Streams that cannot be opened: held by another process, refused, or damaged."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.logs.classifier.storage_errors import storage_error
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent


def broken_store(application: str, episode: Sequence[LogEvent]) -> Incident:
    """Return the incident of an application that cannot open a store.

    Args:
        application: The Streams application.
        episode: Its records of one failure, at least one of them of category STATE_STORE_CORRUPT.
    """
    corrupt = next(event for event in episode if event.category == "STATE_STORE_CORRUPT")
    store = corrupt.fields.get("store", "")
    what = f"its store {store}" if store else "a store"
    if any(event.fields.get("held") for event in episode):
        return incident(
            "state_directory_error",
            "state-store-locked-by-another-process",
            {"application.id": application, "store": store, "state.dir": corrupt.fields.get("store_dir", "")},
            episode,
            f"{application} cannot open {what}: another process or thread holds its files. They are not damaged.",
            "Give each instance a state.dir of its own, or stop the other process and wait for its end. Do not delete "
            "the directory below a process that uses it.",
            confidence=0.9,
        )
    if reason := next((one for event in episode if (one := event.fields.get("os_error"))), ""):
        error = storage_error([reason])
        return incident(
            "state_directory_error",
            error.cause.replace("log-dir", "state-dir"),
            {"application.id": application, "store": store, "state.dir": corrupt.fields.get("store_dir", "")},
            episode,
            f"{application} cannot open {what}{error.why} ({reason}). Its files need not be damaged.",
            f"{error.next}, then restart the application. Do not delete the directory: the reason stays.",
            confidence=0.9,
        )
    is_seen = any(one.exception and any("RocksDB" in name for name in one.exception.chain) for one in episode)
    why = "the local files are damaged" if is_seen else "most likely the local files are damaged"
    if any(event.fields.get("newer_layout") for event in episode):
        why = (
            "Kafka Streams 4.3 or later wrote it, with a column family for offsets that older releases do not open. "
            "The files are not damaged"
        )
    return incident(
        "state_store_corrupt",
        "corrupt-state-store",
        {"application.id": application, "store": store},
        episode,
        f"{application} cannot open {what}: {why}.",
        "Stop the instance, remove the store's directory, and start it again: its changelog restores the store.",
        confidence=0.95 if is_seen else 0.6,
    )
