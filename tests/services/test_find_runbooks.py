"""Symptoms, stack traces, and printed output lead to the right runbook, and only dangerous requests are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import UsageError
from eosctl.knowledge.reference.index import entry_named, load_index
from eosctl.model.reference import EntryKind
from eosctl.services.callbacks import SILENT
from eosctl.services.find_runbooks import find_runbooks, read_symptom, runbook_command
from eosctl.services.log_categories import log_categories
from eosctl.services.reference.chinese import translated
from eosctl.services.reference.outputs import load_outputs
from eosctl.services.reference.symptoms import load_symptoms
from eosctl.services.reference.text_index import TextIndex
from scripts.reference_quality.__main__ import ask, judge, read_queries

DESCRIBED = """Topic: orders\tTopicId: Zk3vT9w\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: {values}
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3
\tTopic: orders\tPartition: 1\tLeader: {leader}\tReplicas: 1,2,3\tIsr: {isr}
"""
HARMFUL = "min.insync.replicas=1,cleanup.policy=delete,unclean.leader.election.enable=true"


@pytest.mark.parametrize(
    ("leader", "isr", "leads_to"),
    [("none", "1", "min-isr-lost"), ("2", "2,3", "min-isr-lost"), ("2", "2,3,1", "EOS-CFG-037")],
)
def test_described_topics_are_symptoms_and_not_requests(leader: str, isr: str, leads_to: str) -> None:
    found = find_runbooks(DESCRIBED.format(leader=leader, isr=isr, values=HARMFUL))
    assert (found.refused, found.cautions) == ((), ())
    assert found.matches[0].entry.name == leads_to


def test_only_settings_without_a_fault_are_called_clean() -> None:
    described = DESCRIBED.format(leader="2", isr="2,3,1", values="min.insync.replicas=2,cleanup.policy=delete")
    (clean,) = find_runbooks(described).matches
    assert (clean.entry.name, clean.reason.endswith("no known sign finds a fault in it")) == ("kafka-topics.sh", True)
    header = (
        "Topic: orders\tTopicId: Zk3vT9w\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: min.insync.replicas=2\n"
    )
    faulty = find_runbooks(header).matches
    assert faulty[0].entry.name == "EOS-CFG-034"
    assert not any("no known sign" in match.reason for match in faulty)


def test_a_line_of_a_log_is_not_a_request() -> None:
    line = (
        "The size of the current ISR Set(1) is insufficient to satisfy the min.isr requirement of 2 for partition t-3"
    )
    assert find_runbooks(line).refused == ()
    assert find_runbooks("set min.isr to 1 on __transaction_state").refused


@pytest.mark.parametrize(
    ("text", "runbook"),
    [
        ("transactions get stuck since this morning", "hanging-transaction"),
        ("our readers see nothing new", "consumer-stuck"),
        ("events went missing", "lost-records"),
        ("every record arrives two times", "duplicates-downstream"),
        ("消费者一直重平衡", "rebalance-storm"),
        ("事务超时", "transaction-timeout"),
        ("org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted", "invalid-producer-epoch"),
        ("KafkaException: x\nCaused by: org.apache.kafka.common.errors.ProducerFencedException", "producer-fenced"),
        ("error code 15 while committing", "coordinator-not-available"),
        ("EOS-TXN-001", "hanging-transaction"),
    ],
)
def test_everyday_words_and_pasted_text_lead_to_a_runbook(text: str, runbook: str) -> None:
    found = find_runbooks(text)
    assert found.is_sure
    assert found.matches[0].entry.name == runbook
    assert found.matches[0].reason


def test_a_question_about_a_word_is_answered_with_the_word() -> None:
    assert find_runbooks("what is the leader epoch").matches[0].entry.name == "leader epoch"


def test_a_weak_match_is_not_called_sure() -> None:
    assert not find_runbooks("data").is_sure
    assert not find_runbooks("数据不一致").is_sure
    assert not find_runbooks("the printer on the second floor is slow again").is_sure
    assert find_runbooks("xylophone").matches == ()


@pytest.mark.parametrize(
    "text",
    [
        "Streams with exactly_once_v2: the foreach() also inserts into Postgres, after a crash some rows are twice",
        "exactly-once is on, yet the listener posts to the billing REST API again after each rebalance",
        "our transactional consumer sends an email per order; after a restart customers get the email twice",
    ],
)
def test_calls_outside_kafka_are_not_covered_by_transactions(text: str) -> None:
    found = find_runbooks(text)
    assert (found.is_sure, found.matches[0].entry.name) == (True, "side effect outside the transaction")
    assert "upsert" in found.matches[0].decide


def test_readers_of_aborted_records_are_not_side_effects() -> None:
    text = "a handler of the default consumer inserts rows twice: it reads records of rolled back transactions again"
    assert find_runbooks(text).matches[0].entry.name == "duplicates-downstream"


UNCLEAN = """before: "UNCLEAN partition change for fares-11 with topic ID Xk2a9wq0S0i0v4l7Yb1ZrQ: \
isr: [2] -> [4], leader: 2 -> 4, leaderEpoch: 19 -> 20, partitionEpoch: 61 -> 62"
"""
SEQUENCE = """[2024-11-28 04:40:19,906] ERROR [ReplicaManager broker=4] Error processing append operation on \
partition fares-11 (kafka.server.ReplicaManager)
org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer 77 at \
offset 22 in partition fares-11: 51 (incoming seq. number), 50 (current end sequence number)
"""
FEW_BROKERS = """org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting \
InitProducerId
[2024-11-28 20:11:36,701] ERROR [KafkaApi-1] Number of alive brokers '1' does not meet the required replication \
factor '3' for the transactions state topic (configured via 'transaction.state.log.replication.factor'). This error \
can be ignored if the cluster is starting up and not all brokers are up yet. (kafka.server.AutoTopicCreationManager)
"""


@pytest.mark.parametrize(
    ("text", "first", "advice"),
    [
        (SEQUENCE + UNCLEAN, "lost-records", "Compare the acknowledged offsets"),
        (SEQUENCE, "invalid-producer-epoch", "which request raised the epoch"),
        (FEW_BROKERS, "logs/internal_topic_not_created", "transaction.state.log.min.isr=1"),
    ],
)
def test_what_log_records_show_goes_before_their_words(text: str, first: str, advice: str) -> None:
    found = find_runbooks(text)
    assert (found.is_sure, found.matches[0].entry.name) == (True, first)
    assert advice in found.matches[0].decide


def test_an_error_with_its_own_question_stays_first() -> None:
    text = (
        "org.apache.kafka.common.KafkaException: Unexpected error in InitProducerIdResponse; The transaction timeout "
        "is larger than the maximum value allowed by the broker (as configured by transaction.max.timeout.ms)."
    )
    names = [match.entry.name for match in find_runbooks(text).matches]
    assert names[0] == "INVALID_TRANSACTION_TIMEOUT"
    assert "logs/invalid_transaction_timeout" in names


FENCED = "commit failed, fenced: There is a newer producer with the same transactionalId which fences the current one"


@pytest.mark.parametrize(
    ("text", "first", "advice"),
    [
        (f"one instance, begin_transaction, then the model took 97.5 s: {FENCED}", "transaction-timeout", "60 s"),
        (
            f"only one pod, transaction.timeout.ms=60000, a batch takes 3 minutes: {FENCED}",
            "transaction-timeout",
            "60 s",
        ),
        (f"one instance, transaction.timeout.ms=900000, a batch took 97 s: {FENCED}", "producer-fenced", "blame"),
        (f"three pods, each batch takes 3 minutes: {FENCED}", "producer-fenced", "blame"),
        (
            "KafkaTxnRequiresAbortException: Failed to commit offsets: Specified group generation id is not valid",
            "ILLEGAL_GENERATION",
            "abort",
        ),
        (
            "kafkajs: The coordinator is not aware of this member, re-joining the group. eachBatch resizes 300 images",
            "rebalance-storm",
            "heartbeat()",
        ),
        (
            "sarama: attempted to update a transaction while another concurrent operation on the same transaction",
            "CONCURRENT_TRANSACTIONS",
            "backoff",
        ),
        (
            "transactional.id has the pod's random hash; after each restart readers wait for an open transaction",
            "lingering transaction",
            "ordinal",
        ),
    ],
)
def test_what_decides_fits_the_client_and_the_evidence(text: str, first: str, advice: str) -> None:
    found = find_runbooks(text)
    assert found.matches[0].entry.name == first
    assert advice in found.matches[0].decide


def test_one_word_of_a_long_text_is_not_called_sure() -> None:
    text = "Everything in the pipeline looks fine to all of us since the holidays and we ask one thing. Is v2 bad?"
    assert not find_runbooks(text).is_sure
    assert find_runbooks("switch on transaction protocol v2").is_sure


def test_ids_of_the_text_are_in_the_command() -> None:
    match = find_runbooks("fenced: transactional.id=pay-7 timed out, transaction timeout").matches[0]
    assert "transactional_id=pay-7" in match.entry.next_steps[0]
    assert runbook_command("consumer-stuck") == "eosctl runbook run consumer-stuck -i group=GROUP"
    assert runbook_command("") == ""


def test_weak_matches_are_omitted_next_to_destructive_ones() -> None:
    found = find_runbooks("delete the offsets topic so consumers start clean")
    assert found.refused
    assert all(match.score >= 0.55 for match in found.matches)


def test_a_file_is_read_and_words_stay_words(tmp_path: Path) -> None:
    file = tmp_path / "describe.txt"
    file.write_text(DESCRIBED.format(leader="none", isr="1", values="x=y"), "utf-8")
    assert read_symptom([str(file)]).startswith("Topic: orders")
    assert read_symptom(["lost", "messages"]) == "lost messages"
    file.chmod(0)
    if not _is_readable(file):
        with pytest.raises(UsageError):
            read_symptom([str(file)])


def test_the_end_of_a_long_text_counts_and_the_rest_is_named(tmp_path: Path) -> None:
    lines = (f"2026-11-01 10:00:00,{n % 1000:03d} INFO [app] handled batch {n} (com.acme.Runner)" for n in range(2_000))
    text = "\n".join((*lines, "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer"))
    found = find_runbooks(text)
    assert (found.is_sure, found.matches[0].entry.name) == (True, "producer-fenced")
    file = tmp_path / "app.log"
    remarks: list[str] = []
    callbacks = SILENT._replace(remark=remarks.append)
    for times, words in ((1, []), (10, [f"note: only the first MiB of {file} was read"])):
        file.write_text(text * times, "utf-8")
        assert read_symptom([str(file)], callbacks).startswith("2026-11-01")
        assert [remark.partition(";")[0] for remark in remarks] == words


def _is_readable(file: Path) -> bool:
    try:
        file.read_bytes()
    except PermissionError:
        return False
    return True


def test_synonyms_and_inflections_have_one_meaning() -> None:
    index = TextIndex(["lost records", "duplicate records", "a broker is down"])
    (hit, *_) = index.search("messages went missing")
    assert (hit.at, hit.score) == (0, 1.0)
    assert index.search("node offline")[0].at == 2
    assert index.search("giraffe") == ()


def test_the_data_of_symptoms_and_outputs_names_what_exists() -> None:
    runbooks = {entry.name for entry in load_index() if entry.kind is EntryKind.RUNBOOK}
    categories = {category.id for category in log_categories()}
    data = load_symptoms()
    assert set(data.categories) <= categories
    assert set(data.categories.values()) <= runbooks
    assert {one.runbook for one in data.symptom if one.runbook} == runbooks
    assert all(one.runbook or entry_named(one.entry) for one in data.symptom)
    signs = [sign for output in load_outputs() for sign in output.sign]
    assert {sign.runbook for sign in signs if sign.runbook} <= runbooks
    assert all(sign.runbook or entry_named(sign.entry) for sign in signs)
    assert all(entry_named(output.tool) for output in load_outputs())


def test_chinese_terms_become_english_ones() -> None:
    assert translated("事务协调器") == "transaction coordinator"
    assert translated("plain text") == "plain text"


def test_the_reference_answers_the_graded_questions() -> None:
    outcomes = [judge(query, ask(query)) for query in read_queries()]
    first = sum(one.rank == 1 for one in outcomes) / len(outcomes)
    assert first >= 0.95, [one.query.text for one in outcomes if one.rank != 1]
    assert sum(one.is_near for one in outcomes) / len(outcomes) >= 0.97
    assert sum(one.is_wrong_with_confidence for one in outcomes) / len(outcomes) <= 0.01
