"""``eosctl decode segment --topic``: the same decoding on batches that leaders send."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from eosctl.commands.invocation import note
from eosctl.commands.moments import parse_moment_ms
from eosctl.commands.session import resolve_connection
from eosctl.errors import DecodeError, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.collect.live_log import LiveLog
    from eosctl.commands.decode.decoding import Source
    from eosctl.model.snapshot import PartitionInfo


class Live(NamedTuple):
    """What to read of a cluster; ``begin`` is an offset, ``@`` and a time, or None for the log's start."""

    topic: str
    partitions: tuple[int, ...]
    begin: str | None
    max_bytes: int


@contextmanager
def live_sources(live: Live, connection: Connection, now_ms: int) -> Iterator[list[Source]]:
    """Fetch partitions into files that exist while the block runs.

    Raises:
        UsageError: The topic, a partition or the beginning makes no sense.
        DecodeError: A partition could not be read.
    """
    import asyncio
    import tempfile

    from eosctl.commands.decode.decoding import Source
    from eosctl.wire.errors import WireError

    offset, from_ms = _begin(live.begin, now_ms)
    with tempfile.TemporaryDirectory(prefix="eosctl-decode-") as folder:
        try:
            found = asyncio.run(_fetch(live, connection, Path(folder), offset, from_ms, now_ms))
        except WireError as error:
            raise DecodeError(
                f"{live.topic} cannot be decoded: {error}.",
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
                note(f"{name}: stopped at offset {log.next_offset} of {log.end_offset}; --max-bytes allows no more")
        yield [Source(log.path, name) for name, log in found]


def _begin(text: str | None, now_ms: int) -> tuple[int | None, int | None]:
    if text is None:
        return None, None
    if text.startswith("@"):
        return None, parse_moment_ms(text, "--from", now_ms)
    if not text.isdigit():
        raise UsageError(
            f"{text!r} is no beginning.", "", "Write --from 1200, --from @-1h or --from @2026-11-21T09:00:00Z"
        )
    return int(text), None


async def _fetch(
    live: Live, connection: Connection, folder: Path, offset: int | None, from_ms: int | None, now_ms: int
) -> list[tuple[str, LiveLog]]:
    from eosctl.client.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.collect.collector import Observer, collect_snapshot
    from eosctl.collect.live_log import save_log
    from eosctl.collect.offsets import collect_offsets
    from eosctl.collect.reader import ReadOnly

    resolved = resolve_connection(connection)
    found = []
    async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
        snapshot = await collect_snapshot(client, Observer(lambda: now_ms), frozenset({EvidenceKind.TOPICS}))
        topic = snapshot.topic(live.topic)
        if topic is None:
            raise UsageError(
                f"There is no topic {live.topic}.",
                "The cluster does not list it; without Describe on it, it is not listed either.",
                "Check the name.",
            )
        reader = ReadOnly(client)
        offsets = await collect_offsets(reader, [topic])
        for info in _chosen(offsets.value[0].partitions, live):
            directory = folder / str(info.partition)
            directory.mkdir()
            log = await save_log(reader, info, directory, from_offset=offset, from_ms=from_ms, max_bytes=live.max_bytes)
            found.append((str(info.partition), log))
    return found


def _chosen(infos: Sequence[PartitionInfo], live: Live) -> list[PartitionInfo]:
    known = {info.partition.partition: info for info in infos}
    missing = sorted(set(live.partitions) - known.keys())
    if missing:
        raise UsageError(
            f"{live.topic} has no partition {missing[0]}.",
            f"It has {len(known)} partitions, from 0.",
            "Check --partition.",
        )
    return [known[index] for index in live.partitions or sorted(known)]
