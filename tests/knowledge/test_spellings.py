"""Names are found in the spellings of clients, programs, containers, and frameworks."""

from __future__ import annotations

import pytest

from eosctl.knowledge.reference.index import find_entries


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("ERR__FENCED", "_FENCED"),
        ("CODES.ERRORS.ERR__FENCED", "_FENCED"),
        ("RdKafka::ERR__MAX_POLL_EXCEEDED", "_MAX_POLL_EXCEEDED"),
        ("ErrorCode.Local_MaxPollExceeded", "_MAX_POLL_EXCEEDED"),
        ("kafka.ErrFenced", "_FENCED"),
        ("kgo.ErrProducerFenced", "PRODUCER_FENCED"),
        ("RDKafkaErrorCode::Fenced", "_FENCED"),
        ("ERR_INVALID_TXN_STATE", "INVALID_TXN_STATE"),
        ("cluster::tx_errc::fenced", "INVALID_PRODUCER_EPOCH"),
        ("tx::errc::fenced", "INVALID_PRODUCER_EPOCH"),
    ],
)
def test_errors_are_found_as_clients_spell_them(word: str, name: str) -> None:
    assert find_entries(word)[0].name == name


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("ProducerConfig.TRANSACTION_TIMEOUT_CONFIG", "transaction.timeout.ms"),
        ("TRANSACTION_TIMEOUT_MS_CONFIG", "transaction.timeout.ms"),
        ("TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG", "min.insync.replicas"),
        ("KAFKA_TRANSACTION_STATE_LOG_MIN_ISR", "transaction.state.log.min.isr"),
        ("KAFKA_CFG_TRANSACTION_STATE_LOG_MIN_ISR", "transaction.state.log.min.isr"),
        ("CONNECT_EXACTLY_ONCE_SOURCE_SUPPORT", "exactly.once.source.support"),
        ("CONNECT_PRODUCER_TRANSACTION_TIMEOUT_MS", "transaction.timeout.ms"),
        ("producer.override.transaction.timeout.ms", "transaction.timeout.ms"),
        ("spring.kafka.properties.isolation.level", "isolation.level"),
        ("mp.messaging.outgoing.orders.acks", "acks"),
        ("quarkus.kafka-streams.processing-guarantee", "processing.guarantee"),
    ],
)
def test_settings_are_found_as_programs_spell_them(word: str, name: str) -> None:
    assert find_entries(word)[0].name == name


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("/data/orders-12.a81b0c7f4c2d4d6e9f1b2c3d4e5f6071-delete", "delete directory"),
        ("orders-3-future", "future directory"),
        ("00000000000000000123-0000000001.checkpoint", "metadata snapshot"),
        ("app-KSTREAM-AGGREGATE-STATE-STORE-0000000007-changelog", "changelog"),
        ("__consumer_offsets partition 12", "__consumer_offsets"),
        ("site-connect-offsets", "connect-offsets"),
        ("hanging transactions", "hanging transaction"),
    ],
)
def test_files_topics_and_plurals_are_found_by_their_shape(word: str, name: str) -> None:
    assert find_entries(word)[0].name == name


@pytest.mark.parametrize("word", ["KAFKA_HOME", "com.acme.billing.transaction", "a.b.retries", "ErrNothingAtAll"])
def test_other_words_of_the_same_shape_name_nothing(word: str) -> None:
    assert find_entries(word) == ()
