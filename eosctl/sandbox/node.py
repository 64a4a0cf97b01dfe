"""A node: a process with a broker, a controller, or both, with its data directories and network port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.broker.config import NodeConfig
from eosctl.sandbox.channel import NodeChannel
from eosctl.sandbox.controller.broker_registration import fence_stale_brokers
from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.features import bootstrap_records
from eosctl.sandbox.controller.metadata_fetches import fetch_metadata
from eosctl.sandbox.controller.periodic import start_periodic_tasks
from eosctl.sandbox.controller.quorum import Quorum
from eosctl.sandbox.controller.quorum_store import QuorumStore
from eosctl.sandbox.controller.routes import ROUTES, VOTER_ROUTES
from eosctl.sandbox.controller.snapshot_fetches import fetch_snapshot
from eosctl.sandbox.log.directories import LogDirectories
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.logging.node_events import NodeEvents
from eosctl.sandbox.logging.storage_events import StorageEvents
from eosctl.sandbox.metadata.fetcher import MetadataFetcher
from eosctl.sandbox.metadata.image import ListenerEndpoint
from eosctl.sandbox.metadata.leader_view import NO_LEADER, LeaderView
from eosctl.sandbox.metadata.log import METADATA_PARTITION, METADATA_TOPIC_ID, MetadataLog
from eosctl.sandbox.metadata.snapshot_generator import SnapshotGenerator
from eosctl.sandbox.network import Network, Port
from eosctl.sandbox.ports import Emulation, RequestContext
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.timing_wheel import Pace
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec


class NodePlan(NamedTuple):
    """A node's identity and roles, fixed for the cluster's lifetime."""

    node_id: int
    is_broker: bool
    is_controller: bool
    log_dirs: Sequence[Path]  # The first one contains the metadata log.
    settings: Mapping[str, str]


class ClusterPlan(NamedTuple):
    """The properties that all nodes share."""

    cluster_id: str
    emulation: Emulation
    transaction_version: int | None
    controllers: Sequence[int]


class Node:
    """One run of a node, from start to stop or kill. A restart creates a new object on the same files."""

    def __init__(
        self,
        plan: NodePlan,
        cluster: ClusterPlan,
        runtime: NodeRuntime,
        network: Network,
        listeners: Mapping[str, ListenerEndpoint],
    ) -> None:
        self.plan = plan
        self.cluster = cluster
        self.runtime = runtime
        self._network = network
        self.config = NodeConfig(cluster.emulation.release, plan.settings)
        self.logs = LogDirectories([self._log_directory(path) for path in plan.log_dirs])
        self.logs.open_directories(plan.node_id, cluster.cluster_id, lambda: runtime.random.randbytes(16))
        self.channel = NodeChannel(plan.node_id, network, runtime, self, self._locate_controller)
        metadata_settings = TopicSettings(
            segment_bytes=self.config.get_int("metadata.log.segment.bytes"),
            segment_ms=self.config.get_int("metadata.log.segment.ms"),
        )
        self.metadata_log = MetadataLog(
            self.logs.open_metadata(METADATA_PARTITION, METADATA_TOPIC_ID, metadata_settings),
            cluster.emulation.release,
            runtime,
        )
        self.controller: Controller | None = None
        self.broker: Broker | None = None
        self.leaders: LeaderView
        if plan.is_controller:
            self.controller = Controller(
                plan.node_id,
                cluster.cluster_id,
                runtime,
                self.metadata_log,
                NodeConfig(cluster.emulation.release, plan.settings),
                cluster.emulation,
                cluster.controllers,
                self._bootstrap,
            )
            self.leaders = self.controller.quorum = Quorum(
                plan.node_id,
                tuple(cluster.controllers),
                cluster.cluster_id,
                runtime,
                self.channel,
                self.config,
                cluster.emulation,
                self.metadata_log,
                QuorumStore(self.logs.metadata_directory.directory_of(METADATA_PARTITION)),
                self.controller,
            )
        else:
            self.leaders = LeaderView(cluster.controllers)
        self.leaders.on_change = self.channel.disconnected
        if plan.is_broker:
            self.broker = Broker(
                plan.node_id,
                cluster.cluster_id,
                runtime,
                self.channel,
                self.config,
                cluster.emulation,
                self.logs,
                listeners,
            )

        if self.broker is not None:
            self.events = self.broker.lifecycle.events
        else:
            self.events = NodeEvents(runtime.log, plan.node_id, cluster.emulation.release)

    def _log_directory(self, path: Path) -> LogDirectory:
        is_3_9 = self.cluster.emulation.is_3_9
        events = StorageEvents(self.runtime.log, str(path), is_3_9=is_3_9)
        return LogDirectory(path, self.runtime.ticks, events, stable_at_batches=not is_3_9)

    def start(self) -> None:
        """Attach to the network and start."""
        self.events.starting(is_broker=self.plan.is_broker, is_controller=self.plan.is_controller)
        self._network.attach(self.plan.node_id, Port(self.channel.receive, self.channel.disconnected))
        if self.broker is not None:
            self.metadata_log.listen(self.broker.apply_metadata)
        SnapshotGenerator(
            self.metadata_log,
            self.runtime,
            self.config,
            self.logs.metadata_directory.guarded,
            self.events.wrote_metadata_snapshot,
        ).start()
        fetcher = MetadataFetcher(
            self.plan.node_id,
            self.metadata_log,
            self.runtime,
            self.channel,
            self.leaders,
            # Kafka waits 500 ms; with a short fetch timeout, a follower would take that for a dead leader.
            max_wait_ms=min(500, self.config.get_int("controller.quorum.fetch.timeout.ms") // 4),
            request_timeout_ms=self.config.get_int("controller.quorum.request.timeout.ms"),
        )
        if self.controller is not None:
            quorum = self.controller.quorum
            quorum.on_lead, quorum.on_follow = fetcher.stop, fetcher.start
            quorum.start()
            self._check_sessions()
            start_periodic_tasks(self.controller)
        if self.controller is None or not self.controller.quorum.is_leader:
            fetcher.start()
        if self.broker is not None:
            self.broker.start()

    def stop(self, *, clean: bool) -> None:
        """Stop this run immediately; `Broker.stop` describes the files that it leaves."""
        if clean and self.controller is not None:
            self.controller.quorum.step_down()
        self.runtime.stop()
        self._network.detach(self.plan.node_id)
        if self.broker is not None:
            self.broker.stop(clean=clean)
        else:
            self.logs.close(clean=clean)
        if clean:
            self.events.stopped(is_broker=self.plan.is_broker, is_controller=self.plan.is_controller)
        self.runtime.log.close()

    def _bootstrap(self) -> list[Any]:
        return bootstrap_records(
            self.cluster.emulation,
            self.cluster.transaction_version,
            self.config.get_int("min.insync.replicas"),
        )

    def _check_sessions(self) -> None:
        controller = self.controller
        if controller is not None:
            interval_ms = max(10, self.config.get_int("broker.session.timeout.ms") / 8)
            self.runtime.call_later(interval_ms, self._check_sessions, Pace.KEEP_ALIVE)
            if controller.is_active:
                controller.handle(partial(fence_stale_brokers, controller))

    def _locate_controller(self) -> int | None:
        return None if self.leaders.leader_id == NO_LEADER else self.leaders.leader_id

    # --- requests of other nodes (PeerService) --------------------------------------------------------------------

    def decode(self, api_key: int, version: int, frame: bytes, position: int) -> Any:
        """Decode a request's body."""
        message, _ = codec(api_key, version).decode_request(frame, position)
        return message

    def serve(self, api_key: int, version: int, context: RequestContext, request: Any) -> None:
        """Pass a request to the controller or the broker of this node."""
        if self.controller is not None:
            voter_route = VOTER_ROUTES.get(api_key)
            if voter_route is not None:
                voter_route(self.controller.quorum, context, request)
                return
            route = ROUTES.get(api_key)
            if route is not None:
                accepted = self.controller.accept(context)
                if accepted is not None:
                    self.controller.handle(partial(route, self.controller, accepted, request))
                return
            if api_key == ApiKey.FETCH and request.topics and request.topics[0].topic_id == METADATA_TOPIC_ID:
                fetch_metadata(self.controller, context, request)
                return
            if api_key == ApiKey.FETCH_SNAPSHOT:
                fetch_snapshot(self.controller, context, request)
                return
        broker = self.broker
        if broker is None:
            return
        if not broker.is_ready:
            # Like Kafka, respond to nothing before the controller has sent the current leaders.
            broker.early_requests.append(partial(self.serve, api_key, version, context, request))
            return
        route_to_broker = broker.requests.route(api_key, version, from_broker=True)
        if route_to_broker is not None:
            if broker.error_counts is not None:
                counted = partial(broker.error_counts.counted, api_key, context.reply)
                context = replace(context, reply=counted)
            route_to_broker.handle(broker, context, request)
