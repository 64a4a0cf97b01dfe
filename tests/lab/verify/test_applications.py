"""Applications on confluent-kafka: the documented one survives a crash at every step, four wrong ones are found."""

from __future__ import annotations

import asyncio

import pytest

from eosctl.client import connect
from eosctl.client.topics import ensure_topic
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing import SandboxThread
from tests.commands.conftest import Done, eosctl
from tests.lab.verify.applications_under_test import (
    DeadLettersOutside,
    OffsetsOutside,
    ReadsUncommitted,
    RetryDuplicates,
    Right,
    example,
    running,
)


def exercise(kafka: SandboxThread, kind: type[Right]) -> Done:
    """Test an application as its owner would, and return what the program said."""
    name = kind.__name__.lower()
    topics = [f"{name}-{part}" for part in ("in", "out", "dead")]

    async def create() -> None:
        async with connect(ClientConfig(parse_endpoints(kafka.bootstrap, "test"))) as client:
            for topic in topics:
                await ensure_topic(client, topic, partition_count=2)

    asyncio.run(create())
    settings = example.Settings(kafka.bootstrap, *topics, f"{name}-group", f"{name}-0")
    with running(kind, settings):
        return eosctl(
            *("verify", "dlq", "-b", kafka.bootstrap, "--read", topics[0], "--write", topics[1], "--dlq", topics[2]),
            *("--group", settings.group_id, "--inputs", "150", "--rate", "150", "--abort-share", "0.2", "--seed", "3"),
            *("--poison-share", "0.2", "--settle", "60s", "--yes", "-o", "json"),
        )


def counts(done: Done) -> dict[str, int]:
    (item,) = done.json["items"]
    found: dict[str, int] = item["anomaly_counts"]
    return found


def test_the_documented_application_is_exactly_once_at_any_crash(kafka: SandboxThread) -> None:
    done = exercise(kafka, Right)
    assert (done.code, counts(done)) == (0, {}), done.out
    (item,) = done.json["items"]
    assert item["headline"] == "every one of 150 inputs has its outputs exactly once; this is evidence, not proof"
    assert item["aborted_count"] > 0
    assert item["poison_count"] > 0
    assert item["dead_letter_count"] > 0


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [
        (OffsetsOutside, {"duplicated", "poison-duplicated"}),
        (RetryDuplicates, {"duplicated", "poison-duplicated"}),
        (DeadLettersOutside, {"poison-duplicated"}),
        (ReadsUncommitted, {"aborted-input"}),
    ],
)
def test_a_wrong_application_is_found_by_what_it_does_wrong(
    kafka: SandboxThread, kind: type[Right], kinds: set[str]
) -> None:
    done = exercise(kafka, kind)
    assert done.code == 3, done.out
    found = set(counts(done))
    # What was handled twice may also stand behind what came after it.
    assert sorted(kinds & found)
    assert found <= kinds | {"reordered"}, done.out
    (item,) = done.json["items"]
    witness = item["anomalies"][0]["witness"]
    assert witness[0]["event"].startswith("wrote")
    assert witness[-1]["event"] == "read output"
