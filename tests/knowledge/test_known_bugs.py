"""Which releases have which bugs."""

from __future__ import annotations

import pytest

from eosctl.knowledge.known_bugs import load_known_bugs
from eosctl.model.known_bug import KnownBug, Product, parse_version


def bug(name: str) -> KnownBug:
    return next(bug for bug in load_known_bugs() if bug.id == name)


@pytest.mark.parametrize(
    ("name", "version", "affected"),
    [
        ("KAFKA-17507", "0.11.0.2", False),
        ("KAFKA-17507", "0.11.0.3", True),
        ("KAFKA-17507", "3.8.1", True),
        ("KAFKA-17507", "3.9.0", True),
        ("KAFKA-17507", "3.9.1", False),
        ("KAFKA-17507", "3.9", True),
        ("KAFKA-17507", "4.0.0", False),
        ("KAFKA-13099", "2.6.2", True),
        ("KAFKA-13099", "2.6.3", False),
        ("KAFKA-13099", "2.5.1", True),
        ("KAFKA-13099", "2.8.0", True),
        ("KAFKA-13099", "3.1.0", False),
        ("KAFKA-20734", "3.9.2", False),
        ("KAFKA-20734", "4.2.2", False),
        ("KAFKA-20734", "4.3.0", True),
        ("KAFKA-20734", "4.4.0", True),
        ("KAFKA-20753", "4.3.1", False),
        ("KAFKA-20753", "4.4.0", False),
        ("KAFKA-19012", "2.7.2", False),
        ("KAFKA-19012", "4.1.1", True),
        ("KAFKA-19012", "4.2.0", False),
        ("librdkafka-4736", "2.1.1", False),
        ("librdkafka-4736", "2.4.0", True),
        ("librdkafka-4736", "2.5.0", False),
        ("librdkafka-2.16.0", "2.0.1", False),
        ("librdkafka-2.16.0", "2.16.0", True),
    ],
)
def test_a_release_has_a_bug_or_not(name: str, version: str, affected: bool) -> None:
    assert bug(name).affects(parse_version(version)) is affected


def test_the_list_is_well_formed() -> None:
    bugs = load_known_bugs()
    assert len({bug.id for bug in bugs}) == len(bugs) >= 50
    assert {bug.product for bug in bugs} == set(Product)
    for one in bugs:
        was_released = not one.symptom.startswith("No release has it")
        assert all(fix > one.since if was_released else fix == one.since for fix in one.fixed), one.id
        assert len({fix[:2] for fix in one.fixed}) == len(one.fixed), one.id
        assert one.symptom.endswith("."), one.id
        assert one.workaround.endswith("."), one.id


@pytest.mark.parametrize("text", ["3", "latest", "three.nine"])
def test_invalid_versions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        parse_version(text)
