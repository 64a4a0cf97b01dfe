"""Find the audit file, and read from it which fences eosctl itself made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from eosctl.model.own_fence import OwnFence
from eosctl.model.plan import FenceOutcome
from eosctl.model.transaction import TransactionState
from eosctl.user_folders import state_home

LAST_BYTES: Final = 4 << 20
"""The end of the file that is read: some thousand changes."""
_FENCE: Final = "txn fence done"
_RUNBOOK_FENCE: Final = "runbook txn.fence done"


class FenceIdentity(msgspec.Struct, frozen=True):
    """What identifies a fence in the transaction log; the audit lines of runbooks contain it."""

    transactional_id: str
    fenced_producer_id: int
    successor_epoch: int
    found_open: bool


class _Line(msgspec.Struct, frozen=True):
    time_ms: int
    action: str
    cluster: str
    details: msgspec.Raw
    user: str = ""
    sudo_user: str | None = None
    host: str = ""


class _OfRunbook(FenceIdentity, frozen=True):
    runbook: str


def audit_file() -> Path:
    """Return the audit file's path: `$XDG_STATE_HOME/eosctl/audit.jsonl`, by default below `~/.local/state`."""
    return state_home() / "eosctl" / "audit.jsonl"


def identify_fence(outcome: FenceOutcome) -> FenceIdentity:
    """Return what identifies the fence of an outcome."""
    before = outcome.plan.transaction
    return FenceIdentity(
        transactional_id=before.transactional_id,
        fenced_producer_id=before.producer_id,
        successor_epoch=outcome.producer_epoch,
        found_open=before.state == TransactionState.ONGOING,
    )


def read_own_fences(path: Path, cluster_id: str) -> tuple[OwnFence, ...]:
    """Return the fences of a cluster whose outcome the audit file contains, oldest first.

    A line that cannot be decoded counts as no fence: the fence is then reported as that of any other client.

    Args:
        path: The audit file; without it, there are no fences.
        cluster_id: The cluster.

    Raises:
        OSError: The file exists and cannot be read.
    """
    try:
        with path.open("rb") as file:
            start = max(0, os.fstat(file.fileno()).st_size - LAST_BYTES)
            file.seek(start)
            lines = file.read(LAST_BYTES).split(b"\n")[1 if start else 0 :]
    except FileNotFoundError:
        return ()
    found = (_fence_of(line, cluster_id) for line in lines)
    return tuple(fence for fence in found if fence is not None)


def _fence_of(data: bytes, cluster_id: str) -> OwnFence | None:
    try:
        line = msgspec.json.decode(data, type=_Line)
        if line.cluster != cluster_id:
            return None
        if line.action == _FENCE:
            outcome = msgspec.json.decode(line.details, type=FenceOutcome)
            return _own_fence(line, "eosctl txn fence", identify_fence(outcome))
        if line.action == _RUNBOOK_FENCE:
            step = msgspec.json.decode(line.details, type=_OfRunbook)
            return _own_fence(line, f"eosctl runbook run {step.runbook}", step)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return None


def _own_fence(line: _Line, command: str, fence: FenceIdentity) -> OwnFence:
    user = f"{line.sudo_user} (as {line.user})" if line.sudo_user else line.user
    return OwnFence(
        at_ms=line.time_ms,
        command=command,
        user=user,
        host=line.host,
        transactional_id=fence.transactional_id,
        fenced_producer_id=fence.fenced_producer_id,
        successor_epoch=fence.successor_epoch,
        found_open=fence.found_open,
    )
