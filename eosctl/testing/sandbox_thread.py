"""A sandbox in a separate thread, for blocking clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from eosctl.model.emulation import NEWEST

if TYPE_CHECKING:
    from eosctl.sandbox.cluster import EmbeddedCluster

T = TypeVar("T")


class SandboxThread:
    """A Kafka cluster on loopback for the duration of the `with` block; its files are deleted afterwards.

    Clients of any language connect to `bootstrap`. Asyncio programs may use `eosctl.sandbox.cluster.EmbeddedCluster` in
    their own loop instead.

    Args:
        brokers: Number of brokers; a single broker is its own controller.
        config: Broker settings by Kafka's names.
        emulate: The emulated release: `"3.9"`, `"4.3"`, or `"4.4"`.
        transaction_version: Finalized level of the feature `transaction.version`; None for the release's default.
        fast: Short timeouts, so that failover takes tenths of a second.
        data_dir: The brokers' files; None for a temporary directory.
        sasl: SASL mechanisms: `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512`; none if empty.
        tls: Whether the listeners use TLS; certificates are created, see `client_properties`.
        users: The users; passwords are created.
        log_dirs: Number of log directories per broker.
        racks: Racks, assigned to brokers in turn.
    """

    def __init__(
        self,
        *,
        brokers: int = 1,
        config: Mapping[str, str] | None = None,
        emulate: str = NEWEST,
        transaction_version: int | None = None,
        fast: bool = True,
        data_dir: Path | None = None,
        sasl: Sequence[str] = (),
        tls: bool = False,
        users: Sequence[str] = ("admin",),
        log_dirs: int = 1,
        racks: Sequence[str] = (),
    ) -> None:
        # Imported here, since the plugin is also loaded by test runs without a sandbox.
        from eosctl.sandbox.cluster import EmbeddedCluster

        self._embedded: EmbeddedCluster = EmbeddedCluster(
            brokers=brokers,
            config=config,
            emulate=emulate,
            transaction_version=transaction_version,
            fast=fast,
            data_dir=data_dir,
            sasl=sasl,
            tls=tls,
            users=users,
            log_dirs=log_dirs,
            racks=racks,
        )
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=self._live, name="eosctl-sandbox", daemon=True)

    def __enter__(self) -> Self:
        """Start the cluster; return once every broker serves.

        Raises:
            EosctlError: It cannot start: a setting is not allowed, or the data cannot be used.
        """
        self._thread.start()
        try:
            self._started.result()
        except BaseException:
            self._thread.join()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the cluster."""
        loop, stopped = self._started.result()
        loop.call_soon_threadsafe(stopped.set)
        self._thread.join()

    def _live(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

    async def _serve(self) -> None:
        stopped = asyncio.Event()
        async with self._embedded:
            self._started.set_result((asyncio.get_running_loop(), stopped))
            await stopped.wait()

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of every broker, comma-separated, including stopped brokers."""
        return self._embedded.bootstrap

    @property
    def data_dir(self) -> Path:
        """Return the directory with one sub-directory of Kafka's files for each node."""
        return self._embedded.core.data_dir

    def client_properties(self, user: str | None = None) -> Path:
        """Return the Java client file of a user of a secured cluster; by default of the first user."""
        from eosctl.sandbox.process.security_files import client_file

        return client_file(self.data_dir, user)

    def status(self) -> dict[str, Any]:
        """Describe brokers, partitions, leaders, and in-sync replicas, as `eosctl sandbox status` does."""

        async def ask() -> dict[str, Any]:
            return self._embedded.cluster.status()

        return self._run(ask())

    def control(self, command: str, **arguments: Any) -> str:
        """Send a command to the control socket, such as `kill-broker` or `faults`; return its response."""

        async def do() -> str:
            return str(await self._embedded.cluster.commands()[command](arguments))

        return self._run(do())

    def kill_broker(self, broker_id: int) -> None:
        """Kill a broker like kill -9: connections break, nothing is flushed or transferred."""
        self._run(self._embedded.cluster.kill_broker(broker_id))

    def stop_broker(self, broker_id: int) -> None:
        """Shut a broker down cleanly: leaderships move first."""
        self._run(self._embedded.cluster.stop_broker(broker_id))

    def start_broker(self, broker_id: int) -> None:
        """Start a broker on its files and port; return once it serves."""
        self._run(self._embedded.cluster.start_broker(broker_id))

    def fault(self, words: str) -> int:
        """Inject a fault in the syntax of `eosctl sandbox fault`; return the number that ends it.

        `cluster.fault("delay api=END_TXN ms=500 count=1")`, `cluster.fault("pause node=2 for=5s")`.
        """
        from eosctl.sandbox.faults.order import parse_order

        return self._run(self._embedded.cluster.faults.inject(parse_order(words))).number

    def end_fault(self, number: int) -> None:
        """End an active fault."""
        self._run(self._embedded.cluster.faults.end(number))

    def heal(self) -> None:
        """End every active fault, and start every stopped node."""
        self._run(self._embedded.cluster.faults.heal())

    def advance(self, duration_ms: float) -> None:
        """Advance the cluster's time and run all timers due on the way."""
        self._run(self._embedded.cluster.advance(duration_ms))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        loop, _ = self._started.result()
        return asyncio.run_coroutine_threadsafe(work, loop).result()
