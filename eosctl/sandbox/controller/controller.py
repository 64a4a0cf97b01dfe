"""The active controller. Every change is appended as a batch of records, committed, and then acknowledged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from eosctl.sandbox.broker.config import ConfigSources, NodeConfig
from eosctl.sandbox.controller.quorum import Quorum
from eosctl.sandbox.logging.controller_events import ControllerEvents
from eosctl.sandbox.metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE, ClusterImage, ImageDelta
from eosctl.sandbox.metadata.log import MetadataLog
from eosctl.sandbox.metadata.replay import replay, replay_in_turns
from eosctl.sandbox.ports import Emulation, RequestContext
from eosctl.sandbox.quotas.controller_mutation_quota import ControllerMutationQuotaManager
from eosctl.sandbox.replies import Reply
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.turns import TurnQueue
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.allocate_producer_ids import AllocateProducerIdsResponse
from eosctl.wire.messages.alter_partition import AlterPartitionResponse
from eosctl.wire.messages.assign_replicas_to_dirs import AssignReplicasToDirsResponse
from eosctl.wire.messages.broker_heartbeat import BrokerHeartbeatResponse
from eosctl.wire.messages.broker_registration import BrokerRegistrationResponse

Event = Callable[[], Iterator[None] | None]

ELR_FEATURE = "eligible.leader.replicas.version"
#: Requests that an inactive controller rejects; Kafka forwards the others in an envelope.
_REFUSALS: dict[int, type[Any]] = {
    ApiKey.ALLOCATE_PRODUCER_IDS: AllocateProducerIdsResponse,
    ApiKey.ALTER_PARTITION: AlterPartitionResponse,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: AssignReplicasToDirsResponse,
    ApiKey.BROKER_HEARTBEAT: BrokerHeartbeatResponse,
    ApiKey.BROKER_REGISTRATION: BrokerRegistrationResponse,
}


class Heartbeats:
    """Last contact per broker, in milliseconds in which the controller could run (Kafka uses monotonic time, too)."""

    def __init__(self) -> None:
        self._last_ms: dict[int, int] = {}

    def touch(self, broker_id: int, now_ms: int) -> None:
        """Record a heartbeat."""
        self._last_ms[broker_id] = now_ms

    def forget(self, broker_id: int) -> None:
        """Remove a broker."""
        self._last_ms.pop(broker_id, None)

    def stale(self, now_ms: int, session_timeout_ms: int) -> list[int]:
        """Return the brokers with an expired session."""
        return [broker for broker, last in self._last_ms.items() if now_ms - last > session_timeout_ms]


def refusal_of(api_key: int) -> Any | None:
    """Return NOT_CONTROLLER; None (the connection is closed) for requests that Kafka forwards in an envelope."""
    response = _REFUSALS.get(api_key)
    return None if response is None else response(error_code=ErrorCode.NOT_CONTROLLER)


def _steps_of(event: Event) -> Iterator[None]:
    yield from event() or ()


class Controller:
    """A controller of the quorum; active while it leads the metadata log.

    `image` contains everything appended, committed or not, since decisions depend on it.
    """

    def __init__(
        self,
        node_id: int,
        cluster_id: str,
        runtime: NodeRuntime,
        log: MetadataLog,
        config: NodeConfig,
        emulation: Emulation,
        voters: Sequence[int],
        bootstrap: Callable[[], Sequence[Any]],
    ) -> None:
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.runtime = runtime
        self.log = log
        self.config = config
        self.emulation = emulation
        self.voters = tuple(voters)
        self._renew_image()
        self.events = ControllerEvents(runtime.log, node_id, is_3_9=emulation.is_3_9)
        self.leader_epoch = 0
        self.is_active = False
        self.heartbeats = Heartbeats()
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()
        self.watchers: dict[Any, None] = {}  # Fetches of the metadata log that wait for more records.
        self.sent_high_watermarks: dict[int, int] = {}  # The last high watermark sent to each replica.
        self.quorum: Quorum
        self._bootstrap = bootstrap
        self._accepted: dict[Reply, None] = {}  # Requests without a response so far.
        self._queue = TurnQueue(runtime, _steps_of)

    # --- leadership (LeadershipListener) ------------------------------------------------------------------------

    def lead(self, epoch: int) -> int:
        """Append the first record of an epoch; this controller is active once that is committed."""
        self.leader_epoch = epoch
        self.sent_high_watermarks.clear()
        offset = self.log.append_leader_change(self.node_id, self.voters, epoch, self.runtime.now_ms())
        self._waiting.append((self.log.end_offset, self._activate))
        return offset

    def _activate(self) -> None:
        """Replay the log, which is fully committed now; bootstrap an empty log."""
        self._renew_image()
        delta = ImageDelta()
        for batch in self.log.batches():
            for record in batch.records:
                replay(self.image, record, delta)
        self._reread_config()
        self.is_active = True
        self.events.becomes_active(self.leader_epoch, self.log.end_offset)
        if not self.image.features:
            self.write(self._bootstrap())
        now_ms = self.runtime.runnable_ms()
        for broker in self.image.brokers.values():
            if not broker.fenced:
                self.heartbeats.touch(broker.broker_id, now_ms)

    def _renew_image(self) -> None:
        """Start with an empty image and no balances of quotas, which a controller keeps while it is active."""
        self.image = ClusterImage()
        windows = (
            self.config.get_int("controller.quota.window.num"),
            self.config.get_int("controller.quota.window.size.seconds"),
        )
        self.mutation_quotas = ControllerMutationQuotaManager(self.image, *windows, self.runtime.now_ms)

    def resign(self) -> None:
        """Resign as active controller; pending requests get no response from here."""
        self.is_active = False
        self._queue.close()
        self._queue = TurnQueue(self.runtime, _steps_of)
        self._waiting.clear()
        self.heartbeats = Heartbeats()
        for watcher in tuple(self.watchers):
            watcher.leader_gone()
        accepted, self._accepted = self._accepted, {}
        for reply in accepted:
            reply(None)

    def accept(self, context: RequestContext) -> RequestContext | None:
        """Accept a request for the active controller; reject it and return None if this controller is inactive."""
        if not self.is_active:
            context.reply(refusal_of(context.api_key))
            return None
        reply = context.reply

        def answer(response: Any | None) -> None:
            if self._accepted.pop(reply, reply) is None:
                reply(response)

        self._accepted[reply] = None
        return replace(context, reply=answer)

    def handle(self, event: Event) -> None:
        """Handle an event after the one before it has taken all its steps, as Kafka's controller does in one thread."""
        self._queue.add(event)

    # --- writing ------------------------------------------------------------------------------------------------

    def write(self, records: Sequence[Any], done: Callable[[], None] | None = None) -> None:
        """Append records as one batch; `done` is called when they are committed."""
        for _ in self.write_in_turns(records, done):
            pass

    def write_in_turns(self, records: Sequence[Any], done: Callable[[], None] | None = None) -> Iterator[None]:
        """Append records as `write` does, in steps of an event."""
        if records:
            self.events.changes(self.image, records)
            metadata_version = self.image.finalized_feature("metadata.version")
            yield from self.log.append(records, self.leader_epoch, self.runtime.now_ms(), metadata_version)
            delta = ImageDelta()
            yield from replay_in_turns(self.image, records, delta)
            if delta.configs:
                self._reread_config()
        if done is not None:
            self._waiting.append((self.log.end_offset, done))
        self.commit()

    def commit(self) -> None:
        """Advance the high watermark of the quorum and complete the requests waiting for it."""
        self.log.commit(self.quorum.committed_offset())
        while self._waiting and self._waiting[0][0] <= self.log.high_watermark:
            self._waiting.popleft()[1]()
        for watcher in tuple(self.watchers):
            watcher.check_again()

    # --- what decisions need ------------------------------------------------------------------------------------

    def is_broker_active(self, broker_id: int) -> bool:
        """Return whether a broker may lead partitions."""
        broker = self.image.brokers.get(broker_id)
        return broker is not None and not broker.fenced and not broker.in_controlled_shutdown

    def topic_config(self, topic: str) -> Mapping[str, str]:
        """Return a topic's own settings."""
        return self.image.config(TOPIC_RESOURCE, topic)

    def topic_value(self, topic: str, name: str) -> str:
        """Return a topic's effective setting as the controller sees it."""
        return self.config.topic_value(self.topic_config(topic), name)

    def unclean_allowed(self, topic: str) -> bool:
        """Return whether `unclean.leader.election.enable` applies to a topic."""
        return self.topic_value(topic, "unclean.leader.election.enable") == "true"

    def min_isr(self, topic: str) -> int:
        """Return `min.insync.replicas` of a topic, at most the number of replicas of its partitions."""
        known = self.image.topics.get(topic)
        replica_count = len(known.partitions[0].replicas) if known is not None and known.partitions else 1
        return min(int(self.topic_value(topic, "min.insync.replicas")), replica_count)

    @property
    def has_elr(self) -> bool:
        """Return whether eligible leader replicas are finalized (KIP-966)."""
        return self.image.finalized_feature(ELR_FEATURE) > 0

    def _reread_config(self) -> None:
        self.config.replace_dynamic(ConfigSources({}, self.image.config(BROKER_RESOURCE, "")))
