"""Requests with many entries, handled a slice per turn, so that other clients are served in between.

A broker of Kafka serves other clients with its other request handler threads. Only requests are sliced that treat each
entry separately; the response has the entries of all slices. Handlers of the others take turns themselves (`in_turns`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final, NamedTuple

from msgspec.structs import astuple, replace

from eosctl.sandbox.ports import Runtime
from eosctl.sandbox.replies import Reply
from eosctl.sandbox.security.acls import Acl, AclFilter
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.uuid import ZERO_UUID

SLICE: Final = 500
"""Entries of one turn, which take some 10 ms."""


def _always(_: Sequence[Any]) -> bool:
    return True


def _are_distinct(*fields: str) -> Callable[[Sequence[Any]], bool]:
    """Return whether no two entries have the same values: APIs refuse or drop the second one."""
    values = attrgetter(*fields)
    return lambda entries: len(set(map(values, entries))) == len(entries)


def _are_of_one_kind(topics: Sequence[Any]) -> bool:
    """Return whether topics are all given by id, or all by names that differ."""
    if any(topic.topic_id != ZERO_UUID for topic in topics):
        return all(topic.topic_id != ZERO_UUID for topic in topics)
    names = {topic.name for topic in topics}
    return len(names) == len(topics) and None not in names


def _are_of_distinct_entities(entries: Sequence[Any]) -> bool:
    entities = {frozenset((part.entity_type, part.entity_name) for part in entry.entity) for entry in entries}
    return len(entities) == len(entries)


def _are_of_known_codes(filters: Sequence[Any]) -> bool:
    """Return whether no filter of ACLs makes Kafka refuse the whole request."""
    return not any(AclFilter(*astuple(one)).has_unknown_code for one in filters)


def _are_without_patterns(creations: Sequence[Any]) -> bool:
    """Return whether no ACL makes Kafka fail the whole request."""
    return not any(Acl(*astuple(one)).is_pattern for one in creations)


class Entries(NamedTuple):
    """The fields with the entries of a request and of its response, and whether the entries are independent."""

    request: str
    response: str
    are_separate: Callable[[Sequence[Any]], bool] = _always


_ARE_DISTINCT_RESOURCES: Final = _are_distinct("resource_type", "resource_name")
SLICED: Final[Mapping[int, Entries]] = {
    ApiKey.LIST_OFFSETS: Entries("topics", "topics"),
    ApiKey.METADATA: Entries("topics", "topics", _are_of_one_kind),
    ApiKey.DELETE_RECORDS: Entries("topics", "topics", _are_distinct("name")),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Entries("users", "results", _are_distinct("name")),
    ApiKey.OFFSET_FETCH: Entries("groups", "groups"),
    ApiKey.FIND_COORDINATOR: Entries("coordinator_keys", "coordinators"),
    ApiKey.DESCRIBE_GROUPS: Entries("groups", "groups"),
    ApiKey.DELETE_GROUPS: Entries("groups_names", "results"),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: Entries("topics", "topics"),
    ApiKey.DESCRIBE_CONFIGS: Entries("resources", "results"),
    ApiKey.DESCRIBE_PRODUCERS: Entries("topics", "topics"),
    ApiKey.DESCRIBE_TRANSACTIONS: Entries("transactional_ids", "transaction_states"),
    ApiKey.CONSUMER_GROUP_DESCRIBE: Entries("group_ids", "groups"),
    ApiKey.SHARE_GROUP_DESCRIBE: Entries("group_ids", "groups"),
    ApiKey.STREAMS_GROUP_DESCRIBE: Entries("group_ids", "groups"),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: Entries("resources", "responses", _ARE_DISTINCT_RESOURCES),
    ApiKey.ALTER_CONFIGS: Entries("resources", "responses", _ARE_DISTINCT_RESOURCES),
    ApiKey.ALTER_CLIENT_QUOTAS: Entries("entries", "entries", _are_of_distinct_entities),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: Entries("topics", "responses", _are_distinct("name")),
    ApiKey.ELECT_LEADERS: Entries("topic_partitions", "replica_election_results", _are_distinct("topic")),
    ApiKey.CREATE_ACLS: Entries("creations", "results", _are_without_patterns),
    ApiKey.DELETE_ACLS: Entries("filters", "filter_results", _are_of_known_codes),
    ApiKey.DESCRIBE_QUORUM: Entries("topics", "topics"),
    ApiKey.ADD_PARTITIONS_TO_TXN: Entries("transactions", "results_by_transaction", _are_distinct("transactional_id")),
    ApiKey.WRITE_TXN_MARKERS: Entries("markers", "markers", _are_distinct("producer_id")),
}


def has_many_entries(api_key: int, request: Any) -> bool:
    """Return whether a request is handled in slices."""
    entries = SLICED.get(api_key)
    if entries is None:
        return False
    given = getattr(request, entries.request)
    return given is not None and len(given) > SLICE and entries.are_separate(given)


def in_turns(runtime: Runtime, steps: Iterator[None]) -> None:
    """Take the first step of a request, and each following one in a turn of its own."""
    for _ in steps:
        runtime.call_later(0, partial(in_turns, runtime, steps))
        return


class SlicedRequest:
    """A request whose slices are handled one after the other."""

    def __init__(
        self,
        api_key: int,
        request: Any,
        runtime: Runtime,
        handle: Callable[[Reply, Any], None],
        reply: Reply,
    ) -> None:
        self._fields = SLICED[api_key]
        self._request = request
        self._runtime = runtime
        self._handle = handle
        self._reply = reply
        self._entries: Sequence[Any] = getattr(request, self._fields.request)
        self._found: list[Any] = []

    def handle(self, start: int = 0) -> None:
        """Handle the slice from this entry; its response starts the next one in a later turn."""
        part = self._entries[start : start + SLICE]
        following = start + SLICE
        self._handle(partial(self._take, following), replace(self._request, **{self._fields.request: part}))

    def _take(self, following: int, response: Any | None) -> None:
        if response is None:
            self._reply(None)
            return
        self._found.extend(getattr(response, self._fields.response))
        if following < len(self._entries):
            self._runtime.call_later(0, partial(self.handle, following))
        else:
            self._reply(replace(response, **{self._fields.response: self._found}))
