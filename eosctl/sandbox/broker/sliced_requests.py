"""Requests with many entries, handled a slice per turn, so that other clients are served in between.

Only requests are sliced that treat each entry separately; the response has the entries of all slices. Handlers of the
others take turns themselves (`sandbox.turns`).
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
from eosctl.sandbox.turns import SLICE
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.uuid import ZERO_UUID


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


def _are_of_distinct_partitions(topics: Sequence[Any]) -> bool:
    """Return whether topics differ and all have partitions; Kafka's share coordinator drops the request otherwise."""
    return len({topic.topic_id for topic in topics}) == len(topics) and all(topic.partitions for topic in topics)


def _are_without_patterns(creations: Sequence[Any]) -> bool:
    """Return whether no ACL makes Kafka fail the whole request."""
    return not any(Acl(*astuple(one)).is_pattern for one in creations)


class Elements(NamedTuple):
    """The fields with the elements of an entry and of its result. An entry with many is split if their keys differ."""

    request: str
    response: str
    key: str | None  # None: the element itself.


class Entries(NamedTuple):
    """The fields with the entries of a request and of its response, and whether the entries are independent."""

    request: str
    response: str
    are_separate: Callable[[Sequence[Any]], bool] = _always
    elements: Elements | None = None


_PARTITIONS: Final = Elements("partitions", "partitions", "partition_index")
_SHARE_STATE: Final = Entries(
    "topics", "results", _are_of_distinct_partitions, Elements("partitions", "partitions", "partition")
)
_ARE_DISTINCT_RESOURCES: Final = _are_distinct("resource_type", "resource_name")
SLICED: Final[Mapping[int, Entries]] = {
    ApiKey.LIST_OFFSETS: Entries("topics", "topics", elements=_PARTITIONS),
    ApiKey.METADATA: Entries("topics", "topics", _are_of_one_kind),
    ApiKey.DELETE_RECORDS: Entries("topics", "topics", _are_distinct("name"), _PARTITIONS),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Entries("users", "results", _are_distinct("name")),
    ApiKey.OFFSET_FETCH: Entries("groups", "groups"),
    ApiKey.FIND_COORDINATOR: Entries("coordinator_keys", "coordinators"),
    ApiKey.DESCRIBE_GROUPS: Entries("groups", "groups"),
    ApiKey.DELETE_GROUPS: Entries("groups_names", "results"),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: Entries(
        "topics", "topics", elements=Elements("partitions", "partitions", "partition")
    ),
    ApiKey.DESCRIBE_CONFIGS: Entries("resources", "results"),
    ApiKey.DESCRIBE_PRODUCERS: Entries("topics", "topics", elements=Elements("partition_indexes", "partitions", None)),
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
    ApiKey.WRITE_TXN_MARKERS: Entries(
        "markers", "markers", _are_distinct("producer_id"), Elements("topics", "topics", "name")
    ),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: _SHARE_STATE,
    ApiKey.READ_SHARE_GROUP_STATE: _SHARE_STATE,
    ApiKey.WRITE_SHARE_GROUP_STATE: _SHARE_STATE,
    ApiKey.DELETE_SHARE_GROUP_STATE: _SHARE_STATE,
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: _SHARE_STATE,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: Entries("groups", "groups", _are_distinct("group_id")),
}


#: The repeated field of the responses that grow with the number of topics, groups, or other entities.
RESPONSE_FIELDS: Final[Mapping[int, str]] = {
    **{api_key: entries.response for api_key, entries in SLICED.items()},
    ApiKey.CREATE_TOPICS: "topics",
}


def has_many_entries(api_key: int, request: Any) -> bool:
    """Return whether a request is handled in slices."""
    entries = SLICED.get(api_key)
    if entries is None:
        return False
    given = getattr(request, entries.request)
    if given is None:
        return False
    elements = entries.elements
    if len(given) <= SLICE and (elements is None or sum(_size(entry, elements) for entry in given) <= SLICE):
        return False
    if elements is not None and any(_repeats_a_key(one, elements) for one in given if _size(one, elements) > SLICE):
        return False
    return entries.are_separate(given)


def _size(entry: Any, elements: Elements | None) -> int:
    return 1 if elements is None else len(getattr(entry, elements.request)) or 1


def _repeats_a_key(entry: Any, elements: Elements) -> bool:
    given = getattr(entry, elements.request)
    keys = given if elements.key is None else map(attrgetter(elements.key), given)
    return len(set(keys)) < len(given)


class _Slice(NamedTuple):
    """Entries of one turn; `continues` is whether the first one continues the last one of the previous slice."""

    entries: Sequence[Any]
    continues: bool = False


def _slices(entries: Sequence[Any], elements: Elements | None) -> Iterator[_Slice]:
    part: list[Any] = []
    size = 0
    for entry in entries:
        added = _size(entry, elements)
        if part and size + added > SLICE:
            yield _Slice(part)
            part, size = [], 0
        if elements is not None and added > SLICE:
            given = getattr(entry, elements.request)
            for start in range(0, added, SLICE):
                fewer = replace(entry, **{elements.request: given[start : start + SLICE]})
                yield _Slice([fewer], continues=start > 0)
        else:
            part.append(entry)
            size += added
    if part:
        yield _Slice(part)


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
        self._slices = _slices(getattr(request, self._fields.request), self._fields.elements)
        self._found: list[Any] = []

    def start(self) -> None:
        """Handle the first slice; the response to each slice starts the next one in a later turn."""
        self._next(next(self._slices))

    def _next(self, part: _Slice) -> None:
        self._handle(partial(self._take, part), replace(self._request, **{self._fields.request: part.entries}))

    def _take(self, part: _Slice, response: Any | None) -> None:
        if response is None:
            self._reply(None)
            return
        found = list(getattr(response, self._fields.response))
        elements = self._fields.elements
        if part.continues and elements is not None and found and self._found:
            name, before = elements.response, self._found.pop()
            found[0] = replace(before, **{name: [*getattr(before, name), *getattr(found[0], name)]})
        self._found += found
        following = next(self._slices, None)
        if following is not None:
            self._runtime.call_later(0, partial(self._next, following))
        else:
            self._reply(replace(response, **{self._fields.response: self._found}))
