"""Check the patterns of the catalog: bounded, the same for all digits, and each with an explanation."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.layouts import detect_layouts
from eosctl.logs.records.digits import is_blind
from eosctl.logs.records.record import Record
from eosctl.logs.records.scanner import scan_records
from eosctl.model.redaction import secret_spans

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
SECRET_TEXTS = (
    "db1 password=4711 in 12 ms",
    'pass2 token: "12 34" 5',
    "http://h1:8080/r?u=https://u2:33@h4:9092/5 at 10.0.0.1",
    "user1:234@10.0.0.1:9092 failed 3 times",
    "Authorization: Basic 1234567890 6",
    "-----BEGIN RSA PRIVATE KEY----- 0123456789 -----END RSA PRIVATE KEY----- 7",
)


def test_every_field_pattern_has_a_length_limit() -> None:
    """Without a limit, a line of 256 KB that begins a name a thousand times would take minutes."""
    catalog = load_catalog()
    fields = [field for category in catalog.categories for field in category.fields] + [*catalog.common_fields]
    endless = re.compile(r"(?P<what>(?<!\\)\.|\[\^(?:\\.|[^\]\\])*\])[+*]\??(?P<behind>.*)")
    for field in fields:
        for found in endless.finditer(field):
            assert not found["behind"].strip(")") or r"\s" in found["what"], field


def test_patterns_treat_all_digits_alike() -> None:
    # The classifier caches verdicts by the text with blurred digits.
    for category in load_catalog().categories:
        for pattern in category.patterns:
            bare = re.sub(r"\{[\d,]+\}", "", pattern)
            assert not re.search(r"(?<!\\)\d", bare.replace(r"\d", "")) or "Log4j" in bare or "log4j" in bare, pattern
        assert all(map(is_blind, (*category.fields, *category.unless))), category.id
    assert all(map(is_blind, load_catalog().common_fields))


def test_a_secret_does_not_depend_on_its_digits() -> None:
    # Positions of secrets are cached in the same way: a rule that required a digit would leak secrets.
    chance = random.Random(23)
    for text in SECRET_TEXTS:
        other = re.sub(r"\d", lambda _: chance.choice("0123456789"), text)
        assert secret_spans(text) == secret_spans(other) != ()


@pytest.mark.parametrize("folder", ["poll-interval-392", "second-producer-392"])
def test_a_cached_template_applies_to_texts_with_other_digits(folder: str) -> None:
    chance, remembering, forgetting = random.Random(17), Classifier(), Classifier()
    files = sorted((FIXTURES / folder).rglob("*.log"))
    for path in files:
        data = path.read_bytes()
        for record in scan_records(data, detect_layouts(data[:100_000])):
            record = record._replace(key=b"")  # test_forms.py covers the cache of records with a key
            message = f"{record.message} password=changeit8" if record.line % 9 == 0 else record.message
            other = re.sub(r"(?<!og)\d", lambda _: chance.choice("0123456789"), message)  # Log4j is a name
            remembering.classify(record._replace(message=other))
            found = remembering.classify(record._replace(message=message))
            forgetting._verdicts.clear()
            assert found == forgetting.classify(record._replace(message=message))
            assert found is None or "changeit" not in found.message
    assert files


def test_every_category_explains_itself() -> None:
    for category in load_catalog().categories:
        assert category.meaning.endswith("."), category.id
        assert category.patterns, category.id


def test_an_unclean_election_that_did_not_happen_is_ignored() -> None:
    refused = (
        "[QuorumController id=1] Cannot trigger unclean leader election for offline partition orders-0 because unclean "
        "leader election is disabled for this topic."
    )
    assert Classifier().classify(Record(0, 0, "", "INFO", "", "a.B", "", refused, "")) is None


def test_an_unknown_error_is_kept_but_unknown_info_is_not() -> None:
    classifier = Classifier()
    unknown = Record(0, 0, "", "ERROR", "", "a.B", "", "the moon is full", "")
    found = classifier.classify(unknown)
    assert found is not None
    assert found.category == "UNCLASSIFIED"
    assert classifier.classify(unknown._replace(level="INFO")) is None
