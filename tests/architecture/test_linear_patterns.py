"""Patterns do not search a text again and again: a run of blank lines, openings, or names of secrets."""

from __future__ import annotations

import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

import eosctl
from eosctl.checks.configuration.spelled import spelled
from eosctl.checks.judge import judge
from eosctl.errors import ConfigFileError
from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.scan import scan_paths
from eosctl.model.deployment import Component, Place, Role, Value
from eosctl.model.redaction import redact_text
from eosctl.runbooks.phrases import sentences_of
from eosctl.services.explain import explain
from eosctl.settings.deployment.deployment_files import read_deployment

LINES: Final = re.compile(r"\^\s*\\s[*+]")
"""What takes the blank lines after the beginning of a line, where each of them is a beginning as well."""
BREAK: Final = re.compile(r"\\n\\s[*+]")
SIZE: Final = 1_500
GROWTH: Final = 8
LIMIT: Final = 30
LITTLE_S: Final = 0.005
"""Eight times the text takes eight times the processor time; searched anew from each place, it would take 64 times."""


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for found in pkgutil.walk_packages(eosctl.__path__, "eosctl."):
        if found.name.startswith(("eosctl.wire.", "eosctl.demo.programs")) or found.name.endswith("__main__"):
            continue
        for name, value in vars(import_module(found.name)).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                yield f"{found.name}.{name}", value


def test_no_pattern_takes_the_blank_lines_that_follow() -> None:
    faulty = [
        name
        for name, one in patterns()
        if (one.flags & re.MULTILINE and LINES.search(one.pattern)) or BREAK.search(one.pattern)
    ]
    assert faulty == []


def processor_s(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def assert_linear(work: Callable[[int], object]) -> None:
    """Compare the shortest of three runs each, unless the first one shows that the large text takes little."""
    few, many = partial(work, SIZE), partial(work, GROWTH * SIZE)
    few()  # fills the caches
    if processor_s(many) < LIMIT * LITTLE_S:
        return
    assert min(processor_s(many) for _ in range(3)) < LIMIT * max(LITTLE_S, min(processor_s(few) for _ in range(3)))


@pytest.mark.parametrize(
    ("name", "unit", "end"),
    [
        ("a.properties", "{{", "\nacks={{ range }}{% for %}\n"),
        ("a.properties", "{%", "\nacks={{ range }}{% for %}\n"),
        ("a.properties", "a.", "=1\n"),
        ("a.properties", "a.", "b=1\nbootstrap.servers=h:9092\ntransactional.id=a\n"),
        ("a.properties", "\n", "acks=all\n"),
        ("a.sh", "export A=", "\n"),
        ("a.tf", "<<EOF\n", ""),
        ("a.yaml", "${", "\nacks: ${x}\n"),
        ("a.conf", "\n", "acks=all\n"),
    ],
)
def test_a_configuration_of_one_unit_is_read_in_linear_time(name: str, unit: str, end: str, tmp_path: Path) -> None:
    path = tmp_path / name

    def read(count: int) -> None:
        path.write_text(unit * count + end, "utf-8")
        try:
            judge(read_deployment((path,)).deployment)
        except ConfigFileError:
            return

    assert_linear(read)


def test_remedies_of_many_settings_take_linear_time() -> None:
    def spell(count: int) -> None:
        names = [f"enable.idempotence{number}" for number in range(count // 10)]
        given = {name: Value(name, "x", f"app.kafka.{name}") for name in names}
        component = Component(Role.PRODUCER, "a", Place("a", 1), "a", given)
        for name in names:
            spelled(f"Correct {name}, or set transactional.id=a.", component)

    assert_linear(spell)


@pytest.mark.parametrize("begin", ["", "[2026-01-01 00:00:00,000] ERROR XException ", '{"level":"ERROR","message":"'])
@pytest.mark.parametrize("unit", ["\n", "\\n", " ", "\n ", "\n at ", "aA", "a.", "A_", "{", "[", "a="])
def test_a_record_of_one_unit_is_read_in_linear_time(begin: str, unit: str, tmp_path: Path) -> None:
    path = tmp_path / "server.log"

    def read(count: int) -> None:
        path.write_text(begin + unit * count + ('"}' if begin.startswith("{") else "x") + "\n", "utf-8")
        scan_paths([path])

    assert_linear(read)


@pytest.mark.parametrize("name", ["password", "token", "ssl.key", "sig"])
@pytest.mark.parametrize("sign", ["=", ": ", " ", "(", "[", "={", "='", " = ", "</a><b>", "=\\\n", "@", "=a;"])
def test_names_of_secrets_are_masked_in_linear_time(name: str, sign: str) -> None:
    assert_linear(lambda count: redact_text(f"x {name}{sign}" * count))


@pytest.mark.parametrize("unit", ["1", "a.", "A_"])
def test_a_pasted_text_is_taken_apart_in_linear_time(unit: str) -> None:
    assert_linear(lambda count: list(sentences_of(unit * count)))


def test_a_long_word_is_explained_in_linear_time() -> None:
    assert_linear(lambda count: explain("A_" * count))


@pytest.mark.parametrize("unit", ["transactionalId=a,", "x/1 ", "{a", "a/1", "topic-1, ", "id=", "error: ", "{a_"])
def test_patterns_of_the_catalog_take_linear_time(unit: str) -> None:
    catalog = load_catalog()
    fields = (pattern for one in catalog.categories for pattern in (*one.patterns, *one.fields))
    found = {pattern: re.compile(pattern, re.MULTILINE) for pattern in (*catalog.common_fields, *fields)}
    few, many = unit * (SIZE // 2), unit * (GROWTH * SIZE // 2)

    def search_s(pattern: re.Pattern[str], text: str) -> float:
        return processor_s(lambda: pattern.search(text))

    slow = [one for one in found.values() if search_s(one, many) > LIMIT * LITTLE_S]
    assert [
        one.pattern
        for one in slow
        if min(search_s(one, many) for _ in range(3)) > LIMIT * min(search_s(one, few) for _ in range(3))
    ] == []
