"""Everyday phrases, pasted output, and log excerpts: the right answer first, and no confidence without a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.services.find_runbooks import SURE, FoundRunbooks, find_runbooks
from eosctl.services.reference.symptoms import load_symptoms
from scripts.reference_quality.__main__ import Query, read_queries

EVERYDAY: Final = Path(__file__).parents[1] / "fixtures" / "runbooks" / "everyday.tsv"
UNSURE: Final = "?"
QUERIES: Final = read_queries(EVERYDAY)
DESCRIBED: Final = (
    "CoordinatorId\tTransactionalId\tProducerId\tProducerEpoch\tTransactionState\tTransactionTimeoutMs\t"
    "CurrentTransactionStartTimeMs\tTransactionDurationMs\tTopicPartitions\n"
    "2\tpay-7\t4000\t7\t{state}\t60000\t1795711531878\t{duration}\torders-0"
)


def is_right(query: Query, found: FoundRunbooks) -> bool:
    if query.right == {UNSURE}:
        return not (found.is_sure or found.refused)
    return (
        not found.refused and {match.entry.name for match in found.matches[:1]} <= query.right and bool(found.matches)
    )


def is_misleading(query: Query, found: FoundRunbooks) -> bool:
    return found.is_sure and not ({found.matches[0].entry.name} & (query.right | query.acceptable))


def test_everyday_phrases_lead_to_the_right_answer() -> None:
    found = {query.text: find_runbooks(query.text) for query in QUERIES}
    wrong = [query.text for query in QUERIES if not is_right(query, found[query.text])]
    misleading = [query.text for query in QUERIES if is_misleading(query, found[query.text])]
    assert len(wrong) <= 0.03 * len(QUERIES), wrong
    assert len(misleading) <= 0.01 * len(QUERIES), misleading


@pytest.mark.parametrize(
    ("state", "duration", "first", "is_sure"),
    [
        ("Ongoing", 1500, "kafka-transactions.sh", True),
        ("Ongoing", 550_000, "hanging-transaction", True),
        ("PrepareCommit", 40, "hanging-transaction", False),
        ("PrepareAbort", 90_000, "hanging-transaction", True),
    ],
)
def test_a_transaction_is_judged_by_its_age(state: str, duration: int, first: str, is_sure: bool) -> None:
    found = find_runbooks(DESCRIBED.format(state=state, duration=duration))
    assert (found.matches[0].entry.name, found.is_sure) == (first, is_sure)


def test_a_sign_that_a_healthy_cluster_shows_has_a_question() -> None:
    found = find_runbooks(
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG\nbilling orders 0 5 9005 9000 c1 h c\n"
    )
    assert (found.matches[0].entry.name, found.is_sure) == ("consumer-stuck", False)
    assert "CURRENT-OFFSET" in found.matches[0].decide


def test_two_symptoms_that_fit_equally_are_not_sure() -> None:
    found = find_runbooks("slow")
    first, second, *_ = found.matches
    assert first.score >= SURE
    assert first.score - second.score < 0.07
    assert not found.is_sure


def test_what_is_wrong_counts_more_than_its_circumstances() -> None:
    for text in ("commits are slow since the disk was full", "Since the disk was full, commits are slow"):
        assert find_runbooks(text).matches[0].entry.name == "commit-latency"
    assert find_runbooks("the disk is full while commits are slow").matches[0].entry.name == "disk-full"


def test_a_word_of_another_system_makes_an_answer_doubtful() -> None:
    assert find_runbooks("topics could not be created").is_sure
    assert not find_runbooks("the Spring bean could not be created").is_sure
    assert find_runbooks("the connector to postgres writes duplicates").is_sure


def test_every_symptom_has_the_question_that_decides() -> None:
    assert [one.runbook or one.entry for one in load_symptoms().symptom if not one.decide] == []


@pytest.mark.parametrize(
    ("text", "runbook"),
    [
        ("duplciate mesages", "duplicates-downstream"),
        ("consumer group rebalencing all the time", "rebalance-storm"),
        ("hanging transction", "hanging-transaction"),
        ("deserialisation error", "poison-message"),
    ],
)
def test_words_are_found_in_spite_of_typing_errors(text: str, runbook: str) -> None:
    assert find_runbooks(text).matches[0].entry.name == runbook


RECEIVES_NOTHING: Final = """\
my listener does not get any messages any more
downstream service is not getting any records
no new records come in at the consumer
our @KafkaListener never receives events
the subscriber has not received anything since this morning
service gets no messages although the producer writes
billing app stopped receiving orders
not a single event reaches the reporting service
streams app reads no input records
der Consumer erhält seit heute keine neuen Nachrichten
le consommateur ne reçoit plus de messages
el listener no recibe ningún registro
no llegan mensajes al consumidor
aucun message n'arrive chez le consommateur"""


@pytest.mark.parametrize("text", RECEIVES_NOTHING.splitlines())
def test_who_receives_nothing_is_a_consumer(text: str) -> None:
    assert find_runbooks(text).matches[0].entry.name == "consumer-stuck"


def test_a_topic_that_gets_nothing_is_not_a_consumer() -> None:
    assert find_runbooks("the output topic gets no records").matches[0].entry.name == "lost-records"


def test_a_fault_that_is_denied_is_not_a_symptom() -> None:
    assert not find_runbooks("No hanging transactions found").is_sure
    assert find_runbooks("no duplicates but messages are lost").matches[0].entry.name == "lost-records"
