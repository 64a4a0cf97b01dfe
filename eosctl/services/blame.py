"""Find out who took a transactional id from whom, and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.analysis.blame.report import explain_blame, resolve_id
from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.group_commits import collect_group_commits
from eosctl.collect.history_files import read_history
from eosctl.collect.reader import ReadOnly
from eosctl.errors import UsageError
from eosctl.model.blame import Blame
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.group_commit import GroupCommit
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
from eosctl.services.connection import Connection
from eosctl.services.log_events import read_events
from eosctl.services.own_fences import with_own_fences
from eosctl.services.read_cluster import read_cluster
from eosctl.services.unlisted_ids import unlisted_ids

KINDS: Final = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.OFFSETS,
        EvidenceKind.TRANSACTION_HISTORY,
        EvidenceKind.ABORTED_RANGES,
    }
)
_NOT_SEEN: Final = (
    "No coordinator lists it, and the newest part of the transaction log does not contain it: it never existed, it "
    "expired, or this principal may not describe it."
)
_NOT_LOGGED: Final = "The transaction log in these directories does not contain it."
_Evidence = tuple[ClusterSnapshot, Sequence[GroupCommit]]


class BlameRequest(msgspec.Struct, frozen=True):
    """The transactional id, and where to search.

    Attributes:
        name: The id, or one of its producer ids.
        connection: The cluster.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        data_dirs: Data directories of brokers, whose transaction log is read instead.
        logs: Logs of applications and brokers, which name the instances.
    """

    name: str
    connection: Connection = Connection()
    snapshot_file: Path | None = None
    data_dirs: tuple[str, ...] = ()
    logs: tuple[Path, ...] = ()


class Blamed(NamedTuple):
    """The history of the id, and the missing evidence, that of the transaction log first."""

    blame: Blame
    gaps: tuple[EvidenceGap, ...]


def blame(request: BlameRequest, callbacks: Callbacks = SILENT) -> Blamed:
    """Return who owned a transactional id, when, and why each owner lost it.

    Raises:
        UsageError: Several sources are given, a path does not exist, or the id is unknown.
        EosctlError: The evidence cannot be read.
    """
    snapshot, commits = _evidence(request, callbacks)
    transactional_id = resolve_id(snapshot, request.name)
    if transactional_id is None:
        if request.data_dirs:
            raise UsageError(f"Unknown transactional id {request.name!r}.", _NOT_LOGGED, "Check the name.")
        raise unlisted_ids(snapshot, (request.name,), _NOT_SEEN)
    read = read_events(request.logs, callbacks.progress)
    found = explain_blame(snapshot, transactional_id, events=read.events, commits=commits)
    gaps = sorted((*snapshot.gaps, *read.gaps), key=lambda gap: gap.kind is not EvidenceKind.TRANSACTION_HISTORY)
    return Blamed(found, tuple(gaps))


def _evidence(request: BlameRequest, callbacks: Callbacks) -> _Evidence:
    if request.data_dirs:
        if request.connection.is_given or request.snapshot_file is not None:
            raise UsageError(
                "--data-dir and a cluster or snapshot were both given.",
                "The transaction log is read from one of them.",
                "Leave one of them out.",
            )
        return read_history(request.data_dirs, callbacks.now_ms()), ()
    if request.snapshot_file is not None:
        return collect_evidence(EvidenceRequest(request.connection, request.snapshot_file, KINDS), callbacks), ()

    async def read(reader: ReadOnly) -> _Evidence:
        snapshot = await collect_snapshot(reader, Observer(callbacks.now_ms, progress=callbacks.progress), KINDS)
        topic = snapshot.topic(CONSUMER_OFFSETS_TOPIC)
        commits = await collect_group_commits(reader, () if topic is None else topic.partitions)
        snapshot = with_own_fences(snapshot, callbacks)
        return replace(snapshot, gaps=snapshot.gaps + commits.gaps), commits.value

    return read_cluster(request.connection, read, callbacks)
