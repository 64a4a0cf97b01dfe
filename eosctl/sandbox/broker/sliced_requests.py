"""Requests with many entries, handled a slice per turn, so that other clients are served in between.

A broker of Kafka serves other clients with its other request handler threads. Only APIs are sliced that treat each
entry separately; the response has the entries of all slices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from eosctl.sandbox.ports import Runtime
from eosctl.sandbox.replies import Reply
from eosctl.wire.api_keys import ApiKey

SLICE: Final = 500
"""Entries of one turn, which take some 10 ms."""


class Entries(NamedTuple):
    """The fields with the entries of a request and of its response."""

    request: str
    response: str


SLICED: Final[Mapping[int, Entries]] = {
    ApiKey.LIST_OFFSETS: Entries("topics", "topics"),
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
}


def has_many_entries(api_key: int, request: Any) -> bool:
    """Return whether a request is handled in slices."""
    entries = SLICED.get(api_key)
    return entries is not None and len(getattr(request, entries.request)) > SLICE


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
