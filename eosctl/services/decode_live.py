"""Fetch partitions of a cluster into files, to decode them as any other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from eosctl.analysis.partitions import require_topic
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.live_log import LiveLog, save_log
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import ReadOnly
from eosctl.errors import DecodeError, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import PartitionInfo
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connection import Connection
from eosctl.services.decode_input import Source
from eosctl.services.read_cluster import read_cluster
from eosctl.temporary_folders import temporary_folder
from eosctl.text import count_text
from eosctl.wire.errors import WireError


class LiveRequest(msgspec.Struct, frozen=True):
    """What to read of a cluster.

    Attributes:
        connection: The cluster.
        topic: The topic.
        partitions: The partitions; ``()`` for all.
        from_offset: The first offset; None for the log's start.
        from_ms: The time of the first record, in ms since the epoch, if no offset is given.
        max_bytes: At most this much is fetched of a partition.
    """

    connection: Connection
    topic: str
    partitions: tuple[int, ...] = ()
    from_offset: int | None = None
    from_ms: int | None = None
    max_bytes: int = 256 << 20


@contextmanager
def fetched(request: LiveRequest, callbacks: Callbacks = SILENT) -> Iterator[list[Source]]:
    """Fetch partitions into files that exist while the block runs.

    Raises:
        UsageError: The topic or a partition does not exist.
        DecodeError: A partition could not be read.
    """
    with temporary_folder("eosctl-decode-") as folder:
        try:
            found = _fetch(request, folder, callbacks)
        except WireError as error:
            raise DecodeError(
                f"{request.topic} cannot be decoded: {error}.",
                "The leader sent something else.",
                "Decode the leader's files instead: eosctl decode FILES.",
            ) from error
        for name, log in found:
            if log.gaps:
                gap = log.gaps[0]
                raise DecodeError(
                    f"{name} could not be read: {gap.error or gap.reason.value}.", gap.detail, gap.next_step
                )
            if log.next_offset < log.end_offset:
                stopped = f"{name}: stopped at offset {log.next_offset} of {log.end_offset}"
                callbacks.remark(f"{stopped}; --max-bytes allows no more")
        yield [Source(log.path, name) for name, log in found]


def _fetch(request: LiveRequest, folder: Path, callbacks: Callbacks) -> list[tuple[str, LiveLog]]:

    async def fetch(reader: ReadOnly) -> list[tuple[str, LiveLog]]:
        found = []
        snapshot = await collect_snapshot(reader, Observer(callbacks.now_ms), frozenset({EvidenceKind.TOPICS}))
        topic = require_topic(snapshot, request.topic)
        begin, from_ms = request.from_offset, request.from_ms
        offsets = await collect_offsets(reader, [topic])
        for info in _chosen(offsets.value[0].partitions, request):
            directory = folder / str(info.partition)
            directory.mkdir()
            log = await save_log(
                reader, info, directory, from_offset=begin, from_ms=from_ms, max_bytes=request.max_bytes
            )
            found.append((str(info.partition), log))
        return found

    return read_cluster(request.connection, fetch, callbacks)


def _chosen(infos: Sequence[PartitionInfo], request: LiveRequest) -> list[PartitionInfo]:
    known = {info.partition.partition: info for info in infos}
    missing = sorted(set(request.partitions) - known.keys())
    if missing:
        raise UsageError(
            f"{request.topic} has no partition {missing[0]}.",
            f"It has {count_text(len(known), 'partition')}, from 0.",
            "Check --partition.",
        )
    return [known[index] for index in request.partitions or sorted(known)]
