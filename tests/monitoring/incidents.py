"""The recordings among the fixtures, and which alerts fire in them: these and no others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Incident(NamedTuple):
    """A recording.

    Attributes:
        what: The fault during the recording.
        moments: Minutes from its start, and the alerts that fire then.
    """

    what: str
    moments: Mapping[float, frozenset[str]]

    @property
    def firing(self) -> frozenset[str]:
        """Return all alerts that fire in it."""
        return frozenset().union(*self.moments.values())


def incident(what: str, moments: Mapping[float, set[str]]) -> Incident:
    return Incident(what, MappingProxyType({minutes: frozenset(names) for minutes, names in moments.items()}))


HANGS = {"EosHangingTransaction", "EosLastStableOffsetStalled", "EosFencingStorm"}
#: By name; ``record_incident`` made the first two, ``recording.broker`` and ``recording.client`` the others.
INCIDENTS = {
    "healthy": incident("nothing: ten minutes of load", {5: set(), 10: set()}),
    # The oldest open transaction is a minute of traffic behind after a minute, and stays so for three.
    "incident": incident(
        "under load a transaction hangs, two instances share an id, batches come late (and 15 % of a producer's "
        "transactions begin too early: below the limit)",
        {1: set(), 6: HANGS, 17: {*HANGS, "EosLateTransactions", "EosVerificationFailures"}},
    ),
    "slow-syncs": incident(
        "each sync of a log takes 1.5 s", {1: set(), 5: {"EosLogFlushSlow"}, 7: {"EosLogFlushSlow", "EosEndTxnSlow"}}
    ),
    "stuck-threads": incident(
        "the only request handler waits for a slow disk, and the only network thread for the handler", {
            1: set(),
            5.5: {
                "EosEndTxnSlow",
                "EosLastStableOffsetStalled",
                "EosLogFlushSlow",
                "EosNetworkThreadsBusy",
                "EosRequestHandlersBusy",
            },
        },
    ),
    "damaged-log": incident(
        "a closed segment of a compacted topic is damaged", {14: set(), 17: {"EosCleanerBlocked"}}
    ),
    "slow-load": incident(
        "a broker starts whose disk takes 7 s for each read", {0.5: set(), 3: {"EosCoordinatorLoadSlow"}}
    ),
    "very-slow-load": incident(
        "a broker starts whose disk takes 20 s for each read", {0.5: set(), 4: {"EosCoordinatorLoadVerySlow"}}
    ),
    "slow-commits": incident(
        "each EndTxn of Kafka Streams takes 6 s", {2.5: set(), 9: {"EosStreamsCommitNearTimeout"}}
    ),
    "records-without-key": incident(
        "half of the records that Kafka Streams groups have no key", {2: set(), 9: {"EosStreamsDropsRecords"}}
    ),
    "late-records": incident(
        "half of the records of Kafka Streams are five minutes late", {2.5: set(), 15: {"EosStreamsRecordsLate"}}
    ),
    "many-transactions": incident("10,050 transactions are open", {4: set(), 8: {"EosTransactionsMany"}}),
    "producer-ids": incident(
        "10,000 producer ids, and three more each second", {20: set(), 31: {"EosProducerIdsGrow"}}
    ),
    "poison": incident("a record that kills the stream thread", {1.5: set(), 4: {"EosStreamsThreadFailed"}}),
    "large-records": incident(
        "a producer's records are larger than its topic takes", {1: set(), 4: {"EosProducerDropsRecords"}}
    ),
}  # fmt: skip
VERSION = "4.3.1"
