"""A response that is encoded in slices has the bytes of its whole encoding."""

from __future__ import annotations

from typing import Any

import pytest

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec, versions
from eosctl.wire.messages.create_topics import CreatableTopicConfigs, CreatableTopicResult, CreateTopicsResponse
from eosctl.wire.messages.metadata import MetadataResponse, MetadataResponseBroker, MetadataResponseTopic
from eosctl.wire.sliced_encoding import encode_in_slices

SETTINGS = [CreatableTopicConfigs("retention.ms", "1", False, 5, False)]


def created(count: int) -> CreateTopicsResponse:
    names = (f"t{number}" for number in range(count))
    return CreateTopicsResponse(7, [CreatableTopicResult(name=name, configs=SETTINGS) for name in names])


def described(count: int) -> MetadataResponse:
    topics = [MetadataResponseTopic(name=f"t{number}", topic_id=bytes(16)) for number in range(count)]
    return MetadataResponse(0, [MetadataResponseBroker(1, "127.0.0.1", 9092)], "cluster", 1, topics, 5)


@pytest.mark.parametrize(("api_key", "make"), [(ApiKey.CREATE_TOPICS, created), (ApiKey.METADATA, described)])
@pytest.mark.parametrize("count", [1, 2, 127, 128, 300])
def test_slices_make_the_bytes_of_the_whole(api_key: ApiKey, make: Any, count: int) -> None:
    message = make(count)
    for version in versions(api_key):
        form = codec(api_key, version)
        steps = encode_in_slices(form, message, "topics", 100)
        sizes = []
        try:
            while True:
                sizes.append(len(next(steps).topics))  # type: ignore[attr-defined]
        except StopIteration as end:
            assert end.value == form.encode_response(message)
        assert sum(sizes) == count
        assert max(sizes) <= 100
