"""A node of real Apache Kafka: combined broker and controller, with its own JVM, data directory, and logs."""

from __future__ import annotations

import signal
import socket
import threading
import time
from pathlib import Path
from typing import NamedTuple, cast

from eosctl.lab.apache.brokers import BrokerState
from eosctl.lab.apache.java import Runtime, log_configuration, run_tool
from eosctl.lab.apache.process import RecordedProcess
from eosctl.lab.apache.properties import HOST, NodeAddress
from eosctl.lab.engine import EngineError
from eosctl.storage.meta_properties import MetaProperties, write_meta_properties
from eosctl.storage.names import BOOTSTRAP_SNAPSHOT, META_PROPERTIES
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import FrameSplitter, decode_response, encode_request
from eosctl.wire.messages.metadata import MetadataRequest, MetadataResponse

POLL_INTERVAL_S = 0.02
METADATA_VERSION = 1  # First version that can request no topics.

# Short-lived test brokers benefit more from a quick start than from the C2 compiler and a concurrent collector.
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class NodeFiles(NamedTuple):
    """The files of a node."""

    home: Path

    @property
    def settings(self) -> Path:
        """Return the path of server.properties."""
        return self.home / "server.properties"

    @property
    def data_dir(self) -> Path:
        """Return the directory with the partitions."""
        return self.home / "data"

    @property
    def log_dir(self) -> Path:
        """Return the directory with server.log and the other logs."""
        return self.home / "logs"

    @property
    def output(self) -> Path:
        """Return the file with the JVM's own output."""
        return self.home / "logs" / "jvm.out"

    @property
    def record(self) -> Path:
        """Return the file with the process record."""
        return self.home / "node.pid"


class KafkaNode:
    """A node that is formatted once, and can be started, stopped, killed, and paused."""

    def __init__(
        self, runtime: Runtime, address: NodeAddress, home: Path, *, heap_bytes: int, jvm_options: tuple[str, ...]
    ) -> None:
        """Prepare a node in `home`; nothing is written before `prepare`."""
        self.address = address
        self.files = NodeFiles(home)
        self.state = BrokerState.STOPPED
        self.runtime = runtime
        self._heap_bytes = heap_bytes
        self._jvm_options = jvm_options
        self._process: RecordedProcess | None = None

    def prepare(self, properties: str, cluster_id: str, transaction_version: int | None) -> None:
        """Write the settings and format the data directory, unless it is formatted.

        Args:
            properties: The text of server.properties.
            cluster_id: The cluster's id, 22 characters of URL-safe base64.
            transaction_version: Level of the feature `transaction.version` (KIP-890), or None for the release's
                default.

        Raises:
            EngineError: Kafka's StorageTool failed.
        """
        self.files.log_dir.mkdir(parents=True, exist_ok=True)
        self.files.settings.write_text(properties, "utf-8")
        if is_formatted(self.files.data_dir):
            return
        feature = () if transaction_version is None else ("--feature", f"transaction.version={transaction_version}")
        done = run_tool(
            self.runtime,
            "kafka.tools.StorageTool",
            *("format", "--ignore-formatted", "--cluster-id", cluster_id, "--config", str(self.files.settings)),
            *feature,
        )
        if done.exit_code:
            raise EngineError(
                f"Kafka refused to format the storage of node {self.address.node_id}.",
                done.complaint,
                f"The settings are in {self.files.settings}.",
            )

    def start(self) -> None:
        """Start the JVM; use `wait_ready` to wait until the broker serves."""
        release = self.runtime.release
        configuration = log_configuration(release.logging).as_uri()
        command = self.runtime.command(
            "kafka.Kafka",
            str(self.files.settings),
            heap_bytes=self._heap_bytes,
            options=(
                *(self._jvm_options or QUICK_START),
                f"-Dkafka.logs.dir={self.files.log_dir}",
                f"-D{release.logging_property}={configuration}",
            ),
        )
        self._process = RecordedProcess(command, output=self.files.output, record=self.files.record)
        self.state = BrokerState.RUNNING

    def wait_ready(self, broker_count: int, deadline: float, given_up: threading.Event) -> None:
        """Wait until this node's metadata lists `broker_count` brokers, including itself.

        Args:
            broker_count: The expected number of brokers.
            deadline: Deadline on `time.monotonic`.
            given_up: Set by another thread to abandon the wait.

        Raises:
            EngineError: The process ended, or the deadline has passed.
        """
        while count_brokers(self.address.port) < broker_count:
            if self._process is not None and self._process.exit_code is not None:
                self.state = BrokerState.STOPPED
                raise EngineError(
                    f"Kafka node {self.address.node_id} ended (exit status {self._process.exit_code}) while starting.",
                    self._last_error_line(),
                    f"Its logs are in {self.files.log_dir}.",
                )
            if time.monotonic() > deadline:
                raise EngineError(
                    f"Kafka node {self.address.node_id} did not serve in time.",
                    self._last_error_line(),
                    f"Its logs are in {self.files.log_dir}.",
                )
            if given_up.wait(POLL_INTERVAL_S):
                raise EngineError(
                    f"The start of Kafka node {self.address.node_id} was given up.",
                    "Another node did not start, or the command was interrupted.",
                    "Start the cluster again.",
                )

    def end(self, first: signal.Signals, *, patience_ms: int = 30_000) -> None:
        """End the process: SIGTERM for a controlled shutdown, SIGKILL for a crash; no effect after it has ended."""
        if self._process is None:
            return
        if self.state is BrokerState.PAUSED:
            self._process.send(signal.SIGCONT)
        self._process.end(first, patience_ms=patience_ms)
        self._process = None
        self.state = BrokerState.STOPPED

    def request_stop(self) -> None:
        """Request a controlled shutdown without waiting for it."""
        self.resume()
        if self._process is not None:
            self._process.send(signal.SIGTERM)

    def pause(self) -> None:
        """Pause the process (SIGSTOP)."""
        if self._process is not None and self.state is BrokerState.RUNNING:
            self._process.send(signal.SIGSTOP)
            self.state = BrokerState.PAUSED

    def resume(self) -> None:
        """Resume a paused process (SIGCONT)."""
        if self._process is not None and self.state is BrokerState.PAUSED:
            self._process.send(signal.SIGCONT)
            self.state = BrokerState.RUNNING

    def _last_error_line(self) -> str:
        """Return the last line with an error, from the server's log or the JVM's own output."""
        for path in (self.files.log_dir / "server.log", self.files.output):
            lines = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
            naming = [line for line in lines if "ERROR" in line or "FATAL" in line or "Exception" in line]
            if naming:
                return naming[-1].strip()
        return ""


