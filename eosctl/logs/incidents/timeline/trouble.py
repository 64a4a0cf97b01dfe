"""Categories of clients' records about brokers that are unavailable or cannot write."""

from __future__ import annotations

from typing import Final

from eosctl.model.event_names import EventCategory

DISCONNECTS: Final = ("NETWORK_DISCONNECT", "CONNECTIONS_LOST", "BROKERS_UNREACHED")
"""Categories of records about connections that ended or could not be established."""
FELT: Final = (
    *("TIMEOUT_ADD_OFFSETS", "TIMEOUT_COMMIT_TXN", "TIMEOUT_INIT_PID", "TIMEOUT_OTHER", "TIMEOUT_SEND"),
    *("CONCURRENT_TRANSACTIONS", "COORDINATOR_UNAVAILABLE", "PRODUCER_FENCED", "TXN_STATE_ERROR"),
)
"""Categories of clients' records about partitions that cannot be written."""
UNANSWERED: Final = (
    *("TIMEOUT_ADD_OFFSETS", "TIMEOUT_COMMIT_TXN", "TIMEOUT_INIT_PID", "TIMEOUT_OTHER", "TIMEOUT_SEND"),
    "NOT_ENOUGH_REPLICAS",
)
"""Categories of clients' records about writes that timed out."""
TROUBLE: Final = (
    *UNANSWERED,
    *DISCONNECTS,
    *("NOT_LEADER", "VERIFICATION_UNAVAILABLE", "STORAGE_ERROR", "STORAGE_ECHO"),
    "COORDINATOR_UNAVAILABLE",
)
"""The same, and the records of clients while a leader or coordinator is briefly unavailable."""
SUCCESSES: Final[tuple[EventCategory, ...]] = (
    *("INIT_PRODUCER_ID", "TXN_RETRIED", "REBALANCE_DONE", "SEND_RECOVERED", "CHECKPOINT_COMPLETED"),
    *("STATE_RESTORE_END", "REDPANDA_STARTED"),
)
"""Categories of records which show that a program reached what it needs."""
