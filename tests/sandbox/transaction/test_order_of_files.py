"""In which order a transaction reaches the files: a process that is killed between two of them tears none."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.harness import Harness
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.ports import TRANSACTION_STATE_TOPIC, Emulation
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal import transaction_log
from eosctl.wire.records.batch import decode_records
from tests.sandbox.eos_client import EosClient

ORDERS = [TopicPartition("orders", index) for index in (0, 1)]
ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT = 1, 2, 4
"""Statuses in the values of the transaction log."""
DATA, MARKER = -1, -2


class Files:
    """What reached the files: for each write of a log what it held, in order."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.writes: list[tuple[TopicPartition, list[int]]] = []
        self._ends: dict[PartitionLog, int] = {}
        flush = PartitionLog.flush

        def recorded(log: PartitionLog) -> None:
            self._note(log)
            flush(log)

        patch.setattr(PartitionLog, "flush", recorded)

    def _note(self, log: PartitionLog) -> None:
        start = self._ends.get(log, 0)
        self._ends[log] = log.end_offset
        told: list[int] = []
        for header, batch in log.batches():
            if header.base_offset < start:
                continue
            if log.partition.topic == TRANSACTION_STATE_TOPIC:
                values = [record.value for record in decode_records(batch, header)]
                told += [
                    transaction_log.decode_value(value).transaction_status for value in values if value is not None
                ]
            elif log.partition in ORDERS:
                told += [MARKER if header.is_control else DATA]
        self.writes.append((log.partition, told))

    def places(self, what: int) -> list[int]:
        """Return the numbers of the writes that held it."""
        return [number for number, (_, told) in enumerate(self.writes) if what in told]


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_decision_markers_and_end_are_written_one_after_the_other(
    release: str, replicas: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = Harness(tmp_path, ClusterShape(replicas, Emulation(release), None, {}, fast=True))
    client = EosClient(harness, implicit=release == "4.3")
    client.create_topic("orders", partitions=2, replicas=replicas)
    producer = client.init("app")
    files = Files(monkeypatch)
    for partition in ORDERS:
        assert client.produce(producer, partition, ["x"]) is ErrorCode.NONE
    assert client.end(producer, commit=True) is ErrorCode.NONE
    harness.advance(1000)
    harness.close()
    begun, data = files.places(ONGOING), files.places(DATA)
    decided, marked, ended = files.places(PREPARE_COMMIT), files.places(MARKER), files.places(COMPLETE_COMMIT)
    assert len(marked) == 2 * replicas
    assert begun[0] < data[0]
    assert decided[0] < min(marked)
    # The leaders have each marker before anything tells that all are written; followers may have it later.
    first_of_each = [min(number for number in marked if files.writes[number][0] == partition) for partition in ORDERS]
    assert max(first_of_each) < ended[0]
