"""The recorded data directories, and Kafka's own view of their files."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.storage.checkpoints import read_offset_checkpoint
from eosctl.storage.names import LOG_START_CHECKPOINT, Suffix, parse_segment_file
from eosctl.storage.scan import LogBatch, scan_log

FIXTURES = Path(__file__).parent.parent / "fixtures" / "storage"


class Partition(NamedTuple):
    """A recorded partition directory."""

    path: Path

    @property
    def case(self) -> str:
        return self.path.parent.parent.name

    @property
    def name(self) -> str:
        return f"{self.case}/{self.path.parent.name}/{self.path.name}"

    @property
    def golden(self) -> Path:
        return self.path.parent.parent / self.path.parent.name.replace("data", "golden") / self.path.name

    @property
    def was_closed(self) -> bool:
        return (self.path.parent / ".kafka_cleanshutdown").exists()

    @property
    def log_start_offset(self) -> int:
        starts = read_offset_checkpoint(self.path.parent / LOG_START_CHECKPOINT)
        topic, _, number = self.path.name.rpartition("-")
        return starts.get(TopicPartition(topic, int(number)), 0)

    def files(self, suffix: Suffix) -> list[Path]:
        found = [(parse_segment_file(path.name), path) for path in sorted(self.path.iterdir())]
        return [path for name, path in found if name is not None and name.suffix is suffix and not name.state]

    def logs(self) -> list[Path]:
        return self.files(Suffix.LOG)

    def batches(self) -> Iterator[LogBatch]:
        for log in self.logs():
            for fact in scan_log(log):
                assert isinstance(fact, LogBatch), f"{log}: {fact}"
                yield fact


def healthy_partitions() -> list[Partition]:
    directories = sorted(FIXTURES.glob("*/data*/*-*/"))
    return [Partition(path) for path in directories if not path.parent.parent.name.startswith("damaged-")]


def expected_log(golden: Path) -> dict[str, Any]:
    """Read the content of a log according to Kafka's record classes (`*.log.expected.json`, possibly gzipped)."""
    content = golden.read_bytes()
    expected: dict[str, Any] = json.loads(gzip.decompress(content) if golden.suffix == ".gz" else content)
    return expected


def raw(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def batch_bytes(batch: LogBatch) -> bytes:
    return batch.buffer[batch.buffer_position : batch.buffer_position + batch.header.size_bytes]
