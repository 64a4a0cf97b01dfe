"""A literal that is required stands in every match: else a search would be left out that would have found something."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.records.literals import required_literal

PATTERNS = sorted(
    {pattern for category in load_catalog().categories for pattern in (*category.patterns, *category.fields)}
    | set(load_catalog().common_fields)
)


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        ("has been fenced", "has been fenced"),
        (r"Fencing broker \d+ (?:at epoch \d+ )?because its session", "because its session"),
        (r"a\.b\[c\]", "a.b[c]"),
        ("colou?r", "colo"),
        ("ab+cd", "ab"),
        ("one|other", ""),
        ("(?i:any case)", ""),
        (r"x{3}yz", "yz"),
        (r"[abc]def(?:ghi)*", "def"),
    ],
)
def test_the_longest_text_that_must_be_there(pattern: str, literal: str) -> None:
    assert required_literal(pattern) == literal


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_match_of_the_catalog_holds_it(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(PATTERNS))
    text = data.draw(st.from_regex(re.compile(pattern, re.ASCII | re.MULTILINE)))
    assert required_literal(pattern) in text


def test_almost_all_patterns_have_one() -> None:
    lacking = [pattern for pattern in PATTERNS if len(required_literal(pattern)) < 3]
    assert len(lacking) * 10 < len(PATTERNS)
