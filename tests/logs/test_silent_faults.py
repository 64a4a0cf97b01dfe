"""Faults in which clients only repeat a warning, or log nothing wrong at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

DROPPED = (
    "2026-02-03 09:{:02}:{:02},123 WARN [admin-1] o.a.k.c.NetworkClient - [AdminClient clientId=ui] Bootstrap broker "
    "kb-1:9093 (id: -1 rack: null) disconnected\n"
)
ALIVE = "2026-02-03 09:30:00,123 INFO [main] c.s.App - alive\n"
ASSIGNED = (
    "2026-02-03 09:{:02}:00,100 INFO [main] o.a.k.c.c.i.ConsumerCoordinator - [Consumer clientId=c-1, groupId=bills] "
    "Finished assignment for group at generation 14: {{c-1-a=Assignment(partitions=[{}]), "
    "c-2-b=Assignment(partitions=[])}}\n"
)
REFUSED = (
    "2026-02-03 09:00:00,123 ERROR [main] c.s.Bills - send failed\n"
    "org.apache.kafka.common.errors.SerializationException: Error registering Avro schema\n"
    "Caused by: io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException: Schema being registered "
    'is incompatible with an earlier schema for subject "bills-value"; error code: 409\n'
)
MOVED = (
    "26/02/03 09:00:00 ERROR MicroBatchExecution: Query [id = 7a1f, runId = 9b2e] terminated with error\n"
    "java.lang.IllegalStateException: Partition bills-0's offset was changed from 2500 to 100, some data may have been "
    "missed.\n"
)


@pytest.mark.parametrize(
    ("times", "count"), [(((0, 1), (0, 20), (0, 40)), 1), (((0, 1), (0, 2), (0, 3)), 0)], ids=["lasting", "start"]
)
def test_a_client_that_every_broker_drops(times: tuple[tuple[int, int], ...], count: int, tmp_path: Path) -> None:
    found = judge(tmp_path, {"ui.log": "".join(DROPPED.format(*one) for one in times) + ALIVE})
    assert [one.root_cause for one in found] == ["connection-ended-by-the-broker"] * count
    assert all(one.subject["server"] == "kb-1:9093" for one in found)


@pytest.mark.parametrize(
    ("assignments", "count"),
    [(((0, ""),), 1), (((0, "bills-0, bills-1"),), 0), (((0, ""), (5, "bills-0")), 0), (((29, ""),), 1)],
    ids=["empty", "idle member", "filled later", "late"],
)
def test_a_group_without_any_partition(assignments: tuple[tuple[int, str], ...], count: int, tmp_path: Path) -> None:
    found = judge(tmp_path, {"bills.log": "".join(ASSIGNED.format(*one) for one in assignments) + ALIVE})
    assert [(one.kind, one.subject["group"]) for one in found] == [("group_without_partitions", "bills")] * count


def test_a_schema_that_the_registry_refuses(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"bills.log": REFUSED + ALIVE})
    assert found.kind == "schema_refused" and "bills-value" in found.explanation


def test_a_position_behind_that_of_the_checkpoint(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"spark.log": MOVED})
    assert (found.kind, found.subject["topic-partition"]) == ("offset_out_of_range", "bills-0")


def test_a_store_that_is_restored_within_seconds_is_not_a_fault(tmp_path: Path) -> None:
    thread = "[bills-1-StreamThread-1]"
    text = (
        f"2026-02-03 09:00:01,450 WARN {thread} o.a.k.s.p.i.StoreChangelogReader - stream-thread {thread} Encountered "
        "org.apache.kafka.clients.consumer.OffsetOutOfRangeException fetching records from restore consumer for "
        "partitions [bills-sum-changelog-2], it is likely that the consumer's position has fallen out of range\n"
        f"2026-02-03 09:00:14,912 INFO {thread} o.a.k.s.p.i.StoreChangelogReader - stream-thread {thread} Finished "
        "restoring changelog bills-sum-changelog-2 to store sum with a total number of 24 records\n"
    )
    assert judge(tmp_path, {"bills.log": text}) == []


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (
            "SRMSG18202: A message sent to channel `bills` has been nacked, fail-stop",
            "consumer_ended",
        ),
        (
            "No consumer: org.apache.kafka.common.KafkaException: Failed to load SSL keystore /etc/ks.jks of type JKS",
            "client_setting_refused",
        ),
        (
            "syncing failed: org.apache.kafka.common.errors.SecurityDisabledException: No Authorizer is configured",
            "request_refused",
        ),
    ],
    ids=["nacked", "key store", "no authorizer"],
)
def test_an_error_of_a_client_has_its_kind(line: str, kind: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"bills.log": f"2026-02-03 09:00:00,123 ERROR [main] c.s.Bills - {line}\n{ALIVE}"})
    assert found.kind == kind
