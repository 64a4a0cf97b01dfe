"""Fetch (key 1, versions 4 to 18; 3.9 serves 0 to 17): records of partitions that this broker leads.

KIP-98 (isolation level, aborted transactions), KIP-227 (sessions), KIP-320 (leader epochs), KIP-392, KIP-516 (topic ids
from version 13), KIP-595 (diverging epochs), KIP-951 (current leader from version 16).
"""

from __future__ import annotations

from eosctl.sandbox.api.delayed_fetch import Fetch, Results
from eosctl.sandbox.api.fetch_conversion import FIRST_BATCH_VERSION, with_messages
from eosctl.sandbox.api.fetch_quota import within_quota
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replication.fetch_sessions import (
    CachedPartition,
    replica_of,
)
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.reading import (
    lacks_something,
    read_new_records,
    refuse_isolation_level,
)
from eosctl.sandbox.replication.record_push import push_records
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import FetchRequest, FetchResponse

FETCH = int(ApiKey.FETCH)
READ_UNCOMMITTED, READ_COMMITTED = 0, 1


def handle(broker: BrokerServices, context: RequestContext, request: FetchRequest) -> None:
    """Respond to a fetch immediately, or when `min_bytes` are available."""
    version = context.api_version
    if request.isolation_level not in (READ_UNCOMMITTED, READ_COMMITTED):
        context.reply(refuse_isolation_level(request, is_3_9=broker.emulation.is_3_9))
        return
    opened = broker.fetch_sessions.open(request, version, broker.runtime.now_ms())
    if isinstance(opened, ErrorCode):
        context.reply(FetchResponse(error_code=opened))
        return
    if version < FIRST_BATCH_VERSION:
        context = with_messages(broker, context, request)
    fetch = FollowerFetch if opened.session.is_follower and opened.incremental else Fetch
    if broker.metadata.quotas and replica_of(request) < 0:
        request = within_quota(broker, context, request)
    fetch(broker, context, request, opened).start()


class FollowerFetch(Fetch):
    """A follower's fetch in its session.

    It checks its partitions when all other work of a turn is done, so that one response carries all new records. A
    follower in the same process (`BrokerServices.local_fetcher`) receives records without a response.
    """

    __slots__ = ()

    def start(self) -> None:
        """Update the follower's progress, then wait."""
        if not self._session.partitions or self._request.max_wait_ms <= 0:
            self._note_progress()
            self._finish()
            return
        self._wait()
        if self._note_progress() or self._request.min_bytes <= 0:
            self.check_again()

    def _look(self) -> None:
        self._is_check_requested = False
        if not self._done and not self._push_records():
            self._try_finish()

    def _finish(self) -> None:
        self._session.unsettle_risen()
        if self._session.unsettled and not self._done:
            # Otherwise the response would repeat records that the follower has received since its request.
            self._push_records()
        super()._finish()

    def _push_records(self) -> bool:
        """Send the follower its missing records while its fetch waits; return whether nothing is left to answer."""
        broker, session, request = self._broker, self._session, self._request
        fetcher = broker.local_fetcher(self._replica_id)
        if fetcher is None or not fetcher.waits_with(request.session_id, request.session_epoch):
            return False
        broker.count_request(FETCH, self._context.api_version)
        return push_records(session, fetcher, self._replica_id, broker.runtime.ticks.turn, broker.runtime.now_ms())

    def _find_ready(self) -> bool:
        return True

    def _has_answer(self, partition: Partition, cached: CachedPartition) -> bool:
        return lacks_something(partition, cached.request)

    def _read(self) -> Results:
        broker, left, replica_id = self._broker, self._request.max_bytes, self._replica_id
        broker_id, is_guarded, at_least_one = broker.node_id, broker.authorizer is not None, True
        results: Results = []
        for cached in self._session.to_serve():
            partition = cached.watched
            if partition is None or partition.leader_id != broker_id or is_guarded:
                target = self._locate(cached)
                if not isinstance(target, Partition):
                    results.append((cached, target))
                    continue
                partition = target
            data = read_new_records(partition, cached, replica_id, left, at_least_one)
            if data is None:
                self._settle(partition, cached)
                continue
            records = data.records
            if records:
                left = max(0, left - len(records))
                at_least_one = False
            results.append((cached, data))
        return results
