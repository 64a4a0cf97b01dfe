"""A detached process that serves a cluster: data directory, state file, and control socket.

`manage.start` starts it with the specification and the descriptor of a pipe. It writes one line to the pipe: its state,
or the reason why it could not start.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from eosctl import __version__
from eosctl.errors import EosctlError, write_failed
from eosctl.sandbox.descriptors import raise_limit
from eosctl.sandbox.process import paths
from eosctl.sandbox.process.claim import claimed_name
from eosctl.sandbox.process.control import Command, serve_control
from eosctl.sandbox.process.data_directory import DataDirectory
from eosctl.sandbox.process.identity import start_ticks
from eosctl.sandbox.process.own_files import planned
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from eosctl.whole_file import whole_file


class Served(Protocol):
    """A cluster served by a process of its own."""

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of every broker, comma-separated."""

    async def start(self) -> None:
        """Start every broker and return once clients are served."""

    async def stop(self) -> None:
        """Stop every broker."""

    def commands(self) -> Mapping[str, Command]:
        """Return the commands of the control socket other than `stop`."""


Make = Callable[[SandboxSpec, int], Served]
"""Makes the cluster; the number is the descriptor of the data directory's lock."""


async def run(spec: SandboxSpec, make: Make, ready: int) -> None:
    """Start the cluster, report, and serve until stopped by the control socket, a signal, or the time to live."""
    directory = DataDirectory(Path(spec.data_dir), ephemeral=spec.ephemeral, planned=planned(spec))
    # A failed start leaves the files of earlier runs unchanged.
    is_removed = spec.ephemeral and directory.is_new
    try:
        cluster = make(spec, directory.lock)
        await cluster.start()
        directory.started()
        is_removed = spec.ephemeral
        try:
            await _serve(spec, cluster, ready)
        finally:
            await cluster.stop()
    finally:
        directory.release(remove=is_removed)


async def _serve(spec: SandboxSpec, cluster: Served, ready: int) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    if spec.ttl_ms is not None:
        loop.call_later(spec.ttl_ms / 1000, stopped.set)

    async def stop(arguments: dict[str, Any]) -> str:
        loop.call_soon(stopped.set)
        return "stopping"

    socket_path = paths.control_socket(spec.name)
    server = await serve_control(socket_path, {"stop": stop, **cluster.commands()})
    state = RunningSandbox(
        name=spec.name,
        pid=os.getpid(),
        process_start_ticks=start_ticks(os.getpid()) or 0,
        started_at_ms=time.time_ns() // 1_000_000,
        bootstrap=cluster.bootstrap,
        control_socket=str(socket_path),
        data_dir=spec.data_dir,
        log_file=str(paths.log_file(spec.name)),
        version=__version__,
        spec=spec,
    )
    state_path = paths.state_file(spec.name)
    try:
        with whole_file(state_path) as file:
            file.write(state.to_json().encode())
        _report(ready, asdict(state))
        await stopped.wait()
    finally:
        server.close()
        socket_path.unlink(missing_ok=True)
        state_path.unlink(missing_ok=True)


def _report(ready: int, answer: dict[str, Any]) -> None:
    # The caller may have exited while it waited (Ctrl-C), and nothing else will stop the sandbox.
    os.write(ready, json.dumps(answer).encode() + b"\n")
    os.close(ready)


def serve(
    spec: SandboxSpec,
    ready: int,
    make: Make,
    new_loop: Callable[[SandboxSpec], asyncio.AbstractEventLoop] | None = None,
) -> int:
    """Run the process and return its exit code; `ready` is the descriptor to report on."""
    os.set_inheritable(ready, False)
    raise_limit()
    os.umask(0o077)  # The metadata log holds credentials, and the logs hold what clients sent.
    try:
        with (
            claimed_name(spec.name),
            asyncio.Runner(loop_factory=partial(new_loop, spec) if new_loop is not None else None) as runner,
        ):
            runner.run(run(spec, make, ready))
    except EosctlError as error:
        return _fail(ready, error)
    except BrokenPipeError:
        return 1
    except OSError as error:
        place = error.filename or spec.data_dir
        return _fail(ready, write_failed(place, error, "Choose another --data-dir, or set XDG_STATE_HOME."))
    return 0


def _fail(ready: int, error: EosctlError) -> int:
    """Report the error to the caller and in the process's log, which may lie on the disk that is full."""
    words = {"what": error.what, "why": error.why, "next_step": error.next_step}
    with contextlib.suppress(OSError):
        _report(ready, {"error": words, "exit_code": error.exit_code})
    with contextlib.suppress(OSError):
        print(error, file=sys.stderr, flush=True)  # noqa: T201 - the process's log is its standard error
    return 1
