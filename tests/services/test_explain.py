"""`explain` finds the names in typed or pasted text, and does not guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.reference import Certainty, EntryKind
from eosctl.services.explain import all_entries, explain
from eosctl.services.reference.next_steps import fill

NAMES = {
    "InitProducerId": EntryKind.API,
    "TXN_OFFSET_COMMIT": EntryKind.API,
    "KIP-447": EntryKind.KIP,
    "IN_TRANSACTION": EntryKind.STATE,
    "in-sync replicas": EntryKind.CONCEPT,
    "DelayedFetch": EntryKind.CONCEPT,
    "NotLeaderForPartitionException": EntryKind.EXCEPTION,
    "_FENCED": EntryKind.ERROR,
    "transaction.timeout.ms": EntryKind.SETTING,
    "queue.buffering.max.messages": EntryKind.SETTING,
    "PartitionsWithLateTransactionsCount": EntryKind.METRIC,
    "TransactionTimeoutRate": EntryKind.METRIC,
    "EOS-TXN-001": EntryKind.CHECK,
    "hanging-transaction": EntryKind.RUNBOOK,
    "transaction-log-not-durable": EntryKind.CHECK,
    "KAFKA-17507": EntryKind.BUG,
    "TXN_TIMEOUT_ABORT": EntryKind.LOG_CATEGORY,
    "metadata.version": EntryKind.FEATURE,
    "__transaction_state-49": EntryKind.FILE,
    "00000000000000000000.txnindex": EntryKind.FILE,
    "时间轮": EntryKind.CONCEPT,
    "what is the leader epoch?": EntryKind.CONCEPT,
    "事务协调器是什么": EntryKind.CONCEPT,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_answered_with_certainty(name: str) -> None:
    first = explain(name).explanations[0]
    assert (first.certainty, first.entry.kind) == (Certainty.EXACT, NAMES[name])
    assert first.entry.means


_ROLLED_BACK = (
    "[2026-01-02 03:04:05,678] INFO [TransactionCoordinator id=1] Completed rollback of ongoing transaction for "
    "transactionalId pay-7 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)"
)
_NESTED = """KafkaException: Cannot execute transactional method because we are in an error state
Caused by: org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted to use a producer id"""
_KAFKAJS = """KafkaJSProtocolError: The producer attempted to update a transaction while another concurrent operation on
the same transaction was ongoing"""
_OLD_EPOCH = "kafka server: Producer attempted an operation with an old epoch"
_POLL = 'KafkaError{code=_MAX_POLL_EXCEEDED,val=-147,str="Application maximum poll interval exceeded"}'
TERMS = (Path(__file__).parents[1] / "fixtures" / "reference" / "terms.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("term", TERMS)
def test_each_term_of_the_field_is_explained_or_corrected(term: str) -> None:
    assert explain(term).explanations[0].certainty is Certainty.EXACT


PASTED = (
    ("org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer", "ProducerFencedException"),
    (_NESTED, "InvalidPidMappingException"),
    ("Local: This instance has been fenced by a newer instance", "_FENCED"),
    ("Broker: Producer attempted a transactional operation in an invalid state", "INVALID_TXN_STATE"),
    (_KAFKAJS, "CONCURRENT_TRANSACTIONS"),
    (_OLD_EPOCH, "INVALID_PRODUCER_EPOCH"),
    ("INVALID_PRODUCER_ID_MAPPING: The producer attempted to use a producer id", "INVALID_PRODUCER_ID_MAPPING"),
    ("[51] Concurrent Transactions: the producer attempted", "CONCURRENT_TRANSACTIONS"),
    ("kafka.errors.OutOfOrderSequenceNumberError: [Error 45]", "OUT_OF_ORDER_SEQUENCE_NUMBER"),
    (_POLL, "_MAX_POLL_EXCEEDED"),
    ("tx::errc::invalid_txn_state", "INVALID_TXN_STATE"),
    (_ROLLED_BACK, "TXN_TIMEOUT_ABORT"),
)


@pytest.mark.parametrize(("text", "name"), PASTED)
def test_a_pasted_text_leads_to_its_error(text: str, name: str) -> None:
    assert explain(text).explanations[0].entry.name == name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("isolation.level=read_committed", ["isolation.level", "read_committed"]),
        ("transaction.timeout.ms: 900000", ["transaction.timeout.ms"]),
        ("transaction.version 2", ["transaction.version"]),
        ("47 51", ["INVALID_PRODUCER_EPOCH", "CONCURRENT_TRANSACTIONS"]),
    ],
)
def test_a_value_is_not_taken_for_an_error_code(text: str, names: list[str]) -> None:
    assert [one.entry.name for one in explain(text).explanations] == names


@pytest.mark.parametrize(
    ("text", "api", "fact"),
    [
        ("EndTxn v5", "EndTxn", "served by Kafka 4.0 to"),
        ("InitProducerIdRequest (version 3)", "InitProducerId", "producer_epoch"),
        ("api key 24", "AddPartitionsToTxn", ""),
        ("apiKey=ADD_PARTITIONS_TO_TXN, apiVersion=4, clientId=c", "AddPartitionsToTxn", "transactional_id"),
        ("Fetch version 99", "Fetch", "stable in no release that is known"),
    ],
)
def test_a_request_is_explained_in_the_version_asked(text: str, api: str, fact: str) -> None:
    first = explain(text).explanations[0].entry
    assert first.name == api
    assert fact in first.facts[0].text


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("runbook hanging-transaction", EntryKind.RUNBOOK, "hanging-transaction"),
        ("PrepareCommit state", EntryKind.STATE, "PrepareCommit"),
        ("DescribeTransactions API", EntryKind.API, "DescribeTransactions"),
        ("log category PRODUCER_FENCED", EntryKind.LOG_CATEGORY, "PRODUCER_FENCED"),
    ],
)
def test_the_kind_next_to_a_name_selects_the_entry(text: str, kind: EntryKind, name: str) -> None:
    first = explain(text).explanations[0].entry
    assert (first.kind, first.name) == (kind, name)


@pytest.mark.parametrize("text", ["KIP-1", "KAFKA-99999", "librdkafka #1", "orders 3", "status"])
def test_neither_an_unknown_id_nor_one_word_of_a_name_is_enough(text: str) -> None:
    assert explain(text).explanations == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Confluent.Kafka.KafkaException: Broker: Invalid producer epoch", "INVALID_PRODUCER_EPOCH"),
        ("write errors (1/1), [19] Not Enough Replicas: returned from a request", "NOT_ENOUGH_REPLICAS"),
        ("Confluent.Kafka.KafkaTxnRequiresAbortException: timed out", "TransactionAbortableException"),
        ("Kafka answered PRODUCER_FENCED.", "PRODUCER_FENCED"),
        ("org.apache.kafka.common.KafkaException: x because of KIP 939 two phase commit", "KIP-939"),
    ],
)
def test_a_wrapper_says_less_than_what_it_wraps(text: str, name: str) -> None:
    assert explain(text).explanations[0].entry.name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "Topic: __transaction_state\tPartitionCount: 50\tReplicationFactor: 1\tConfigs: cleanup.policy=compact",
            "transaction-log-under-replicated",
        ),
        (
            "Feature: transaction.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 2\tFinalizedVersionLevel: 2",
            "kafka-features.sh",
        ),
        ("producerId: 5 producerEpoch: 3 coordinatorEpoch: 7 currentTxnFirstOffset: 88", "kafka-dump-log.sh"),
        ("| offset: 8 headerKeys: [] endTxnMarker: ABORT coordinatorEpoch: 7", "kafka-dump-log.sh"),
    ],
)
def test_what_a_tool_printed_is_not_explained_by_its_columns(text: str, name: str) -> None:
    assert explain(text).explanations[0].entry.name == name


def test_the_ids_of_a_text_are_in_the_next_commands() -> None:
    found = explain("ProducerFencedException, transactional.id=pay-7")
    assert found.pasted.values["transactional_id"] == "pay-7"
    assert "eosctl txn blame pay-7" in found.explanations[0].entry.next_steps
    assert fill("x GROUP {group} TOPIC-PARTITION", {"group": "a;b"}) == "x 'a;b' 'a;b' TOPIC-PARTITION"


@pytest.mark.parametrize("text", ["xylophone", "PRODUCR_FENCD", "the weather in Paris", "", "   ", "无线电台"])
def test_a_question_without_a_match_is_not_answered(text: str) -> None:
    assert explain(text).explanations == ()


def test_the_nearest_names_are_offered() -> None:
    assert "PRODUCER_FENCED" in explain("PRODUCR_FENCD").nearest
    assert "transaction.timeout.ms" in explain("transacton.timeout.ms").nearest


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("[Producer transactionalId=app-3] ConcurrentTransactionsException", "eosctl txn describe app-3"),
        (
            "OutOfOrderSequenceException for producer 4001 at offset 9 in partition orders-3",
            "eosctl txn producers --topic orders --partition 3 --producer-id 4001",
        ),
        ("UnknownMemberIdException: [Consumer groupId=billing 2]", "eosctl group lag billing"),
    ],
)
def test_an_answer_ends_with_commands_about_the_ids(text: str, step: str) -> None:
    assert step in explain(text).explanations[0].entry.next_steps


def test_a_record_has_its_category_without_patterns() -> None:
    asked = "Preparing to rebalance group g in state PreparingRebalance with old generation 4"
    (first, *_) = explain(asked).explanations
    assert (first.entry.kind, first.entry.name) == (EntryKind.LOG_CATEGORY, "REBALANCE_TRIGGER")
    assert {fact.label for fact in first.entry.facts} == {"severity", "unless"}
    (named,) = explain("REBALANCE_TRIGGER").explanations
    assert "pattern" in {fact.label for fact in named.entry.facts}


@pytest.mark.parametrize(
    "message",
    ["Timeout expired after 60000ms while awaiting InitProducerId", "Expiring 12 record(s) for orders-3:120000 ms"],
)
def test_a_timeout_is_explained_by_its_call(message: str) -> None:
    found = explain(f"org.apache.kafka.common.errors.TimeoutException: {message}").explanations
    assert found[0].entry.name == "TimeoutException"
    assert {one.entry.name for one in found} & {"TIMEOUT_INIT_PID", "TIMEOUT_SEND"}


def test_a_wrapper_has_no_facts_of_one_possible_cause() -> None:
    (flink,) = (entry for entry in all_entries() if entry.name == "FlinkKafkaException")
    assert (flink.raised, flink.clients) == ("", ())
