"""Settings modules of Python: their mappings, read without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.settings.formats.python_file import parse_python
from eosctl.settings.formats.tree import flatten
from tests.commands.conftest import eosctl
from tests.settings.test_environments import found

pytestmark = pytest.mark.usefixtures("own_home")

MODULE = """import os

MINUTE_MS = 60 * 1000
COMMON = {"bootstrap.servers": os.environ["BROKERS"], "security.protocol": "SASL_SSL"}


class Kafka:
    CONSUMER = {
        **COMMON,
        "group.id": "enricher",
        "isolation.level": "read_committed",
        "enable.auto.commit": AUTO,
    }

    def producer(self) -> dict:
        return dict(
            COMMON,
            **{
                "transactional.id": f"enricher-{os.getenv('POD')}",
                "transaction.timeout.ms": MINUTE_MS,
                "enable.idempotence": True,
            },
        )
"""


def leaves(text: str) -> dict[str, str | None]:
    return {key: leaf.text for document in parse_python(text) for key, leaf in flatten(document)}


def test_mappings_are_read_with_what_they_take_in() -> None:
    read = leaves(MODULE.replace("AUTO", "False"))
    assert read["Kafka.CONSUMER.bootstrap.servers"] == "${BROKERS}"
    assert read["Kafka.CONSUMER.enable.auto.commit"] == "false"
    assert read["Kafka.producer.returned.transactional.id"] == "enricher-${POD}"
    assert read["Kafka.producer.returned.transaction.timeout.ms"] == "60000"


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ('A = {"acks": None}', "A.acks", None),
        ('A = {"acks": -1}', "A.acks", "-1"),
        ('A = {"acks": 1}\nB = A | {"linger.ms": 5}', "B.linger.ms", "5"),
        ('A = {"acks": "a" + "ll"}', "A.acks", "all"),
        ('A: dict = {"acks": config("ACKS", default="1")}', "A.acks", "${ACKS}"),
        ('A = {"acks": int(os.getenv("ACKS"))}', "A.acks", "${ACKS}"),
        ('if LIVE:\n    A = {"acks": ["a", "b"]}', "A.acks", "a,b"),
        ('p = AIOKafkaProducer(acks="all", transactional_id=name())', "p.AIOKafkaProducer.acks", "all"),
        (
            'p = AIOKafkaProducer(acks="all", transactional_id=name())',
            "p.AIOKafkaProducer.transactional_id",
            "${name()}",
        ),
        ('kafka.producer = {"acks": 10 ** 9}', "producer.acks", "${10 ** 9}"),
    ],
)
def test_expressions_are_values_or_references(text: str, key: str, value: str | None) -> None:
    assert leaves(text)[key] == value


@pytest.mark.parametrize(
    "text", ["print 'acks'", "A = {", "A = [1, 2]", "def f(: pass", "\x00", "A = 9999999999999999999 * 9"]
)
def test_other_texts_have_no_mappings(text: str) -> None:
    assert leaves(text) == {}


@given(st.text(alphabet="ab={}[](),:\"' \n*+|.1", max_size=60))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    lines = text.count("\n") + 1
    assert all(1 <= leaf.line <= lines for document in parse_python(text) for _, leaf in flatten(document))


@pytest.mark.parametrize(
    ("name", "auto", "expected"), [("settings.py", "True", 1), ("config.py", "False", 0), ("run.py", "True", 0)]
)
def test_a_module_of_settings_is_judged(tmp_path: Path, name: str, auto: str, expected: int) -> None:
    read = found(tmp_path, {name: MODULE.replace("AUTO", auto), "requirements.txt": "confluent-kafka==2.5.3\n"})
    assert len({one for one in read if one == ("EOS-CFG-021", name, 12)}) == expected


@pytest.mark.parametrize(("more", "expected"), [("", {("EOS-CFG-020", "kafka.py", 2)}), (", **more()", set())])
def test_what_a_mapping_takes_in_may_set_it(tmp_path: Path, more: str, expected: set[tuple[str, str, int]]) -> None:
    text = f"""producer = AIOKafkaProducer(transactional_id="a", enable_idempotence=True)
consumer = AIOKafkaConsumer(group_id="a", enable_auto_commit=False{more})
"""
    assert found(tmp_path, {"kafka.py": text}) == expected


def test_settings_outside_of_mappings_are_named(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text('PRODUCER = {}\nif LIVE:\n    PRODUCER["transactional.id"] = ID\n')
    (tmp_path / "kafka.properties").write_text("transactional.id=pay-1\nbootstrap.servers=k:9092\n")
    linted = eosctl("config", "lint", tmp_path, "--require-complete")
    assert (linted.code, "settings.py:3" in linted.out) == (4, True)
