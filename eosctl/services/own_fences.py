"""Add the fences that eosctl made from this machine to the evidence of a cluster that was read live.

Without them, a diagnosis reports the operator's own fence as a second producer. A saved snapshot keeps those of the
machine that captured it, and the audit file of the machine that replays it is not read.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from eosctl.collect.audit_file import audit_file, read_own_fences
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.callbacks import Callbacks


def with_own_fences(snapshot: ClusterSnapshot, callbacks: Callbacks, path: Path | None = None) -> ClusterSnapshot:
    """Return the snapshot with the fences of its cluster in the audit file.

    A file that cannot be read is remarked on: fences then count as those of other clients.

    Args:
        snapshot: Evidence that was just collected.
        callbacks: Receive the remark.
        path: The audit file; None for that of the user.
    """
    if EvidenceKind.TRANSACTION_HISTORY not in snapshot.collected:
        return snapshot
    path = path or audit_file()
    try:
        return replace(snapshot, own_fences=read_own_fences(path, snapshot.cluster_id))
    except OSError as error:
        callbacks.remark(f"{path} cannot be read ({error.strerror}): fences of eosctl are reported as those of others.")
        return snapshot
