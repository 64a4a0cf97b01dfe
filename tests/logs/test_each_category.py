"""A serious record alone among healthy ones is in an incident, for each category of the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from eosctl.logs.classifier.catalog import Category, acting_categories, load_catalog, load_incidents
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.records.record import Record
from eosctl.logs.scan import scan_paths
from tests.logs.sampling import samples

LINE: Final = "2026-08-04 08:0{}:00,000 {:5} [main] a.b.KafkaFeed - {}\n"
PLACE: Final = 4
EXEMPT: Final[Mapping[str, str]] = {
    "POD_KILLED_BY_PROBE": "a single restart by a probe is by design",
}
"""Categories with one record that is not an incident, and why."""
ACTING: Final = sorted(
    (one for one in load_catalog().categories if one.id in acting_categories()), key=lambda one: one.id
)


def example_of(category: Category) -> str:
    """Return a line of a category that comes from its own patterns; empty if none can be made of them."""
    classifier = Classifier()
    for pattern in category.patterns:
        for text in samples(pattern):
            found = classifier.classify(Record(0, 0, "", "ERROR", "", "a.b.KafkaFeed", "", text, "")) if text else None
            if found is not None and found.category == category.id and text.isprintable():
                return text
    return ""


EXAMPLES: Final[Mapping[str, str]] = {one.id: text for one in ACTING if (text := example_of(one))}


@pytest.mark.parametrize(("category", "text"), EXAMPLES.items(), ids=EXAMPLES.keys())
def test_a_serious_record_alone_is_in_an_incident(category: str, text: str, tmp_path: Path) -> None:
    before = "".join(LINE.format(minute, "INFO", f"read {minute} rows") for minute in range(PLACE))
    after = "".join(LINE.format(minute, "INFO", f"read {minute} rows") for minute in range(PLACE + 1, 9))
    (tmp_path / "feed.log").write_text(before + LINE.format(PLACE, "ERROR", text) + after)
    scan = scan_paths([tmp_path])
    found = judge_incidents(scan.events, scan.sources)
    is_covered = any(place.line == PLACE + 1 for one in found for place in one.evidence)
    assert is_covered is (category not in EXEMPT)


def test_most_categories_have_an_example() -> None:
    assert len(EXAMPLES) > len(ACTING) * 0.9


def test_exempt_categories_need_more_than_one_record() -> None:
    known = load_incidents()
    assert all(known[one.id].at_least > 1 for one in ACTING if one.id in EXEMPT)
