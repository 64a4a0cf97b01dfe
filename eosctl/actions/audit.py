"""One line of JSON for every change that eosctl made or tried to make."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from eosctl.errors import EosctlError


def audit_file() -> Path:
    """Return the audit file's path: ``$XDG_STATE_HOME/eosctl/audit.jsonl``, by default below ``~/.local/state``."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "eosctl" / "audit.jsonl"


def write_audit(path: Path, now_ms: int, action: str, cluster_id: str, details: Any) -> None:
    """Append one line and flush it to disk.

    Args:
        path: The audit file; it is created with mode 0600.
        now_ms: The time of the entry, ms since the epoch.
        action: What was done, e.g. ``txn abort planned``.
        cluster_id: Where.
        details: A model value or dict that holds no secret.

    Raises:
        EosctlError: The file cannot be written: a change that cannot be recorded is not made.
    """
    line = msgspec.json.encode(
        {
            "time_ms": now_ms,
            "user": os.environ.get("USER", ""),
            "action": action,
            "cluster": cluster_id,
            "details": details,
        }
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise EosctlError(
            f"Cannot write the audit file {path}: {error.strerror}.",
            "A change that cannot be recorded is not made.",
            "Make the file writable, or set XDG_STATE_HOME to a folder that is.",
        ) from error
