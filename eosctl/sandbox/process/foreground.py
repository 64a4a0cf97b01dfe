"""A sandbox in this process: it ends with the process, and its server log is the output."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from eosctl.sandbox.logging.log_files import SERVER_LOG
from eosctl.sandbox.process import paths
from eosctl.sandbox.process.main import make_cluster, new_loop
from eosctl.sandbox.process.manage import make_way
from eosctl.sandbox.process.serving import serve
from eosctl.sandbox.process.spec import SandboxSpec

_PAUSE_S: Final = 0.05
Write = Callable[[str], None]


class _LogFollower:
    """Passes on what is appended to a log file."""

    def __init__(self, path: Path, write: Write) -> None:
        self._path = path
        self._write = write
        self._position = path.stat().st_size if path.exists() else 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="log", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._over.wait(_PAUSE_S):
            self._copy()
        self._copy()

    def _copy(self) -> None:
        try:
            with self._path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self._position:
                    self._position = 0  # The file was rotated.
                file.seek(self._position)
                data = file.read()
        except FileNotFoundError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._position += len(whole)
        if whole:
            self._write(whole.decode("utf-8", "replace"))


def serve_in_foreground(spec: SandboxSpec, write: Write) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code. `write` receives the server log of the first broker.

    Raises:
        UsageError: A sandbox of this name is running, or the data directory contains files of other programs.
        OSError: A folder cannot be used.
    """
    make_way(spec)
    path = paths.logs_dir(Path(spec.data_dir)) / "broker-1" / SERVER_LOG
    _, ready = os.pipe()  # The report is not read, and fits into the pipe.
    with _LogFollower(path, write):
        return serve(spec, ready, make_cluster, new_loop)
