"""Effects of a fault are a part of its incident, and faults of other producers, groups, and coordinators stay apart."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.logs.incidents.joining.relations import RELATIONS, Link
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from tests.logs.judging import judge

NAMES = st.from_regex(r"[a-z]{3,8}-tx-[0-9]", fullmatch=True)
BROKER = "[2026-05-11 {}] {} [{} {}] {} (kafka.server.X)\n"
TOO_FEW = (
    "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR : 1 is insufficient to "
    "satisfy the min.isr requirement of 2 for partition {0}, live replica(s) broker.id are : Set({1})\n"
)
FOUND = (
    "2026-05-11 09:12:01,000 INFO [main] o.a.k.c.p.i.TransactionManager : [Producer clientId=p, transactionalId={0}] "
    "Discovered transaction coordinator kb-{1}:9092 (id: {1} rack: null)\n"
)
TIMED_OUT = (
    "2026-05-11 09:13:02,010 ERROR [main] com.example.Boot : [Producer clientId=p, transactionalId={0}] failed\n"
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting InitProducerId\n"
)
UNKNOWN = (
    "org.apache.kafka.common.KafkaException: Unexpected error in {}Response: The server experienced an unexpected "
    "error when processing the request."
)
FATAL = (
    "2026-05-11 09:12:30,100 INFO [net] o.a.k.c.p.i.TransactionManager : [Producer clientId={0}, transactionalId={0}] "
    "Transiting to fatal error state due to {1}\n"
)
ABORT = (
    "2026-05-11 09:{2}:30,200 WARN [main] com.example.Tx : [Producer clientId={0}, transactionalId={0}] Error aborting "
    "the transaction\norg.apache.kafka.common.KafkaException: Cannot execute transactional method because we are in an "
    "error state\nCaused by: {1}\n"
)

FATAL_STATES = {
    "acl": "TransactionalIdAuthorizationException: Transactional Id authorization failed.",
    "fenced": "ProducerFencedException: There is a newer producer with the same transactionalId.",
    "expired": "InvalidPidMappingException: The producer attempted to use a producer id which is not currently "
    "assigned to its transactional id.",
    "gap": "OutOfOrderSequenceException: The broker received an out of order sequence number.",
    "version": "UnsupportedVersionException: Attempted to write a non-default producerId",
}


def refusals(node: int, name: str, partition: str = "__transaction_state-7") -> str:
    text = BROKER.format("09:11:50,000", "INFO", "KafkaRaftServer", f"nodeId={node}", "Kafka Server started")
    for second in range(2, 26, 8):
        at = f"09:12:{second:02},110"
        refused = f"Error processing append operation on partition {partition}"
        text += BROKER.format(at, "ERROR", "ReplicaManager", f"broker={node}", refused)
        text += TOO_FEW.format(partition, node)
        answer = f"Returning COORDINATOR_NOT_AVAILABLE error code to client for {name}'s InitProducerId request"
        text += BROKER.format(at, "INFO", "TransactionCoordinator", f"id={node}", answer)
    return text


def serious(files: dict[str, str]) -> Sequence[Incident]:
    with tempfile.TemporaryDirectory() as folder:
        return [one for one in judge(Path(folder), files) if one.severity.at_least(Severity.ERROR)]


def ids_of(one: Incident) -> str:
    return str(one.subject.get("transactional.id", ""))


def names_of(one: Incident) -> Sequence[str]:
    return (ids_of(one), *one.subject.get("transactional.ids", ()))


@given(NAMES, st.integers(1, 9))
@settings(max_examples=4, deadline=None)
def test_a_producer_waits_for_its_coordinator(name: str, node: int) -> None:
    client = FOUND.format(name, node) + TIMED_OUT.format(name)
    (one,) = serious({"broker.log": refusals(node, name), "app.log": client})
    assert (one.kind, ids_of(one)) == ("not_enough_replicas", name)
    assert {Path(place.file).name for place in one.evidence} == {"broker.log", "app.log"}


@given(NAMES, NAMES, st.integers(1, 9), st.integers(1, 9))
@settings(max_examples=4, deadline=None)
def test_another_coordinators_producer_stays_apart(name: str, other: str, node: int, elsewhere: int) -> None:
    if name == other or node == elsewhere:
        return
    client = FOUND.format(other, elsewhere) + TIMED_OUT.format(other)
    both = serious({"broker.log": refusals(node, name), "app.log": client})
    (alone,) = serious({"app.log": client})
    assert {(one.kind, ids_of(one)) for one in both} == {("not_enough_replicas", name), (alone.kind, other)}


@given(NAMES, st.sampled_from(["AddOffsetsToTxn", "TxnOffsetCommit", "AddPartitionsToTxn"]))
@settings(max_examples=4, deadline=None)
def test_an_error_in_the_words_of_a_fault_is_its_effect(name: str, request: str) -> None:
    words = UNKNOWN.format(request)
    (one,) = serious({"app.log": FATAL.format(name, words) + ABORT.format(name, words, 12)})
    assert (one.kind, ids_of(one)) == ("request_failed", name)
    assert len(one.evidence) == 2


@given(NAMES, NAMES)
@settings(max_examples=4, deadline=None)
def test_the_same_words_of_another_producer_stay_apart(name: str, other: str) -> None:
    words = UNKNOWN.format("AddOffsetsToTxn")
    both = serious({"a.log": FATAL.format(name, words), "b.log": ABORT.format(other, words, 12)})
    assert {ids_of(one) for one in both} == {name, other}


def faults_of(name: str) -> dict[str, str]:
    """Return the logs of faults of one producer, all in the same minute."""
    client = (FOUND.format(name, 4) + TIMED_OUT.format(name)).replace("clientId=p", f"clientId={name}")
    words = UNKNOWN.format("AddOffsetsToTxn")
    states = {kind: FATAL.format(name, f"org.apache.kafka.common.errors.{text}") for kind, text in FATAL_STATES.items()}
    failed = FATAL.format(name, words) + ABORT.format(name, words, 12)
    return {**states, "init": client, "shortage": refusals(1, name), "failed": failed}


@given(st.sampled_from(sorted(faults_of("a"))), st.sampled_from(sorted(faults_of("a"))), st.booleans())
@settings(max_examples=30, deadline=None)
def test_another_producers_fault_hides_nothing(mine: str, other: str, is_first: bool) -> None:
    logs = {"b.log" if is_first else "a.log": faults_of("left-tx-1")[mine]}
    (alone,) = serious(logs)
    both = serious({**logs, "a.log" if is_first else "b.log": faults_of("right-tx-2")[other]})
    assert any(one.kind == alone.kind and "left-tx-1" in names_of(one) for one in both)


@pytest.mark.parametrize(("minute", "count"), [(12, 1), (20, 2)])
def test_late_words_are_another_fault(minute: int, count: int) -> None:
    words = UNKNOWN.format("AddOffsetsToTxn")
    assert len(serious({"a.log": FATAL.format("till-1", words) + ABORT.format("till-1", words, minute)})) == count


def test_no_relation_explains_a_fault_of_a_partition() -> None:
    of_coordinators = [relation for relation in RELATIONS if relation.link is not Link.WORDS]
    assert all(relation.effects.isdisjoint(relation.causes) for relation in of_coordinators)
    assert all(relation.within_ms > 0 and "{at}" in relation.sentence for relation in RELATIONS)
