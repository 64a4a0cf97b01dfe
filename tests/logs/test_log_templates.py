"""Kafka's words at WARN and above: each has a category, or a reason for none."""

from __future__ import annotations

import re
from pathlib import Path

from eosctl.logs.classifier.classify import own_classifier
from eosctl.logs.records.record import Record
from eosctl.model.log_event import UNCLASSIFIED

FOLDER = Path(__file__).parents[1] / "fixtures" / "log-templates"
VALUES = ("7", "orders-3", "PREPARE_ABORT", "WorkerSinkTask{id=sink-0}", "[7]", "HeartbeatRequest")
"""What stands for the values of a template: numbers, names, states; one kind at a time."""
PLACES = re.compile(r"\{\}|%[sd]")
Row = tuple[str, str, str]


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (FOLDER / name).read_text("utf-8").splitlines()[1:]]


def templates() -> list[Row]:
    return [(class_name, level, template) for class_name, level, _, _, template in rows("templates.tsv")]


def has_category(row: Row) -> bool:
    class_name, level, template = row
    for value in VALUES:
        message, _, rest = PLACES.sub(lambda _, value=value: value, template.replace("\\n", "\n")).partition("\n")
        found = own_classifier().classify(Record(0, 0, "", level, "", class_name, "", message, rest))
        if found is not None and found.category != UNCLASSIFIED:
            return True
    return False


def is_exempt(row: Row, exemption: list[str]) -> bool:
    class_name, template, _ = exemption
    return re.search(class_name, row[0]) is not None and re.search(template, row[2]) is not None


def test_every_template_has_a_category_or_a_reason_for_none() -> None:
    exemptions = rows("exempt.tsv")
    bare = [row for row in templates() if not has_category(row)]
    assert [row for row in bare if not any(is_exempt(row, one) for one in exemptions)] == []


def test_every_exemption_is_needed_and_has_a_reason() -> None:
    bare = [row for row in templates() if not has_category(row)]
    for one in rows("exempt.tsv"):
        assert one[2].endswith(".")
        assert any(is_exempt(row, one) for row in bare), one


def test_the_templates_are_of_all_areas_and_releases() -> None:
    known = rows("templates.tsv")
    assert {"2.8.2", "4.4.0"} <= {row[2] for row in known} | {row[3] for row in known}
    for area in (
        "coordinator.transaction",
        "coordinator.group",
        "storage.internals.log",
        "kafka.controller",
        "streams",
    ):
        assert sum(area in row[0] for row in known) > 10, area
    assert len(known) > 700
