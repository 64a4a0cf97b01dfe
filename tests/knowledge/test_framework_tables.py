"""The tables of Spring Boot's and of Flink's own settings: facts that their jars declare."""

from __future__ import annotations

import pytest

from eosctl.knowledge.parameter_tables import FRAMEWORKS, java_names, load_tables
from eosctl.model.reference import EntryKind
from eosctl.services.explain_kind import answer_named


@pytest.mark.parametrize(
    ("component", "name", "type_", "default", "bounds"),
    [
        ("spring", "spring.kafka.producer.transaction-id-prefix", "string", None, ""),
        ("spring", "spring.kafka.admin.auto-create", "boolean", "true", ""),
        (
            "spring",
            "spring.kafka.consumer.isolation-level",
            "string",
            "read-uncommitted",
            "(relaxed) [read-uncommitted, read-committed]",
        ),
        (
            "flink",
            "sink.delivery-guarantee",
            "string",
            "at-least-once",
            "(case insensitive) [exactly-once, at-least-once, none]",
        ),
        ("flink", "scan.topic-partition-discovery.interval", "duration", "300000 ms", ""),
    ],
)
def test_what_the_newest_release_declares(component: str, name: str, type_: str, default: str, bounds: str) -> None:
    table = load_tables()[component]
    declared = table.parameters[name]
    span = declared.at(table.last)
    assert span is not None
    assert (declared.type, span.default, span.bounds) == (type_, default, bounds)


def test_a_default_has_its_history() -> None:
    spans = load_tables()["flink"].parameters["scan.topic-partition-discovery.interval"].spans
    assert spans[0].default is None
    assert len(spans) == 2


def test_what_a_later_release_brought_is_not_in_an_earlier_one() -> None:
    strategy = load_tables()["flink"].parameters["sink.transaction-naming-strategy"]
    assert strategy.at((3, 4)) is None
    assert strategy.at((4, 0)) is not None


def test_frameworks_names_are_not_kafkas() -> None:
    own = {name for component in FRAMEWORKS for name in load_tables()[component].parameters}
    assert own & java_names() == set()
    assert "topic" in own


@pytest.mark.parametrize(
    "spelling", ["spring.kafka.listener.ack-mode", "spring.kafka.listener.ackMode", "spring.kafka.listener.ack_mode"]
)
def test_springs_settings_are_explained_in_any_spelling(spelling: str) -> None:
    (found,) = answer_named(spelling, EntryKind.SETTING).explanations
    assert found.entry.name == "spring.kafka.listener.ack-mode"
    assert "since Spring Boot 2.7" in found.entry.facts[0].text
    assert "transaction manager" in found.entry.means


def test_every_effect_belongs_to_a_setting() -> None:
    from eosctl.knowledge.setting_effects import load_setting_effects

    known = {name for table in load_tables().values() for name in (*table.parameters, *table.aliases)}
    assert set(load_setting_effects()) - known == set()
