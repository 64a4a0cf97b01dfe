"""Bugs by release and by id."""

from __future__ import annotations

import pytest

from eosctl.errors import UsageError
from eosctl.knowledge.releases import is_newer_than_known, is_possible_release, kafka_releases
from eosctl.model.known_bug import Product
from eosctl.services.list_bugs import bugs_of, find_bug, is_bug_id


def ids(release: str) -> set[str]:
    return {one.bug.id for one in bugs_of({Product.CLIENT: release}).bugs}


@pytest.mark.parametrize(
    ("release", "has_it"),
    [("3.9.1", True), ("3.9.2", False), ("4.0.1", True), ("4.0.2", False), ("4.1.1", True), ("4.2.0", False)],
)
def test_the_reused_buffer_is_fixed_where_the_jars_have_the_fix(release: str, has_it: bool) -> None:
    assert ("KAFKA-19012" in ids(release)) == has_it


def test_a_bug_is_found_by_its_id_as_people_write_it() -> None:
    for text in ("KAFKA-17507", "kafka-17507", "kafka 17507"):
        assert is_bug_id(text)
        assert [one.bug.id for one in find_bug(text).bugs] == ["KAFKA-17507"]
    assert not is_bug_id("3.7.1")
    with pytest.raises(UsageError):
        find_bug("KAFKA-1")


@pytest.mark.parametrize("release", ["3.10.0", "2.9.1", "9.9", "newest", "1"])
def test_a_release_that_kafka_does_not_have_is_refused(release: str) -> None:
    with pytest.raises(UsageError):
        bugs_of({Product.BROKER: release})


@pytest.mark.parametrize("release", ["5.0", "3.9.7"])
def test_a_release_that_may_have_come_since_is_doubted(release: str) -> None:
    (remark,) = bugs_of({Product.BROKER: release, Product.CLIENT: release}).remarks
    assert "newer" in remark
    assert bugs_of({Product.BROKER: "3.9.1"}).remarks == ()


@pytest.mark.parametrize(
    ("product", "release", "is_doubted"),
    [
        (Product.LIBRDKAFKA, "9.9.0", True),
        (Product.LIBRDKAFKA, "2.3.0", False),
        (Product.FLINK, "9.0.0", True),
        (Product.FLINK, "4.0.0", False),
    ],
)
def test_newer_releases_of_other_products_are_doubted_too(product: Product, release: str, is_doubted: bool) -> None:
    assert bool(bugs_of({product: release}).remarks) == is_doubted


def test_releases_are_in_order() -> None:
    assert list(kafka_releases()) == sorted(kafka_releases())
    assert all(is_possible_release(one) and not is_newer_than_known(one) for one in kafka_releases())
