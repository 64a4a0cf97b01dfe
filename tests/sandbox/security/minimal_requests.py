"""The smallest request of every API that a broker announces, and what its answer comes down to."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.generated.index import APIS
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.describe_acls import DescribeAclsRequest
from eosctl.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from eosctl.wire.messages.produce import ProduceRequest
from tests.sandbox.security.authorization_cases import verdict
from tests.sandbox.security.wire_client import WireClient

FIRST_BATCHED_VERSION = 4


def minimal_request(api_key: int) -> Any:
    """Return a request with as little in it as is understood."""
    if api_key == ApiKey.PRODUCE:
        return ProduceRequest(acks=1)  # with acks=0 there is no answer
    if api_key == ApiKey.DESCRIBE_ACLS:
        return DescribeAclsRequest(1, None, 1, None, None, 1, 1)  # 0 is not a code of the protocol
    if api_key == ApiKey.OFFSET_FETCH:
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup()])  # 3.9 never answers for no group at all
    module = import_module(f"eosctl.wire.messages.{ApiKey(api_key).name.lower()}")
    return getattr(module, APIS[api_key].request.name)()


def is_never_answered(api_key: int, version: int) -> bool:
    """Whether real brokers leave the smallest request alone: a batch without transactions."""
    return api_key == ApiKey.ADD_PARTITIONS_TO_TXN and version >= FIRST_BATCHED_VERSION


def announced(bootstrap: str) -> Iterator[tuple[int, int]]:
    """Ask a broker for its APIs and yield each with each of its versions that is more than a name."""
    with WireClient(bootstrap) as client:
        answer = client.ask(ApiKey.API_VERSIONS, 4, ApiVersionsRequest("test", "1"))
    assert answer is not None
    for api in answer.api_keys:
        for version in range(api.min_version, api.max_version + 1):
            known = APIS[api.api_key].request
            if known.first <= version <= known.last:
                yield api.api_key, version


def collect_minimal_answers(bootstrap: str) -> dict[str, list[str]]:
    """Send every smallest request, each to a connection that works, and reduce the answers to their error codes."""
    answers = {}
    client = WireClient(bootstrap)
    try:
        for api_key, version in announced(bootstrap):
            if is_never_answered(api_key, version):
                continue
            response = client.ask(api_key, version, minimal_request(api_key))
            answers[f"{ApiKey(api_key).name} {version}"] = verdict(response)
            if response is None:
                client.__exit__()
                client = WireClient(bootstrap)
    finally:
        client.__exit__()
    return answers
