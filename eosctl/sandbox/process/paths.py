"""The paths of a named sandbox's state, socket, and log."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from eosctl.errors import UsageError
from eosctl.user_folders import state_home

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# sun_path of a Unix socket address has 108 bytes on Linux and 104 on macOS, including its final NUL.
_LONGEST_SOCKET_PATH: Final = 103
# Below it come /eosctl/, 32 digits, and .sock.
_LONGEST_RUNTIME_PATH: Final = _LONGEST_SOCKET_PATH - 45


def state_root() -> Path:
    """Return the folder of all sandboxes: `$XDG_STATE_HOME/eosctl/sandboxes`, by default below `~/.local/state`."""
    return state_home() / "eosctl" / "sandboxes"


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
    """Return the path of the control socket; a short path elsewhere if the state folder's is too long.

    Raises:
        UsageError: The folder elsewhere is not this user's own.
    """
    return _socket(sandbox_dir(name) / "control.sock")


def worker_socket(name: str, worker: int) -> Path:
    """Return the path of a worker's control socket, as for `control_socket`."""
    return _socket(sandbox_dir(name) / f"worker-{worker}.sock")


def link_socket(name: str, worker: int) -> Path:
    """Return the path of the socket for a worker's links, as for `control_socket`."""
    return _socket(sandbox_dir(name) / f"link-{worker}.sock")


def workers_file(name: str) -> Path:
    """Return the file that identifies the workers of a sandbox."""
    return sandbox_dir(name) / "workers.json"


def _socket(path: Path) -> Path:
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    # The socket name depends on the state folder, so that equal names in several folders do not collide.
    return _private_folder() / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.sock"


def _private_folder() -> Path:
    """Return a folder with a short path that no other user can read or replace.

    It is `$XDG_RUNTIME_DIR/eosctl`, or lies below /tmp.

    Any user can make a folder or link of this name in /tmp, and would get what is sent to the sandbox.
    """
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    has_own = runtime.is_absolute() and len(os.fsencode(runtime)) <= _LONGEST_RUNTIME_PATH and runtime.is_dir()
    folder = runtime / "eosctl" if has_own else Path(tempfile.gettempdir()) / f"eosctl-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    _refuse(folder, folder.lstat(), 0o077)
    return folder


def refuse_shared_folder(folder: Path) -> None:
    """Refuse the folder of a sandbox in which another user can replace its socket and state.

    Raises:
        UsageError: It belongs to another user, or others may write to it.
    """
    _refuse(folder, folder.stat(), 0o022)


def _refuse(folder: Path, found: os.stat_result, forbidden: int) -> None:
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & forbidden:
        raise UsageError(
            f"{folder} is not a folder that only you can use.",
            "Another user could read what is sent to the sandbox, or answer in its name.",
            "Remove it (rm -r), or set another XDG_STATE_HOME.",
        )


def known_names() -> list[str]:
    """Return the names of all sandboxes that have a state file, running or stale."""
    root = state_root()
    return sorted(path.parent.name for path in root.glob("*/state.json")) if root.is_dir() else []
