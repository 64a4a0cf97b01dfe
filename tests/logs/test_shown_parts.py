"""Parts of the catalog's sentences that depend on what the records show."""

from __future__ import annotations

import re

import pytest

from eosctl.logs.classifier.catalog import load_incidents
from eosctl.logs.incidents.remaining.sentences import filled

PARTS = re.compile(r"\[!?([\w.-]+)\? ")
KNOWN = {"component", "ended", "exception", "fatal-reason", "initialized", "keeper"}
STAGES = {"any-stage", "first-request", "lost-on-the-way", "refused"}
TEXTS = [
    text
    for known in load_incidents().values()
    for one in (known, *known.alternatives)
    for text in (one.what, one.next_step)
]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({}, "Fix it. Read the record."),
        ({"exception": "exception"}, "Read its exception. Fix it."),
        ({"exception": "exception", "topic": "fees"}, "Read its exception. Fix it, for fees."),
    ],
)
def test_a_part_needs_what_its_records_show(values: dict[str, str], text: str) -> None:
    sentence = "[exception? Read its exception. ]Fix it[, for {topic}].[!exception?  Read the record.]"
    assert filled(sentence, values) == text


def test_each_condition_of_the_catalog_is_a_known_value() -> None:
    assert {name for text in TEXTS for name in PARTS.findall(text)} <= KNOWN | STAGES


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_sentence_is_whole_with_and_without_a_value(name: str) -> None:
    for text in filter(PARTS.search, TEXTS):
        for values in ({"who": "Orders"}, {"who": "Orders", name: "orders"}):
            whole = filled(text, values)
            assert not re.search(r"[\[\]]| {2}|^[a-z]| [.,]|[.?] [a-z]|\.\.", whole), whole
