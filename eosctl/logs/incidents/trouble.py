"""What clients print of brokers that are away or cannot write."""

from __future__ import annotations

from typing import Final

FELT: Final = (
    *("TIMEOUT_ADD_OFFSETS", "TIMEOUT_COMMIT_TXN", "TIMEOUT_INIT_PID", "TIMEOUT_OTHER", "TIMEOUT_SEND"),
    *("CONCURRENT_TRANSACTIONS", "COORDINATOR_UNAVAILABLE", "PRODUCER_FENCED", "TXN_STATE_ERROR"),
)
"""How clients feel partitions that cannot be written."""
UNANSWERED: Final = (
    *("TIMEOUT_ADD_OFFSETS", "TIMEOUT_COMMIT_TXN", "TIMEOUT_INIT_PID", "TIMEOUT_OTHER", "TIMEOUT_SEND"),
    "NOT_ENOUGH_REPLICAS",
)
"""What clients print that waited for a write in vain."""
TROUBLE: Final = (
    *UNANSWERED,
    *("NETWORK_DISCONNECT", "NOT_LEADER", "VERIFICATION_UNAVAILABLE", "STORAGE_ERROR", "STORAGE_ECHO"),
    "COORDINATOR_UNAVAILABLE",
)
"""The same, and what they print whose leaders or coordinators are away for a moment."""
