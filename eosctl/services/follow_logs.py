"""Follow logs while they are written; rotation and truncation are followed too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from eosctl.errors import EvidenceIncomplete, UsageError
from eosctl.model.log_event import UNCLASSIFIED, LogEvent
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connection import Connection
from eosctl.services.log_categories import check_categories
from eosctl.services.log_format import find_zone
from eosctl.services.log_places import files_and_topics, reading_topics
from eosctl.services.stopwatch import SYSTEM, Stopwatch

if TYPE_CHECKING:
    from eosctl.logs.classifier.catalog import Weight


class FollowRequest(msgspec.Struct, frozen=True):
    """The logs to follow, and how.

    Attributes:
        paths: Log files, folders of them, and topics (``kafka://HOST:PORT/TOPIC``).
        connection: How topics are reached; the address in a path goes first.
        zone: The zone of time stamps that have none, e.g. ``Europe/Berlin``; None for UTC.
        categories: The categories of events that matter; ``()`` for all that are not benign.
        with_benign: Whether benign events matter too.
        from_start: Whether to begin with what is there already.
        interval_ms: The pause between two passes, in milliseconds.
        idle_ms: The time without a new line after which an event is complete, in milliseconds.
        seconds: The time after which to stop; None until the process is interrupted.
    """

    paths: tuple[Path, ...]
    connection: Connection = Connection()
    zone: str | None = None
    categories: tuple[str, ...] = ()
    with_benign: bool = False
    from_start: bool = False
    interval_ms: int = 100
    idle_ms: int = 250
    seconds: float | None = None


class FollowedEvent(NamedTuple):
    """An event, and how much its category matters."""

    event: LogEvent
    weight: Weight


def follow_logs(
    request: FollowRequest, callbacks: Callbacks = SILENT, stopwatch: Stopwatch = SYSTEM
) -> Iterator[tuple[FollowedEvent, ...]]:
    """Yield the events that matter, as they are written; those of one file and pass together.

    Args:
        request: The logs.
        callbacks: Called while logs are followed.
        stopwatch: Measures and makes pauses.

    Raises:
        UsageError: A file, the zone, or a category does not exist.
        EvidenceIncomplete: The time is over, and a file was not read, or no log record was recognized in it.
        EosctlError: Topics cannot be read.
    """
    from eosctl.logs.classifier.catalog import Weight, load_catalog
    from eosctl.logs.classifier.classify import Classifier
    from eosctl.logs.followed import FollowedFiles
    from eosctl.logs.positions import Position
    from eosctl.logs.tail import TailLossError, find_ends, plan_tail, read_tail
    from eosctl.logs.topics.follow import following

    weights = {one.id: one.weight for one in load_catalog().categories} | {UNCLASSIFIED: Weight.ACT}
    wanted = check_categories(request.categories)
    if any(str(path) == "-" for path in request.paths):
        raise UsageError(
            "Standard input cannot be followed.",
            "logs watch reads files again and again, from where it stopped.",
            "Name the file, or read it once: eosctl logs report -",
        )
    files, topics = files_and_topics(request.paths, request.connection, callbacks.remark)
    zone = find_zone(request.zone)
    classifier = Classifier()

    def chosen(events: Iterable[LogEvent]) -> tuple[FollowedEvent, ...]:
        every = (FollowedEvent(event, weights[event.category]) for event in events)
        if wanted:
            return tuple(one for one in every if one.event.category in wanted)
        return tuple(one for one in every if request.with_benign or one.weight is not Weight.BENIGN)

    followed = FollowedFiles(files, zone, callbacks.remark)
    followed.gaps()
    known: dict[str, Position] = {} if request.from_start else find_ends(files, {}, idle_ms=0)
    with (
        reading_topics(),
        following(topics, request.idle_ms, zone, from_start=request.from_start, on_loss=callbacks.remark) as followers,
    ):
        until = None if request.seconds is None else stopwatch.now_s() + request.seconds
        while True:
            is_over = until is not None and stopwatch.now_s() >= until
            ends = find_ends(files, known, idle_ms=0 if is_over else request.idle_ms)
            plan = plan_tail(known, ends, zone)
            for loss in plan.losses:
                callbacks.remark(f"Lost: {loss}.")
            for part in plan.parts:
                try:
                    events = read_tail(part, classifier)
                except TailLossError as error:
                    callbacks.remark(f"Lost: {error}.")
                    continue
                followed.saw(events)
                yield chosen(events)
            known = ends
            for follower in followers:
                yield chosen(follower.read(classifier, whole=is_over))
            if is_over:
                _require(followed.gaps())
                return
            stopwatch.pause_s(request.interval_ms / 1000)


def _require(gaps: tuple[str, ...]) -> None:
    if gaps:
        raise EvidenceIncomplete(
            "Not every log was read.",
            f"{gaps[0]}." if len(gaps) == 1 else f"{gaps[0]}, and {len(gaps) - 1} more.",
            "That nothing is shown does not mean that nothing happened.",
        )
