"""EOS-CFG-084."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.advice import longer_timeout, longest_timeout
from eosctl.checks.configuration.clients import checkpointing, is_transactional, minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity
from eosctl.settings.values.durations import duration_ms


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
        properties.transaction.timeout.ms, or the sink's default of one hour, against execution.checkpointing.interval
        plus execution.checkpointing.timeout: those of the job, else those of the cluster's configuration that is given
        with it (flink-conf.yaml, config.yaml, a FlinkDeployment). Equal values fail: the commit comes after the
        checkpoint.

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
        sink = next(iter(case.deployment.same_application(producer, Role.FLINK)), None)
        if (
            producer.inside is not Role.FLINK
            or sink is None
            or not is_transactional(producer)
            or timeout.number is None
        ):
            continue
        interval, limit = checkpointing(case.deployment, sink)
        interval_ms = duration_ms(interval.word)
        if interval_ms is None:
            continue
        needed = interval_ms + (duration_ms(limit.word) or 0)
        if timeout.number <= needed:
            values = [value for value in (timeout, interval, limit) if value.is_given]
            yield problem(
                producer,
                values,
                f"{timeout.key} is {minutes(timeout.number)}{'' if timeout.is_given else ' by default'}, "
                f"a checkpoint can take until {minutes(needed)}.",
                severity=None if timeout.number <= interval_ms else Severity.WARNING,
                impact="The coordinator aborts what a checkpoint has promised to commit: data is lost.",
                remedy=f"Raise {timeout.key} well above {needed}."
                if needed < longest_timeout(case.deployment)
                else longer_timeout(case.deployment, timeout.key, needed + 1, interval.key),
            )
