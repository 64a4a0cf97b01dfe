"""Log lines about a server process: start, registration, unfencing, and shutdown."""

from __future__ import annotations

from typing import Final

from eosctl.model.emulation import FULL_RELEASE
from eosctl.sandbox.logging.event_log import EventLog

BROKER_SERVER: Final = "kafka.server.BrokerServer"
CONTROLLER_SERVER: Final = "kafka.server.ControllerServer"
RAFT_SERVER: Final = "kafka.server.KafkaRaftServer"


class NodeEvents:
    """Log lines of a server process, in any role."""

    def __init__(self, log: EventLog, node_id: int, release: str) -> None:
        self._log = log
        self._node_id = node_id
        self._is_ending = False
        self._release = FULL_RELEASE.get(release, release)
        package = "kafka.server" if release == "3.9" else "org.apache.kafka.server"
        self._lifecycle = f"{package}.BrokerLifecycleManager"
        utils = "org.apache.kafka.common.utils" + ("" if release in ("3.9", "4.3") else ".internals")
        self._signals = f"{utils}.LoggingSignalHandler"
        self._app_info = f"{utils}.AppInfoParser"

    def starting(self, *, is_broker: bool, is_controller: bool) -> None:
        """Log that the process starts."""
        self._log.write(self._signals, "Registered signal handlers for TERM, INT, HUP")
        if is_controller:
            self._log.write(CONTROLLER_SERVER, f"[ControllerServer id={self._node_id}] Starting controller")
        if is_broker:
            self._broker("Transition from SHUTDOWN to STARTING")
            self._broker("Starting broker")
        else:
            self._started()

    def registered(self, broker_epoch: int) -> None:
        """Log that the controller has registered the broker, initially fenced."""
        self._log_lifecycle(f"Successfully registered broker {self._node_id} with broker epoch {broker_epoch}")

    def unfenced(self) -> None:
        """Log that the broker was unfenced."""
        self._log_lifecycle("The broker has been unfenced. Transitioning from RECOVERY to RUNNING.")
        self._broker("Transition from STARTING to STARTED")
        self._started()

    def wrote_metadata_snapshot(self, name: str, reason: str) -> None:
        """Log that the node wrote a snapshot of the metadata log."""
        publisher, who = "org.apache.kafka.image.publisher.Snapshot", f"id={self._node_id}]"
        begins = f"[SnapshotGenerator {who} Creating new KRaft snapshot file snapshot {name} because {reason}."
        self._log.write(f"{publisher}Generator", begins)
        self._log.write(f"{publisher}Emitter", f"[SnapshotEmitter {who} Successfully wrote snapshot {name}")

    def starts_controlled_shutdown(self) -> None:
        """Log the start of a controlled shutdown."""
        self._signalled(is_broker=True)
        self._log_lifecycle("Beginning controlled shutdown.")

    def stopped(self, *, is_broker: bool, is_controller: bool) -> None:
        """Log the clean end of the process."""
        self._signalled(is_broker=is_broker)
        if is_broker:
            self._broker("shut down completed")
        if is_controller:
            self._log.write(CONTROLLER_SERVER, f"[ControllerServer id={self._node_id}] shutting down")

    def _signalled(self, *, is_broker: bool) -> None:
        if self._is_ending:
            return
        self._is_ending = True
        self._log.write(self._signals, "Terminating process due to signal SIGTERM")
        if is_broker:
            self._broker("Transition from STARTED to SHUTTING_DOWN")

    def _started(self) -> None:
        self._log.write(self._app_info, f"Kafka version: {self._release}")
        self._log.write(RAFT_SERVER, f"[KafkaRaftServer nodeId={self._node_id}] Kafka Server started")

    def _broker(self, text: str) -> None:
        self._log.write(BROKER_SERVER, f"[BrokerServer id={self._node_id}] {text}")

    def _log_lifecycle(self, text: str) -> None:
        self._log.write(self._lifecycle, f"[BrokerLifecycleManager id={self._node_id}] {text}")


def rejects_connection(log: EventLog, address: str, limit: int) -> None:
    """Log that a client is disconnected because its address has too many connections."""
    why = f"address already has the configured maximum of {limit} connections."
    log.write("kafka.network.DataPlaneAcceptor", f"Rejected connection from /{address}, {why}")
