"""A broker follows the metadata log: Fetch from the active controller, append, replay what is committed."""

from __future__ import annotations

from typing import Any

from eosctl.sandbox.metadata.log import METADATA_TOPIC_ID, MetadataLog
from eosctl.sandbox.ports import Channel
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState

FETCH_VERSION = 17
MAX_WAIT_MS = 500
RETRY_MS = 20


class MetadataFetcher:
    """Keeps one node's copy of the metadata log up to date."""

    def __init__(self, node_id: int, log: MetadataLog, runtime: NodeRuntime, channel: Channel) -> None:
        self._node_id = node_id
        self._log = log
        self._runtime = runtime
        self._channel = channel

    def start(self) -> None:
        """Fetch from now on."""
        self._send()

    def _send(self) -> None:
        log = self._log.log
        asked = FetchPartition(0, -1, log.end_offset, log.epochs.latest, log.start_offset, 8_388_608)
        request = FetchRequest(
            max_wait_ms=MAX_WAIT_MS,
            min_bytes=1,
            max_bytes=8_388_608,
            topics=[FetchTopic("", METADATA_TOPIC_ID, [asked])],
            replica_state=ReplicaState(self._node_id, -1),
        )
        self._channel.send_to_controller(ApiKey.FETCH, FETCH_VERSION, request, self._answered)

    def _answered(self, response: Any | None) -> None:
        if response is None or response.error_code or not response.responses:
            self._runtime.call_later(RETRY_MS, self._send)
            return
        data = response.responses[0].partitions[0]
        if data.error_code:
            self._runtime.call_later(RETRY_MS, self._send)
            return
        if data.diverging_epoch.epoch >= 0:
            self._log.log.truncate_to(data.diverging_epoch.end_offset)
        elif data.records:
            self._log.append_fetched(data.records, self._runtime.now_ms())
        self._log.commit(data.high_watermark)
        self._runtime.call_soon(self._send)
