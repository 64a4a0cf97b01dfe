"""In which order a transaction reaches the files: a process that is killed between two of them tears none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import TRANSACTION_STATE_TOPIC, Emulation
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal import transaction_log
from eosctl.wire.records.batch import decode_records, iter_headers
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

ORDERS = [TopicPartition("orders", index) for index in (0, 1)]
ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT = 1, 2, 4
"""Statuses in the values of the transaction log."""
DATA, MARKER = -1, -2


class Files:
    """The writes to the logs' files: partition and content of each, in order."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.writes: list[tuple[TopicPartition, list[int]]] = []
        write = os.write

        def recorded(descriptor: int, data: bytes) -> int:
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            if path.suffix == ".log":
                topic, _, index = path.parent.name.rpartition("-")
                self._note(TopicPartition(topic, int(index)), data)
            return write(descriptor, data)

        patch.setattr(os, "write", recorded)

    def _note(self, partition: TopicPartition, data: bytes) -> None:
        kinds: list[int] = []
        for position, header in iter_headers(data):
            if partition.topic == TRANSACTION_STATE_TOPIC:
                values = [record.value for record in decode_records(data, header, position)]
                kinds += [
                    transaction_log.decode_value(value).transaction_status for value in values if value is not None
                ]
            elif partition in ORDERS:
                kinds += [MARKER if header.is_control else DATA]
        self.writes.append((partition, kinds))

    def places(self, what: int) -> list[int]:
        """Return the numbers of the writes that held it."""
        return [number for number, (_, kinds) in enumerate(self.writes) if what in kinds]


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_decision_markers_and_end_are_written_in_order(
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
    # The leaders have each marker before any record states that all are written; followers may have it later.
    first_of_each = [min(number for number in marked if files.writes[number][0] == partition) for partition in ORDERS]
    assert max(first_of_each) < ended[0]
