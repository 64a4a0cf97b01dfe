"""The kinds of faults, their parameters, and their meanings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class FaultKind(StrEnum):
    """The kind of a fault."""

    KILL = "kill"
    STOP = "stop"
    START = "start"
    RESTART = "restart"
    PAUSE = "pause"
    SLOW = "slow"
    DISCONNECT = "disconnect"
    CUT = "cut"
    PARTITION = "partition"
    DELAY = "delay"
    DROP = "drop"
    DUPLICATE = "duplicate"
    REORDER = "reorder"
    LATE_MARKERS = "late-markers"
    LATE_END_TXN = "late-end-txn"
    LATE_PRODUCE = "late-produce"
    LATE_OFFSET_COMMIT = "late-offset-commit"
    SLOW_DISK = "slow-disk"
    FULL_DISK = "full-disk"
    FAIL_DISK = "fail-disk"
    SKEW = "skew"
    MOVE_COORDINATOR = "move-coordinator"
    UNLOAD_COORDINATOR = "unload-coordinator"
    REPLAY_STORM = "replay-storm"
    EXHAUST_PRODUCER_IDS = "exhaust-producer-ids"
    LATE_MATERIALIZATION = "late-materialization"
    BUG = "bug"


class Side(StrEnum):
    """The affected frames of a link."""

    REQUESTS = "requests"
    ANSWERS = "answers"


class Moment(StrEnum):
    """The time at which a late materialization runs (KAFKA-17507)."""

    BEFORE_APPEND = "before-append"
    AFTER_APPEND = "after-append"
    LATER = "later"


#: Every kind, in the order of the help text.
WORDS: Final = ", ".join(FaultKind)

#: Names of earlier versions; accepted until 0.3.
RENAMED: Final[Mapping[str, FaultKind]] = {"late-materialisation": FaultKind.LATE_MATERIALIZATION}

_LINK: Final = ("from", "to", "api", "side", "skip", "count", "chance")

#: The parameters of each kind, in addition to `for`.
SETTINGS: Final[Mapping[FaultKind, tuple[str, ...]]] = {
    FaultKind.KILL: ("node", "lose", "torn"),
    FaultKind.STOP: ("node",),
    FaultKind.START: ("node",),
    FaultKind.RESTART: ("node", "lose", "torn"),
    FaultKind.PAUSE: ("node",),
    FaultKind.SLOW: ("node", "ms"),
    FaultKind.DISCONNECT: ("node", "api", "side", "skip", "count", "chance"),
    FaultKind.CUT: ("node", "other"),
    FaultKind.PARTITION: ("nodes",),
    FaultKind.DELAY: (*_LINK, "ms"),
    FaultKind.DROP: _LINK,
    FaultKind.DUPLICATE: _LINK,
    FaultKind.REORDER: (*_LINK, "ms"),
    FaultKind.LATE_MARKERS: ("to", "ms", "skip", "count"),
    FaultKind.LATE_END_TXN: ("to", "ms", "skip", "count"),
    FaultKind.LATE_PRODUCE: ("to", "ms", "skip", "count"),
    FaultKind.LATE_OFFSET_COMMIT: ("to", "ms", "skip", "count"),
    FaultKind.SLOW_DISK: ("node", "ms"),
    FaultKind.FULL_DISK: ("node", "directory"),
    FaultKind.FAIL_DISK: ("node", "directory"),
    FaultKind.SKEW: ("node", "ms"),
    FaultKind.MOVE_COORDINATOR: ("group", "transactional-id", "to"),
    FaultKind.UNLOAD_COORDINATOR: ("group", "transactional-id"),
    FaultKind.REPLAY_STORM: ("node", "ms"),
    FaultKind.EXHAUST_PRODUCER_IDS: ("node",),
    FaultKind.LATE_MATERIALIZATION: ("node", "when", "ms"),
    FaultKind.BUG: ("name", "on"),
}

#: The required parameters.
NEEDED: Final[Mapping[FaultKind, tuple[str, ...]]] = {
    FaultKind.KILL: ("node",),
    FaultKind.STOP: ("node",),
    FaultKind.START: ("node",),
    FaultKind.RESTART: ("node",),
    FaultKind.PAUSE: ("node",),
    FaultKind.CUT: ("node",),
    FaultKind.FULL_DISK: ("node",),
    FaultKind.FAIL_DISK: ("node",),
    FaultKind.SLOW: ("node", "ms"),
    FaultKind.SLOW_DISK: ("node", "ms"),
    FaultKind.SKEW: ("node", "ms"),
    FaultKind.PARTITION: ("nodes",),
    FaultKind.DELAY: ("ms",),
    FaultKind.LATE_MARKERS: ("ms",),
    FaultKind.LATE_END_TXN: ("ms",),
    FaultKind.LATE_PRODUCE: ("ms",),
    FaultKind.LATE_OFFSET_COMMIT: ("ms",),
    FaultKind.REPLAY_STORM: ("ms",),
    FaultKind.BUG: ("name",),
}

MEANINGS: Final[Mapping[FaultKind, str]] = {
    FaultKind.KILL: "end a node as kill -9 does; lose=N: every log loses up to N last batches that were not forced "
    "to disk, torn leaves half of one",
    FaultKind.STOP: "shut a node down cleanly",
    FaultKind.START: "start a node that is down",
    FaultKind.RESTART: "kill a node and start it again",
    FaultKind.PAUSE: "pause a node as SIGSTOP does",
    FaultKind.SLOW: "every request to a node, of clients and nodes, takes ms longer",
    FaultKind.DISCONNECT: "break clients' connections now, or at the named request or answer",
    FaultKind.CUT: "cut a node off from every other one, from one of them, or from the clients (other=clients)",
    FaultKind.PARTITION: "cut some nodes off from all the others; clients still reach both sides",
    FaultKind.DELAY: "hold frames back for ms; a client's stream keeps its order",
    FaultKind.DROP: "lose frames; in a client's stream everything that follows is lost too",
    FaultKind.DUPLICATE: "deliver frames twice",
    FaultKind.REORDER: "let later frames overtake; requests of other connections overtake a client's request",
    FaultKind.LATE_MARKERS: "WriteTxnMarkers reach leaders ms late",
    FaultKind.LATE_END_TXN: "EndTxn reaches the coordinator ms late, even after its client has given up (KAFKA-17754)",
    FaultKind.LATE_PRODUCE: "Produce reaches the leader ms late; after the marker it opens a hanging transaction if "
    "nothing verifies it",
    FaultKind.LATE_OFFSET_COMMIT: "TxnOffsetCommit reaches the group coordinator ms late, even after a fence",
    FaultKind.SLOW_DISK: "a node's writes (Produce, markers, fetched records) take ms longer",
    FaultKind.FULL_DISK: "the next write to a log directory finds no space",
    FaultKind.FAIL_DISK: "a log directory fails now",
    FaultKind.SKEW: "a node's wall clock is ms ahead (negative: behind)",
    FaultKind.MOVE_COORDINATOR: "move the coordinator of a group or a transactional id to another replica",
    FaultKind.UNLOAD_COORDINATOR: "make the coordinator of a group or an id unload its partition and read its log "
    "again",
    FaultKind.REPLAY_STORM: "transaction coordinators read all their logs again, and every load takes ms",
    FaultKind.EXHAUST_PRODUCER_IDS: "a broker's producer ids are used up, and the controller has no more blocks",
    FaultKind.LATE_MATERIALIZATION: "offsets follow their marker late (KAFKA-17507; --emulate 3.9)",
    FaultKind.BUG: "switch a known bug on or off (on=false)",
}
