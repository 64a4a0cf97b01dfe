"""Lines of client libraries without Java and of the programs around them, in the words of their sources."""

from __future__ import annotations

import pytest

from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.records.record import Record


@pytest.mark.parametrize(
    ("message", "category"),
    [
        # kafka-python and aiokafka
        ("Heartbeat failed for group g: generation id is not  current.", "GROUP_FENCED"),
        (
            "Heartbeat failed for group g: coordinator (node 4) is either not started or not valid",
            "COORDINATOR_UNAVAILABLE",
        ),
        ("Heartbeat failed for group g because it is rebalancing", "REBALANCE_TRIGGER"),
        ("Offset commit failed: group membership out of date This is likely to cause duplicate", "COMMIT_FAILED"),
        ("Topic gauges not found in cluster metadata", "UNKNOWN_TOPIC"),
        ("Topic gauges is not available during auto-create initialization", "UNKNOWN_TOPIC"),
        ("Topic gauges is not authorized for this client", "AUTHZ_OTHER"),
        ("Not authorized to read from topic gauges.", "AUTHZ_OTHER"),
        ("'gau ges' is not a valid topic name", "INVALID_TOPIC"),
        ("Unable to update metadata from [0, 1]", "BROKERS_UNREACHED"),
        ("Bootstrap attempt to b-1:9092 failed: KafkaTimeoutError (backoff 0.2 secs)", "BROKERS_UNREACHED"),
        ("<KafkaConnection b-1>: Request timed out after 30000 ms. Closing connection.", "NETWORK_DISCONNECT"),
        # franz-go
        ("read from broker received EOF during api versions discovery, which often happens", "BOOTSTRAP_DISCONNECTED"),
        (
            "read from broker errored, killing connection after 0 successful responses (is SASL missing?)",
            "BOOTSTRAP_DISCONNECTED",
        ),
        ("unable to initialize sasl", "AUTHENTICATION_FAILED"),
        ("received OFFSET_OUT_OF_RANGE, resetting to the nearest offset", "OFFSET_OUT_OF_RANGE"),
        ("UnreleasedInstanceID after 3 retries - static instance is held by another member", "STATIC_MEMBER_FENCED"),
        # kafka-go, Sarama, and librdkafka
        (
            "the kafka reader is reading before the first offset for partition 1 of g, skipping from offset 2 to 9",
            "OFFSET_OUT_OF_RANGE",
        ),
        ("Unable to establish connection to consumer group coordinator for group g: EOF", "COORDINATOR_UNAVAILABLE"),
        ("send failed: Broker: No matching listener", "NOT_LEADER"),
        ("kafka: broker not connected", "NETWORK_DISCONNECT"),
        ('Broker name "http://b-1:9092" parse error: unsupported protocol "HTTP"', "ADDRESS_MALFORMED"),
        ('Failed to retrieve OIDC token from "https://id.int": timeout (-1)', "AUTHENTICATION_FAILED"),
        ("DNS lookup failed for kb-1:9092 (AddressFamily.AF_UNSPEC)", "HOST_NOT_RESOLVED"),
        # ruby-kafka and Fluentd
        ("Failed to connect to kb-1:9092: Connection refused - connect(2) for 10.1.7.4:9092", "BROKERS_UNREACHED"),
        ("Could not connect to any of the seed brokers:", "BROKERS_UNREACHED"),
        ("Connection error while fetching messages: Connection error EOFError", "NETWORK_DISCONNECT"),
        ("Timed out while waiting for response 9", "TIMEOUT_OTHER"),
        ("Timed out while writing to t/2 on kb-1:9092 (node_id=1)", "TIMEOUT_OTHER"),
        ("Leader currently not available for t/2", "NOT_LEADER"),
        ("Broker kb-1:9092 (node_id=1) not currently leader for t/2", "NOT_LEADER"),
        ("Failed to find coordinator for group `g`; retrying...", "COORDINATOR_UNAVAILABLE"),
        ("Failed to join group; resetting member id and retrying in 1s...", "REBALANCE_TRIGGER"),
        ("Failed to send all messages to t/2; attempting retry 1 of 2 after 1s", "SEND_REPEATED"),
        ("Send exception occurred: Failed to send messages to t/2", "SEND_REPEATED"),
        ("DeliveryFailed occurred. Discard broken event: error=...", "RECORDS_DROPPED"),
        ("BufferOverflow occurred: Cannot produce to t, max buffer size (10 messages) reached", "PRODUCER_BUFFER_FULL"),
        ("Invalid offset 14 for t/2, resetting to default offset", "OFFSET_OUT_OF_RANGE"),
        ("client Gauges: payload connection down kb-1:9092", "NETWORK_DISCONNECT"),
        ("WakeupException limit exceeded, stopping.", "CONSUMER_ENDED"),
        ("Consumer interrupted with WakeupException after timeout. Message: null.", "TIMEOUT_OTHER"),
        (
            "Ignoring invalid task provided offset t-2/Offset{offset=1} -- partition not assigned",
            "SINK_OFFSETS_IGNORED",
        ),
        (
            "Fatal error: Local: Required feature not supported by broker: Idempotent producer not supported",
            "UNSUPPORTED_VERSION",
        ),
        # kafka-node and Sarama
        ('leaders are still missing for [{"topic":"t"}]', "NOT_LEADER"),
        ("Unable to find available brokers to try", "BROKERS_UNREACHED"),
        ("TimeoutError: Request timed out after 30000ms", "TIMEOUT_OTHER"),
        ("kafka: error decoding packet: CRC didn't match expected 0x1 got 0x2", "RESPONSE_UNREADABLE"),
        (
            "could not produce: kafka server: Request exceeded the user-specified time limit in the request",
            "TIMEOUT_SEND",
        ),
    ],
)
def test_lines_of_client_libraries(message: str, category: str) -> None:
    found = Classifier().classify(Record(0, 0, "", "INFO", "", "a.B", "", message, ""))
    assert found is not None
    assert found.category == category
