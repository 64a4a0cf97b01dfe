"""List and describe groups of all types, what they have before them, and which of their offsets transactions hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.lag import find_pins, measure_lag
from eosctl.analysis.streams_topics import find_topic_problems
from eosctl.collect.offset_log import collect_stale_offsets
from eosctl.collect.reader import ReadOnly
from eosctl.collect.transactions import TransactionQuery
from eosctl.errors import UsageError
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.group_commit import StaleOffset
from eosctl.model.group_details import TopicProblems
from eosctl.model.hang import HangVerdict
from eosctl.model.lag import PartitionLag, Pin
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.answered import require_answers
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
from eosctl.services.connection import Connection
from eosctl.services.hanging import EXPLAINED, NEEDS_ACTION
from eosctl.services.read_cluster import read_cluster
from eosctl.services.transactions import DESCRIBED
from eosctl.text import name_some

_ALL_OPEN: Final = DESCRIBED | {EvidenceKind.OFFSETS, EvidenceKind.GROUPS, EvidenceKind.GROUP_OFFSETS}
PENDING: Final = _ALL_OPEN | {EvidenceKind.PENDING_OFFSETS}
LAGGING: Final = PENDING | {EvidenceKind.READABLE_RECORDS, EvidenceKind.SHARE_STATE}


LISTED: Final = frozenset({EvidenceKind.GROUPS})


class GroupsRequest(msgspec.Struct, frozen=True):
    """The groups to read.

    Attributes:
        groups: The ids of the groups; ``()`` for all.
        connection: The cluster.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
    """

    groups: tuple[str, ...] = ()
    connection: Connection = Connection()
    snapshot_file: Path | None = None
    second_look_after_ms: int = 500


class LagFound(NamedTuple):
    """The evidence, the lag of each group and partition, and the transactions that block them, each once.

    `first_pins` are offsets that open transactions hold where a group has committed none yet, so that it has no lag.
    """

    snapshot: ClusterSnapshot
    lags: tuple[PartitionLag, ...]
    holders: tuple[HangVerdict, ...]
    first_pins: tuple[Pin, ...]

    @property
    def needs_action(self) -> bool:
        """Whether a transaction that blocks a group hangs, is stalled, or is past its timeout."""
        return any(verdict.status in NEEDS_ACTION for verdict in self.holders)


class DescribedGroups(NamedTuple):
    """The evidence with the described groups, the lag of each partition, and the topics that streams groups lack."""

    snapshot: ClusterSnapshot
    lags: tuple[PartitionLag, ...]
    topics: Mapping[str, TopicProblems]


class PendingFound(NamedTuple):
    """The evidence, the offsets that transactions hold, the transactions, and what coordinators and log disagree on."""

    snapshot: ClusterSnapshot
    pins: tuple[Pin, ...]
    holders: tuple[HangVerdict, ...]
    stale: tuple[StaleOffset, ...]

    @property
    def needs_action(self) -> bool:
        """Whether coordinators disagree with their log, or a transaction will not end by itself or is late."""
        return bool(self.stale) or any(verdict.status in NEEDS_ACTION for verdict in self.holders)


def list_groups(request: GroupsRequest, callbacks: Callbacks = SILENT) -> ClusterSnapshot:
    """Return the groups of all types with their states and members, without offsets.

    Raises:
        UsageError: A group does not exist.
        EosctlError: The evidence cannot be read.
    """
    return _only(request, _evidence(request, LISTED, callbacks))


def describe_groups(request: GroupsRequest, callbacks: Callbacks = SILENT) -> DescribedGroups:
    """Return groups with members, offsets, topologies, and delivered records, and their lag.

    Raises:
        UsageError: A group does not exist.
        EosctlError: The evidence cannot be read.
    """
    found = measure_groups(request, callbacks)
    topics = {
        group.group_id: find_topic_problems(found.snapshot, group.topology)
        for group in found.snapshot.groups
        if group.topology is not None
    }
    return DescribedGroups(_only(request, found.snapshot), found.lags, topics)


def _only(request: GroupsRequest, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    wanted = frozenset(request.groups)
    return replace(snapshot, groups=tuple(one for one in snapshot.groups if not wanted or one.group_id in wanted))


def measure_groups(request: GroupsRequest, callbacks: Callbacks = SILENT) -> LagFound:
    """Return the lag of groups as a read_committed reader has it.

    Raises:
        UsageError: A group does not exist.
        EosctlError: The evidence cannot be read.
    """
    snapshot = _evidence(request, LAGGING, callbacks)
    verdicts = classify_open_transactions(snapshot)
    lags = tuple(measure_lag(snapshot, verdicts, request.groups))
    firsts = tuple(pin for pin in find_pins(snapshot, verdicts, request.groups) if pin.committed_offset is None)
    holders = [lag.blocked_by for lag in lags if lag.blocked_by is not None]
    holders += (verdict for pin in firsts for verdict in pin.holders)
    return LagFound(snapshot, lags, _each_once(holders), firsts)


def find_pending_offsets(request: GroupsRequest, callbacks: Callbacks = SILENT) -> PendingFound:
    """Return the offsets that open transactions hold; of a live cluster also those that differ from the log.

    Raises:
        UsageError: A group does not exist.
        EosctlError: The evidence cannot be read.
    """
    began_ms, spent_ms = callbacks.now_ms(), callbacks.spent_ms()
    snapshot = _evidence(request, PENDING, callbacks)
    pins = tuple(find_pins(snapshot, classify_open_transactions(snapshot), request.groups))
    holders = _each_once(verdict for pin in pins for verdict in pin.holders)
    if request.snapshot_file is not None:
        return PendingFound(snapshot, pins, holders, ())

    async def read(reader: ReadOnly) -> tuple[tuple[StaleOffset, ...], Sequence[EvidenceGap]]:
        probed = await collect_stale_offsets(reader, snapshot, request.groups)
        return probed.value, probed.gaps

    rest = _after(request.connection, callbacks.now_ms() - began_ms)
    # The cluster was named already, and the first reading is taken off.
    stale, gaps = read_cluster(rest, read, callbacks._replace(remark=SILENT.remark, spent_ms=lambda: spent_ms))
    return PendingFound(replace(snapshot, gaps=tuple(dict.fromkeys((*snapshot.gaps, *gaps)))), pins, holders, stale)


def _after(connection: Connection, spent_ms: int) -> Connection:
    """Return the connection with what is left of its timeout."""
    if connection.timeout_ms is None:
        return connection
    return replace(connection, timeout_ms=max(1, connection.timeout_ms - spent_ms))


def _evidence(request: GroupsRequest, kinds: frozenset[EvidenceKind], callbacks: Callbacks) -> ClusterSnapshot:
    query, pause_ms = TransactionQuery(describe_idle=False), request.second_look_after_ms
    wanted = EvidenceRequest(
        connection=request.connection,
        snapshot_file=request.snapshot_file,
        kinds=kinds,
        second_look_after_ms=pause_ms,
        query=query,
        explaining=EXPLAINED,
    )
    snapshot = collect_evidence(wanted, callbacks)
    require_answers(snapshot, EvidenceKind.GROUPS, "groups")
    known = {group.group_id for group in snapshot.groups} | {pending.group_id for pending in snapshot.pending_offsets}
    missing = [group for group in request.groups if group not in known]
    if missing and not any(gap.kind is EvidenceKind.GROUPS for gap in snapshot.gaps):
        raise UsageError(
            f"Unknown {name_some('group', list(map(repr, missing)))}.",
            "No coordinator lists it: it never committed, it expired, or this principal may not describe it.",
            "List all groups: eosctl group lag",
        )
    return snapshot


def _each_once(verdicts: Iterable[HangVerdict]) -> tuple[HangVerdict, ...]:
    places = {(v.transaction.partition, v.transaction.producer_id): v for v in verdicts}
    return tuple(places[place] for place in sorted(places))
