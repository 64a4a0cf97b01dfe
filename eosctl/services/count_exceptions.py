"""Count the stack traces of logs by minute, class, root cause, application, and host."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.log_engine import EngineChoice, spark_session, takes_spark
from eosctl.services.log_format import find_zone, layouts_of
from eosctl.services.log_places import existing

if TYPE_CHECKING:
    from eosctl.logs.files.sources import SourceFile
    from eosctl.model.log_findings import ExceptionCount

_STRANGE: Final = "no log record was recognized, and no stack trace"


class ExceptionsRequest(msgspec.Struct, frozen=True):
    """The logs to read, and how.

    Attributes:
        paths: Log files, and folders of them.
        zone: The zone of time stamps that have none, e.g. ``Europe/Berlin``; None for UTC.
        pattern: The log4j or logback pattern of the files; None for the layouts that are recognized.
        engine: What reads the files; the result is the same.
    """

    paths: tuple[Path, ...]
    zone: str | None = None
    pattern: str | None = None
    engine: EngineChoice = EngineChoice.AUTO


class CountedExceptions(NamedTuple):
    """The result of a count.

    Attributes:
        counts: The stack traces by minute, class, root cause, application, and host.
        unread: Files that were not read to their end or not recognized, each with the reason.
    """

    counts: tuple[ExceptionCount, ...]
    unread: dict[str, str]


def count_exceptions(request: ExceptionsRequest, callbacks: Callbacks = SILENT) -> CountedExceptions:
    """Count the stack traces of logs.

    Raises:
        UsageError: A file, the zone, or the pattern cannot be used.
        EosctlError: Spark was chosen and cannot be used.
    """
    from eosctl.logs.files.inputs import opened_inputs
    from eosctl.logs.scan import plan_scan
    from eosctl.logs.traces import with_lines

    zone, layouts = find_zone(request.zone), layouts_of(request.pattern)
    with opened_inputs(existing(request.paths), callbacks.progress) as opened:
        sources, unread = plan_scan(opened.paths, zone, layouts)
        if takes_spark(request.engine, request.paths, callbacks.remark):
            with spark_session(callbacks.remark) as spark:
                from spark_log_analytics.trace_job import exceptions_on_spark

                counts, damaged = exceptions_on_spark(spark, sources)
        else:
            counts, damaged = _count_here(sources, callbacks)
        counts = tuple(with_lines(counts, sources))
    failed = [one for one in (*unread, *opened.unread) if one.is_failure and one.name not in opened.archives]
    failed += [one for one in opened.unread if one.name in opened.archives]
    reasons = {one.name: one.reason for one in failed} | damaged
    counted = {count.file for count in counts}
    strange = (one.name for one in sources if one.size_bytes and not one.verdict.has_headers)
    reasons |= {name: _STRANGE for name in strange if name not in counted and name not in reasons}
    if not counted and not reasons and not any(one.size_bytes for one in sources):
        # Nothing was read: what is left out next to logs is then the reason.
        reasons = {one.name: one.reason for one in unread} | {one.name: "the file is empty" for one in sources}
        reasons = reasons or {str(request.paths[0]): "the input holds no file"}
    return CountedExceptions(tuple(counts), {opened.name_of(name): reason for name, reason in reasons.items()})


def _count_here(
    sources: Iterable[SourceFile], callbacks: Callbacks
) -> tuple[tuple[ExceptionCount, ...], dict[str, str]]:
    from eosctl.logs.scan import place_in_words, plan_splits
    from eosctl.logs.traces import count_exceptions as count_in
    from eosctl.logs.traces import merge_counts

    counts: list[ExceptionCount] = []
    damaged: dict[str, str] = {}
    for split in chain.from_iterable(map(plan_splits, sources)):
        callbacks.progress(place_in_words(split))
        found = count_in(split)
        counts += found.counts
        if found.error:
            damaged[split.source.name] = found.error
    return merge_counts(counts), damaged
