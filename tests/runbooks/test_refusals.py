"""Procedures that destroy data are recognized by meaning, in English and Chinese, in any word order."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import ProcedureRefused
from eosctl.model.reference import EntryKind
from eosctl.runbooks.refused import REFUSED, Mood, find_refused, recognize
from eosctl.services.explain import answer
from tests.commands.conftest import eosctl

PHRASES = [
    line.split("\t")
    for line in (Path(__file__).parents[1] / "fixtures" / "runbooks" / "phrases.tsv").read_text("utf-8").splitlines()
]


def is_answered(answer: str, text: str) -> bool:
    moods = {found.mood for found in recognize(text)}
    is_caution = bool(moods & {Mood.ASKED, Mood.WARNED}) and Mood.ORDERED not in moods
    return (Mood.ORDERED in moods) == (answer == "refuse") and is_caution >= (answer == "caution")


@pytest.mark.parametrize("answer", sorted({answer for answer, _ in PHRASES}))
def test_a_phrase_is_refused_explained_or_left_alone(answer: str) -> None:
    assert [text for wanted, text in PHRASES if wanted == answer and not is_answered(answer, text)] == []


@pytest.mark.parametrize("text", [text for answer, text in PHRASES if answer == "refuse" and text.isascii()][:60])
def test_quotes_capitals_and_line_breaks_change_nothing(text: str) -> None:
    for changed in (
        text.upper(),
        text.replace(" ", "\n "),
        text.replace("__transaction_state", "`__transaction_state`"),
    ):
        assert [found.name for found in find_refused(changed)] == [found.name for found in find_refused(text)]


DESCRIBED = """\
Topic: __transaction_state\tTopicId: Zk3vT9wBQhS1nXyLr0uPdA\tPartitionCount: 50\tReplicationFactor: 1\tConfigs: \
min.insync.replicas=1,unclean.leader.election.enable=true
\tTopic: __transaction_state\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1
"""
CONFIGS = """\
Dynamic configs for topic orders are:
  unclean.leader.election.enable=true sensitive=false synonyms={unclean.leader.election.enable=true}
"""
RULES = """\
Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=__transaction_state, patternType=LITERAL)`:
 \t(principal=User:app, host=*, operation=ALL, permissionType=ALLOW)
"""
NAMES = {
    "rm -rf /var/kafka/__transaction_state-*": "delete __transaction_state",
    "rm -rf /var/kafka/__consumer_offsets-*": "delete __consumer_offsets",
    "rm -rf /var/lib/streams/app/0_1/*": "empty task directories by a glob",
    "重建内部主题 __consumer_offsets": "delete __consumer_offsets",
    "重建内部主题": "delete __transaction_state",
    "echo > /data/orders-0/00000000000000000000.log": "delete or overwrite segment files",
    "echo > /data/__consumer_offsets-0/00000000000000000000.log": "delete __consumer_offsets",
    "write tombstones to the offsets topic": "write records to __transaction_state or __consumer_offsets",
    "kafka-storage format all brokers to clear transactions": "format the storage of brokers to clear state",
}
LOGGED = "[2026-11-21 09:00:00,000] INFO Deleting topics: delete __transaction_state (kafka.log.LogManager)\n"
PROPERTIES = "broker.id=1\nunclean.leader.election.enable=true\nmin.insync.replicas=1\n"


@pytest.mark.parametrize(("text", "name"), NAMES.items())
def test_a_refusal_is_about_the_named_object(text: str, name: str) -> None:
    assert [found.name for found in find_refused(text)] == [name]


@pytest.mark.parametrize("printed", [DESCRIBED, CONFIGS, RULES, LOGGED, PROPERTIES])
def test_output_of_tools_and_logs_is_not_a_request(printed: str) -> None:
    assert find_refused(printed) == ()
    assert [found.name for found in find_refused(f"{printed}\ndelete __transaction_state")] == [
        "delete __transaction_state"
    ]


def test_a_question_gets_the_safe_way_without_being_refused() -> None:
    done = eosctl("diagnose", "is it safe to delete __transaction_state?", "-o", "json")
    (first, *_) = done.json["items"]
    assert (done.code, first["refused"], first["title"]) == (0, False, "CAUTION: delete __transaction_state")
    assert first["why"]
    assert first["instead"]
    assert "because" in eosctl("diagnose", "is it safe to delete __transaction_state?").out


def test_reasons_are_shown_in_one_piece() -> None:
    assert not any("\n" in text for one in REFUSED for text in (one.why, one.instead))
    assert "\\x0a" not in eosctl("diagnose", "delete __transaction_state").out


def test_explain_refuses_as_well() -> None:
    done = eosctl("explain", "wipe", "__transaction_state")
    assert done.code == 3
    assert "REFUSED: delete __transaction_state" in done.err
    assert eosctl("explain", "__transaction_state").code != 3


def test_explain_refuses_what_diagnose_refuses() -> None:
    answered = []
    for _, text in (phrase for phrase in PHRASES if phrase[0] == "refuse"):
        try:
            answered.append(answer(text).explanations[0].entry)
        except ProcedureRefused:
            continue
    # A myth is refuted by its own entry, and a setting is explained with its value.
    assert [entry.name for entry in answered if entry.kind not in (EntryKind.MYTH, EntryKind.SETTING)] == []


@pytest.mark.parametrize(
    "text", ["delte __transaction_state", "delete __transction_state-3", "remvoe the topic __consumer_ofsets"]
)
def test_a_typing_error_does_not_get_past_a_refusal(text: str) -> None:
    assert find_refused(text)
    assert not find_refused(text.replace("delte", "related").replace("delete", "remote").replace("remvoe", "remote"))


@pytest.mark.parametrize(
    ("text", "runbook", "words"),
    [
        ("transactions are stuck, how do I delete __transaction_state?", "hanging-transaction", "find-hanging"),
        ("I want to delete __transaction_state to unblock the readers, how?", "hanging-transaction", "txn abort"),
        ("partition 3 has no leader, so recreate __transaction_state", "transaction-log-under-replicated", "replica"),
        ("delete __transaction_state", "transaction-log-under-replicated", "replica"),
        ("offsets are pending, so delete __consumer_offsets", "unstable-offsets", "group pending"),
        ("delete __consumer_offsets", "offsets-out-of-range", "positions"),
    ],
)
def test_the_safe_way_fits_the_aim_of_a_request(text: str, runbook: str, words: str) -> None:
    (found,) = find_refused(text)
    assert found.runbook == runbook
    assert words in found.instead