def is_formatted(data_dir: Path) -> bool:
    """Return whether a data directory has both files that StorageTool writes."""
    return all((data_dir / name).exists() for name in (META_PROPERTIES, BOOTSTRAP_SNAPSHOT))


def format_without_tool(data_dir: Path, bootstrap: bytes, node: MetaProperties) -> None:
    """Format the data directory of a node with the bootstrap records of another one.

    They depend on release and features alone (Kafka's `Formatter`), and StorageTool takes more than a second of
    processor time.

    Args:
        data_dir: The directory, which may be missing.
        bootstrap: The content of `bootstrap.checkpoint` of a node of the same release and features.
        node: The ids of node, cluster, and directory.

    Raises:
        OSError: A file cannot be written.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / BOOTSTRAP_SNAPSHOT).write_bytes(bootstrap)
    write_meta_properties(data_dir, node)


def count_brokers(port: int, timeout_s: float = 2.0) -> int:
    """Return the number of brokers in the metadata of a node on loopback; 0 if it does not respond.

    Fenced brokers are not in the metadata, so this is the number of serving brokers.
    """
    request = encode_request(ApiKey.METADATA, METADATA_VERSION, 1, None, MetadataRequest(topics=[]))
    splitter, frames = FrameSplitter(), list[bytes]()
    try:
        with socket.create_connection((HOST, port), timeout_s) as connection:
            connection.sendall(request)
            while not frames:
                received = connection.recv(65536)
                if not received:
                    return 0
                frames = splitter.feed(received)
    except OSError:
        return 0
    _, metadata = decode_response(ApiKey.METADATA, METADATA_VERSION, frames[0])
    return len(cast(MetadataResponse, metadata).brokers)
