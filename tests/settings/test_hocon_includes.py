"""Files of HOCON that another one includes are judged as one configuration, at their own lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.settings.test_environments import found

TUNING = "akka.kafka.producer.eos-commit-interval = 90s\nakka.kafka.consumer.kafka-clients.max.poll.records = 500\n"
APPLICATION = """include "tuning"
akka.kafka.producer.kafka-clients { transactional.id = enrich, transaction.timeout.ms = 60000 }
akka.kafka.consumer.kafka-clients { isolation.level = read_committed, group.id = enrich }
"""
LATE = {("EOS-CFG-157", "tuning.conf", 1)}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"application.conf": APPLICATION, "tuning.conf": TUNING}, LATE),
        (
            {
                "application.conf": APPLICATION.replace('"tuning"', 'required(file("tuning.conf"))'),
                "tuning.conf": TUNING,
            },
            LATE,
        ),
        (
            {
                "prod.conf": 'include "application"\nakka.kafka.consumer.kafka-clients.client.rack = a\n',
                "application.conf": APPLICATION,
                "tuning.conf": TUNING,
            },
            LATE,
        ),
        (
            {"application.conf": APPLICATION + "akka.kafka.producer.eos-commit-interval = 1s\n", "tuning.conf": TUNING},
            set(),
        ),
        ({"application.conf": APPLICATION.replace("include", "# include"), "tuning.conf": TUNING}, set()),
        ({"application.conf": 'include "application.conf"\n' + APPLICATION}, set()),
    ],
)
def test_an_included_file_is_below_the_file(
    tmp_path: Path, files: Mapping[str, str], expected: set[tuple[str, str, int]]
) -> None:
    assert {one for one in found(tmp_path, files) if one[0] == "EOS-CFG-157"} == expected


def test_an_included_file_starts_nothing_by_itself(tmp_path: Path) -> None:
    files = {"application.conf": APPLICATION, "tuning.conf": TUNING.replace("90s", "1s")}
    assert not {one for one in found(tmp_path, files) if one[1] == "tuning.conf"}


STREAM = """pekko.kafka.producer.kafka-clients { enable.idempotence = true }
pekko.kafka.consumer.kafka-clients { group.id = meters, isolation.level = read_committed, enable.auto.commit = true }
meters { transactional-id-prefix = "meters-"${?POD_NAME}, sink-topic = meter.sums }
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STREAM, {("EOS-CFG-021", "application.conf", 2)}),
        (STREAM.replace("-prefix", ""), {("EOS-CFG-021", "application.conf", 2)}),
        (STREAM.replace("transactional-id-prefix", "client"), set()),
    ],
)
def test_an_own_id_is_that_of_the_streams_producer(
    tmp_path: Path, text: str, expected: set[tuple[str, str, int]]
) -> None:
    assert found(tmp_path, {"application.conf": text}) == expected
