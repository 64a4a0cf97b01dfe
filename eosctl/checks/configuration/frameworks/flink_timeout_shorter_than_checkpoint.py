"""EOS-CFG-084."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import is_transactional, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

_DURATION: Final = re.compile(r"(\d+)\s*(ms|milli\w*|s|sec\w*|m|min\w*|h|hour\w*|d|day\w*)?$")
_UNITS_MS: Final = {"ms": 1, "mi": 60_000, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def _duration_ms(text: str | None) -> int | None:
    """Parse a duration as Flink writes it: ``10min``, ``30 s``, ``60000``."""
    match = _DURATION.fullmatch(text.strip().lower()) if text else None
    if match is None:
        return None
    unit = match[2] or "ms"
    unit = "ms" if unit.startswith(("ms", "milli")) else unit[0]
    return int(match[1]) * _UNITS_MS[unit]


@check(
    "EOS-CFG-084",
    "Flink's transactions time out before their checkpoint",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.FLINK,),
    reads=("execution.checkpointing.interval", "execution.checkpointing.timeout", "properties.transaction.timeout.ms"),
    tags=("timeout",),
)
def flink_timeout_shorter_than_checkpoint(case: Case) -> Iterator[Problem]:
    """Find exactly-once Flink sinks whose transactions cannot live until the checkpoint commits them.

    What it checks:
        properties.transaction.timeout.ms, where it was written down, against execution.checkpointing.interval plus
        execution.checkpointing.timeout, as far as they are written in the same place. Equal values fail: the commit
        comes after the checkpoint.

    Why it matters for exactly-once:
        A sink's transaction is open from one checkpoint to the end of the next. When it times out before, the data
        of a completed checkpoint is lost.

    Example:
        A checkpoint interval of 10 minutes with properties.transaction.timeout.ms of 300000.

    Fix:
        Raise the timeout above interval, checkpoint duration and restart time together, within the brokers'
        maximum.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in case.deployment.of(Role.PRODUCER):
        timeout = producer.value("transaction.timeout.ms")
        sink = next(iter(case.deployment.beside(producer, Role.FLINK)), None)
        if (
            producer.inside is not Role.FLINK
            or sink is None
            or not is_transactional(producer)
            or timeout.number is None
        ):
            continue
        interval, limit = sink.value("execution.checkpointing.interval"), sink.value("execution.checkpointing.timeout")
        interval_ms = _duration_ms(interval.word)
        if not timeout.is_given or interval_ms is None:
            continue
        needed = interval_ms + (_duration_ms(limit.word) or 0)
        if timeout.number <= needed:
            values = (timeout, interval, limit) if limit.is_given else (timeout, interval)
            yield problem(
                producer,
                values,
                f"{timeout.key} is {minutes(timeout.number)}, a checkpoint can take until {minutes(needed)}.",
                severity=None if timeout.number <= interval_ms else Severity.WARNING,
                impact="The coordinator aborts what a checkpoint has promised to commit: data is lost.",
                remedy=f"Raise {timeout.key} well above {needed}.",
            )
