"""A record without its level never turns what is to check into an all-clear, in any category and on each engine."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.logs.classifier.catalog import Category, Weight, load_catalog
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.records.record import Record
from eosctl.model.log_event import PROBLEM_CATEGORIES, is_error, is_problem
from eosctl.render.logs.verdict import headline
from eosctl.services.mine_logs import MineRequest, mine_logs
from tests.logs.sampling import samples

LINE: Final = "2026-08-04 08:04:00,000 {}a.b.KafkaFeed - {}\n"
WORK: Final = "2026-08-04 08:00:00,000 {}a.b.KafkaFeed - read 7 rows\n"
WEIGHTY: Final = [one for one in load_catalog().categories if one.weight is not Weight.BENIGN]
EXPORT: Final = (
    '"@timestamp","pod","message"\n'
    '"Apr 23, 2026 @ 13:25:54.026","feed","FAIL [rdkafka#producer-1] [thrd:b1:9092/1]: b1:9092/1: SASL authentication '
    'error: SaslAuthenticateRequest failed: Local: Broker transport failure (after 0ms in state DOWN)"\n'
    '"Apr 23, 2026 @ 13:25:53.610","feed","ERROR feed.kafka callback: KafkaError{code=_ALL_BROKERS_DOWN,val=-187,'
    'str=""3/3 brokers are down""}"\n'
    '"Apr 23, 2026 @ 13:25:52.801","feed","FAIL [rdkafka#producer-1] [thrd:b1:9092/1]: b1:9092/1: Disconnected (after '
    '82001442ms in state UP)"\n'
    '"Apr 23, 2026 @ 13:27:00.003","feed","INFO feed.stats published=72041"\n'
)


def example_of(category: Category) -> str:
    """Return a line of a category that has it with and without a level; empty if none can be made."""
    classifier = Classifier()
    for pattern in category.patterns:
        for text in samples(pattern):
            found = classifier.classify(Record(0, 0, "", "", "", "a.b.KafkaFeed", "", text, "")) if text else None
            if found is not None and found.category == category.id and text.isprintable():
                return text
    return ""


EXAMPLES: Final = {one.id: text for one in WEIGHTY if (text := example_of(one))}


def verdict(log: str, folder: Path) -> str:
    (folder / "feed.log").write_text(log)
    found = mine_logs(MineRequest((folder / "feed.log",))).findings
    if found.incidents or found.unexplained:
        return ""
    return headline(found)


@pytest.mark.parametrize(("category", "text"), EXAMPLES.items(), ids=EXAMPLES.keys())
def test_a_record_without_its_level_is_noted(category: str, text: str, tmp_path: Path) -> None:
    bare = verdict(WORK.format("") + LINE.format("", text), tmp_path)
    assert not bare or " programs often recover from" in bare


def test_most_categories_have_an_example_without_a_level() -> None:
    assert len(EXAMPLES) > len(WEIGHTY) * 0.85


def test_an_export_without_levels_is_not_an_all_clear(tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text(EXPORT)
    mined = mine_logs(MineRequest((tmp_path / "export.csv",)))
    events = {event.category: event for event in mined.findings.events}
    assert events["CONNECTIONS_LOST"].level == events["BROKERS_UNREACHED"].level == "ERROR"
    assert events["NETWORK_DISCONNECT"].level == ""
    assert mined.findings.totals.problem_count == 3 and mined.findings.totals.error_count == 2
    assert mined.findings.incidents or "2 error records are of kinds" in headline(mined.findings)


def test_the_category_decides_without_a_level(tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text(EXPORT)
    (event,) = [
        one
        for one in mine_logs(MineRequest((tmp_path / "export.csv",))).findings.events
        if one.category == "NETWORK_DISCONNECT"
    ]
    assert is_problem(event) and not is_error(event)
    assert not is_problem(event._replace(level="INFO"))
    assert is_error(event._replace(category="PRODUCER_FENCED"))
    assert not is_problem(event._replace(category="CLIENT_START"))
    assert is_problem(event._replace(level="17")) and "UNCLASSIFIED" not in PROBLEM_CATEGORIES


def test_each_weighty_category_admits_records_without_a_level() -> None:
    bound = {one.id for one in WEIGHTY if one.levels and "" not in one.levels}
    # An alert without a level is taken for that of a full disk, and the words of any program for no trouble.
    assert bound == {"STORAGE_SPACE_SHRINKS", "TROUBLE_IN_OTHER_WORDS"}


@pytest.mark.parametrize(
    ("message", "category"),
    [
        ("commit: kafka server: The provided member is not known in the current generation", "GROUP_FENCED"),
        ('send: KafkaError{code=_FENCED,val=-144,str="fenced"}', "PRODUCER_FENCED"),
    ],
)
def test_words_of_clients_need_no_level(message: str, category: str) -> None:
    found = Classifier().classify(Record(0, 0, "", "", "", "", "", message, ""))
    assert found is not None and found.category == category
