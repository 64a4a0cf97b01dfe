"""The audit log: one line of JSON for every attempted change."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec

from eosctl.actions.protocol import Attempt, State
from eosctl.errors import EosctlError
from eosctl.state_lines import append_line

_ACTIONS: Final = {
    State.PLANNED: "planned",
    State.DECLINED: "declined",
    State.BEGUN: "begun",
    State.VERIFIED: "done",
    State.FAILED: "failed",
    State.INTERRUPTED: "interrupted",
}


class _Plan(Protocol):
    @property
    def cluster_id(self) -> str: ...


P = TypeVar("P", bound=_Plan)
R = TypeVar("R")


def write_audit(path: Path, now_ms: int, action: str, cluster_id: str, details: Any) -> None:
    """Append one line and flush it to disk.

    Args:
        path: The audit file; it is created with mode 0600.
        now_ms: The time of the entry, ms since the epoch.
        action: The action, e.g. `txn abort planned`.
        cluster_id: The cluster.
        details: A model value or dict without secrets.

    Raises:
        EosctlError: The file cannot be written; the change must not be made then.
    """
    line = msgspec.json.encode(
        {
            "time_ms": now_ms,
            **_author(),
            "action": action,
            "cluster": cluster_id,
            "details": details,
        }
    )
    try:
        append_line(path, line)
    except OSError as error:
        raise EosctlError(
            f"Cannot write the audit file {path}: {error.strerror}.",
            "A change that cannot be recorded is not made.",
            "Make the file writable, or set XDG_STATE_HOME to a folder that is.",
        ) from error


def _author() -> dict[str, str | int | None]:
    """Return who runs this process and where; the variables of the environment are a claim, the user id is not."""
    uid = os.getuid() if hasattr(os, "getuid") else None
    return {"uid": uid, "user": _user_name(uid), "sudo_user": os.environ.get("SUDO_USER"), "host": socket.gethostname()}


def _user_name(uid: int | None) -> str:
    try:
        import pwd

        return pwd.getpwuid(uid).pw_name if uid is not None else ""
    except (ImportError, KeyError):  # Windows, or an id without an account, as in a container
        return os.environ.get("USER", "")


class AuditLog(NamedTuple):
    """Records attempts: `NAME planned`, then `NAME declined`, or `NAME begun` and the result; or `NAME refused`."""

    path: Path
    now_ms: Callable[[], int]
    name: str

    def refuse(self, cluster_id: str, target: str, error: EosctlError) -> None:
        """Append the line for an attempt that was refused before anything was sent.

        Args:
            cluster_id: The cluster; empty if it was not reached.
            target: The object that was to be changed.
            error: The refusal.

        Raises:
            EosctlError: As for `write_audit`.
        """
        details = {"target": target, "error": error.what, "why": error.why}
        write_audit(self.path, self.now_ms(), f"{self.name} refused", cluster_id, details)

    def record(self, attempt: Attempt[P, R]) -> None:
        """Append the line for the attempt's state.

        Raises:
            EosctlError: As for `write_audit`.
        """
        details: object = attempt.plan
        if attempt.state is State.VERIFIED:
            details = attempt.outcome
        elif attempt.state is State.FAILED:
            error = attempt.error
            what = error.what if isinstance(error, EosctlError) else str(error) or type(error).__name__
            details = {"plan": attempt.plan, "error": what}
        write_audit(
            self.path, self.now_ms(), f"{self.name} {_ACTIONS[attempt.state]}", attempt.plan.cluster_id, details
        )
