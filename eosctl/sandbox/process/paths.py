"""The paths of a named sandbox's state, socket, and log."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import Final

from eosctl.errors import UsageError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# sun_path of a Unix socket address has 108 bytes including its final NUL.
_LONGEST_SOCKET_PATH: Final = 107


def state_root() -> Path:
    """Return the folder of all sandboxes: `$XDG_STATE_HOME/eosctl/sandboxes`, by default below `~/.local/state`."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "eosctl" / "sandboxes"


def sandbox_dir(name: str) -> Path:
    """Return the folder of a sandbox.

    Raises:
        UsageError: The name is not a valid folder name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a sandbox.",
            "A name has up to 64 letters, digits, dots, dashes and underscores, and begins with a letter or digit.",
            "Choose another --name.",
        )
    return state_root() / name


def state_file(name: str) -> Path:
    """Return the state file of a sandbox."""
    return sandbox_dir(name) / "state.json"


def log_file(name: str) -> Path:
    """Return the output file of the sandbox process."""
    return sandbox_dir(name) / "sandbox.log"


def default_data_dir(name: str) -> Path:
    """Return the default folder of a sandbox's data."""
    return sandbox_dir(name) / "data"


def logs_dir(data_dir: Path) -> Path:
    """Return the folder of the nodes' logs.

    It lies next to the data, since Kafka treats every folder of a data directory as a partition.
    """
    return data_dir / "logs"


def control_socket(name: str) -> Path:
    """Return the path of the control socket; a short path elsewhere if the state folder's is too long."""
    path = sandbox_dir(name) / "control.sock"
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    short = Path(tempfile.gettempdir()) / f"eosctl-{os.getuid()}"
    short.mkdir(mode=0o700, exist_ok=True)
    # The socket name depends on the state folder, so that equal names in several folders do not collide.
    return short / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.sock"


def known_names() -> list[str]:
    """Return the names of all sandboxes that have a state file, running or stale."""
    root = state_root()
    return sorted(path.parent.name for path in root.glob("*/state.json")) if root.is_dir() else []
