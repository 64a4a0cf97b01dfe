"""Follow the metadata log: fetch from the active controller, append, and replay committed records."""

from __future__ import annotations

from functools import partial
from typing import Any

from eosctl.sandbox.metadata.leader_view import NO_LEADER, LeaderView
from eosctl.sandbox.metadata.log import METADATA_TOPIC_ID, MetadataLog
from eosctl.sandbox.metadata.snapshot_download import VERSION as SNAPSHOT_VERSION
from eosctl.sandbox.metadata.snapshot_download import SnapshotDownload
from eosctl.sandbox.ports import Channel
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)
from eosctl.wire.messages.fetch_snapshot import FetchSnapshotResponse, ResponsePartitionSnapshot

FETCH_VERSION = 17
RETRY_MS = 20
MAX_BYTES = 8_388_608


class MetadataFetcher:
    """Keeps a node's copy of the metadata log up to date; without a known leader, it queries voters."""

    def __init__(
        self,
        node_id: int,
        log: MetadataLog,
        runtime: NodeRuntime,
        channel: Channel,
        view: LeaderView,
        *,
        max_wait_ms: int,
        request_timeout_ms: int,
    ) -> None:
        self._node_id = node_id
        self._log = log
        self._runtime = runtime
        self._channel = channel
        self._view = view
        self._max_wait_ms = max_wait_ms
        self._request_timeout_ms = request_timeout_ms
        self._download: SnapshotDownload | None = None
        self._number = 0  # The request in progress; a stop or restart invalidates its response.

    def start(self) -> None:
        """Start to fetch."""
        self._number += 1
        self._download = None
        self._send()

    def stop(self) -> None:
        """Stop fetching, because this node leads."""
        self._number += 1

    def _send(self) -> None:
        view, log = self._view, self._log.log
        target = view.leader_id
        if target == NO_LEADER:
            others = [voter for voter in view.voters if voter != self._node_id]
            target = self._runtime.random.choice(others)
        answered = partial(self._answered, self._number, target)
        if self._download is not None:
            piece = self._download.request(None, self._node_id, view.epoch)
            timeout_ms = self._request_timeout_ms
            self._channel.send(target, ApiKey.FETCH_SNAPSHOT, SNAPSHOT_VERSION, piece, answered, timeout_ms=timeout_ms)
            return
        requested = FetchPartition(
            partition=0,
            current_leader_epoch=view.epoch,
            fetch_offset=log.end_offset,
            last_fetched_epoch=self._log.last_epoch,
            log_start_offset=log.start_offset,
            partition_max_bytes=MAX_BYTES,
        )
        request = FetchRequest(
            max_wait_ms=self._max_wait_ms,
            min_bytes=1,
            max_bytes=MAX_BYTES,
            topics=[FetchTopic("", METADATA_TOPIC_ID, [requested])],
            replica_state=ReplicaState(self._node_id, -1),
        )
        self._channel.send(target, ApiKey.FETCH, FETCH_VERSION, request, answered, timeout_ms=self._request_timeout_ms)

    def _again(self, number: int) -> None:
        if number == self._number:
            self._send()

    def _answered(self, number: int, target: int, response: Any | None) -> None:
        if number != self._number:
            return
        again = partial(self._again, number)
        data = _metadata_part(response)
        if data is None:
            self._view.unreachable(target)
            self._runtime.call_later(RETRY_MS, again)
            return
        self._view.update_leader(data.current_leader.leader_id, data.current_leader.leader_epoch, target)
        if number != self._number:
            return  # The response has stopped or restarted this fetcher.
        is_of_leader = (target, data.current_leader.leader_epoch) == (self._view.leader_id, self._view.epoch)
        if data.error_code or not is_of_leader:
            self._download = None
            leader_changed = data.error_code in (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            knows_leader = leader_changed and self._view.leader_id not in (NO_LEADER, target)
            self._runtime.call_later(0 if knows_leader else RETRY_MS, again)
            return
        self._view.fetched()
        if self._download is None:
            self._take(data)
        else:
            self._add_chunk(self._download, data)
        self._runtime.call_soon(again)

    def _add_chunk(self, download: SnapshotDownload, data: ResponsePartitionSnapshot) -> None:
        if not download.take(data):
            self._download = None  # The leader has a newer snapshot by now; its next response names it.
        elif download.is_complete:
            self._download = None
            self._log.take_snapshot(download.end_offset, download.epoch, bytes(download.data))

    def _take(self, data: PartitionData) -> None:
        if data.snapshot_id.epoch >= 0:
            self._download = SnapshotDownload(data.snapshot_id.end_offset, data.snapshot_id.epoch)
            return
        if data.diverging_epoch.epoch >= 0:
            _, own_end = self._log.log.epochs.end_offset_for(data.diverging_epoch.epoch, self._log.end_offset)
            end = data.diverging_epoch.end_offset
            self._log.log.truncate_to(min(end, own_end) if own_end >= 0 else end)
        elif data.records:
            self._log.append_fetched(data.records, self._runtime.now_ms())
        self._log.commit(data.high_watermark)


def _metadata_part(response: FetchResponse | FetchSnapshotResponse | None) -> Any | None:
    """Return the partition of the metadata log in a response; None without one."""
    if response is None or response.error_code:
        return None
    topics = response.responses if isinstance(response, FetchResponse) else response.topics
    return topics[0].partitions[0] if topics else None
