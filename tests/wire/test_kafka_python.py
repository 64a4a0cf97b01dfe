"""The frames of eosctl as kafka-python reads and writes them."""

import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from eosctl.wire.frames import encode_request, encode_response
from eosctl.wire.generated.index import APIS
from tests.wire.vectors import load_vectors

PACKAGES = ("admin", "consumer", "metadata", "producer", "sasl")


def load_classes() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its resources in an old way
        return dict(find_classes())


def find_classes() -> Iterator[tuple[str, Any]]:
    base = importlib.import_module("kafka.protocol.api_message").ApiMessage
    for package in PACKAGES:
        module = importlib.import_module(f"kafka.protocol.{package}")
        names = [one.name for one in pkgutil.iter_modules(getattr(module, "__path__", []))]
        for part in [module, *(importlib.import_module(f"{module.__name__}.{name}") for name in names)]:
            for name, kind in vars(part).items():
                if isinstance(kind, type) and issubclass(kind, base):
                    yield name, kind


CLASSES = load_classes()


#: Kafka-python leaves these to brokers, or has not got to them yet.
ABSENT = {
    "AddRaftVoter", "AllocateProducerIds", "AlterPartition", "AlterShareGroupOffsets", "AssignReplicasToDirs",
    "BeginQuorumEpoch", "BrokerHeartbeat", "BrokerRegistration", "ConsumerGroupDescribe", "ConsumerGroupHeartbeat",
    "CreateDelegationToken", "DeleteShareGroupOffsets", "DeleteShareGroupState", "DescribeDelegationToken",
    "DescribeShareGroupOffsets", "EndQuorumEpoch", "ExpireDelegationToken", "FetchSnapshot",
    "GetTelemetrySubscriptions", "InitializeShareGroupState", "PushTelemetry", "ReadShareGroupState",
    "ReadShareGroupStateSummary", "RemoveRaftVoter",
    "RenewDelegationToken", "ShareAcknowledge", "ShareFetch", "ShareGroupDescribe", "ShareGroupHeartbeat",
    "StreamsGroupDescribe", "StreamsGroupHeartbeat", "StreamsGroupTopologyDescriptionUpdate", "UnregisterBroker",
    "UnregisterController", "Vote", "WriteShareGroupState",
}  # fmt: skip
SHARED = {key: api for key, api in APIS.items() if api.request.name in CLASSES}


def test_all_apis_but_the_absent_are_compared() -> None:
    assert {api.name for key, api in APIS.items() if key not in SHARED} == ABSENT


@pytest.mark.parametrize("api_key", sorted(SHARED))
def test_kafka_python_reads_and_writes_the_same_frames(api_key: int) -> None:
    for name in (APIS[api_key].request.name, APIS[api_key].response.name):
        theirs = CLASSES[name]
        for vector in load_vectors()[name]:
            if vector.version > theirs.max_version:
                continue
            message = vector.decode()
            if name == "ApiVersionsResponse":  # with an error in it, kafka-python reads version 0
                message = replace(message, error_code=0)
            if name.endswith("Request"):
                frame = encode_request(api_key, vector.version, 7, "client", message)
            else:
                frame = encode_response(api_key, vector.version, 7, message)
            read = theirs.decode(frame, version=vector.version, header=True, framed=True)
            assert read.header.correlation_id == 7
            again = bytes(read.encode(header=True, framed=True))
            assert again == frame, vector
