"""A sandbox that lives in a thread of its own, so that blocking clients can talk to it from any other."""

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
    """A Kafka cluster on loopback while the `with` block runs; its files are removed afterwards.

    Clients of any kind and language reach it at `bootstrap`. Programs that are asyncio themselves may use
    `eosctl.sandbox.cluster.EmbeddedCluster` in their own loop instead.

    Args:
        brokers: How many brokers; one broker is its own controller.
        config: Broker settings under Kafka's names.
        emulate: The release to behave as: `"3.9"`, `"4.3"`, or `"4.4"`.
        transaction_version: Finalized level of the feature `transaction.version`; the release's default when None.
        fast: Short timeouts, so that failover takes tenths of a second.
        data_dir: Where the brokers keep their files; a temporary directory when None, which is removed.
        sasl: Mechanisms by which clients log in: `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512`; none when empty.
        tls: Whether the listeners speak TLS; certificates are made, see `client_properties`.
        users: Who may log in; passwords are made.
        log_dirs: How many log directories each broker has.
        racks: Racks of the brokers, which take them in turn.
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
        # Imported here because the plugin is loaded with test runs that use no sandbox at all.
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
        """Start the cluster and return when every broker serves.

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
        """Bootstrap servers: `host:port` of every broker, comma separated, also of one that is down."""
        return self._embedded.bootstrap

    @property
    def data_dir(self) -> Path:
        """Return the directory with one sub-directory of Kafka's files for each node."""
        return self._embedded.core.data_dir

    def client_properties(self, user: str | None = None) -> Path:
        """Return the Java client file of a user of a secured cluster, the first user's when left out."""
        from eosctl.sandbox.process.security_files import client_file

        return client_file(self.data_dir, user)

    def status(self) -> dict[str, Any]:
        """Describe brokers, partitions, leaders and in-sync replicas as `eosctl sandbox status` does."""

        async def ask() -> dict[str, Any]:
            return self._embedded.cluster.status()

        return self._run(ask())

    def control(self, command: str, **arguments: Any) -> str:
        """Send a command to the control socket, such as `kill-broker` or `faults`; return its response."""

        async def do() -> str:
            return str(await self._embedded.cluster.commands()[command](arguments))

        return self._run(do())

    def kill_broker(self, broker_id: int) -> None:
        """End a broker as kill -9 does: connections break, nothing is flushed or handed over."""
        self._run(self._embedded.cluster.kill_broker(broker_id))

    def stop_broker(self, broker_id: int) -> None:
        """Shut a broker down in order: leaderships move first."""
        self._run(self._embedded.cluster.stop_broker(broker_id))

    def start_broker(self, broker_id: int) -> None:
        """Start a broker again on its files and port, and return when it serves."""
        self._run(self._embedded.cluster.start_broker(broker_id))

    def fault(self, words: str) -> int:
        """Let something go wrong, in the words of `eosctl sandbox fault`; returns the number to end it by.

        `cluster.fault("delay api=END_TXN ms=500 count=1")`, `cluster.fault("pause node=2 for=5s")`.
        """
        from eosctl.sandbox.faults.order import parse_order

        return self._run(self._embedded.cluster.faults.inject(parse_order(words))).number

    def end_fault(self, number: int) -> None:
        """End a fault that lasts."""
        self._run(self._embedded.cluster.faults.end(number))

    def heal(self) -> None:
        """End every fault that lasts, and start every node that is down."""
        self._run(self._embedded.cluster.faults.heal())

    def advance(self, duration_ms: float) -> None:
        """Let the cluster's time pass at once, with all that is due on the way."""
        self._run(self._embedded.cluster.advance(duration_ms))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        loop, _ = self._started.result()
        return asyncio.run_coroutine_threadsafe(work, loop).result()
