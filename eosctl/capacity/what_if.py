"""The same workload with something changed: what-if tables and growth."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from math import log
from typing import Any, Final, NamedTuple

import yaml
from msgspec.structs import replace

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.quantities import (
    QuantityError,
    parse_bytes,
    parse_count,
    parse_duration_ms,
    parse_growth,
    parse_number,
    parse_ratio,
    parse_whole,
)
from eosctl.capacity.refusal import WorkloadRefused
from eosctl.capacity.workload_file import read_tree
from eosctl.capacity.workload_tree import Path, find_paths, set_value, unknown_key
from eosctl.errors import ConfigFileError, UsageError
from eosctl.model.capacity_plan import GrowthPoint, Variant
from eosctl.model.workload import Workload

LARGEST_GROWTH: Final = 10**12

Apply = Callable[[Workload, Any], Workload]


class Parameter(NamedTuple):
    """A value that can be changed for the whole workload, and the format of its values."""

    apply: Apply
    parse: Callable[[str], Any]
    about: str


def _milliseconds(text: str) -> float:
    """Parse a Kafka setting in ms, or a duration with a unit."""
    return parse_number(text) if text.strip().isdigit() else parse_duration_ms(text)


def _bytes(text: str) -> float:
    return parse_number(text) if text.strip().isdigit() else parse_bytes(text)


def _factor(text: str) -> float:
    return parse_growth(text) if text.endswith("%") else parse_number(text)


def _cluster(attribute: str) -> Apply:
    return lambda workload, value: replace(workload, cluster=replace(workload.cluster, **{attribute: value}))


def _applications(**change: Callable[[Any], Any]) -> Apply:
    def apply(workload: Workload, value: Any) -> Workload:
        changed = (replace(a, **{name: of(value) for name, of in change.items()}) for a in workload.applications)
        return replace(workload, applications=tuple(changed))

    return apply


def _topics(attribute: str) -> Apply:
    return lambda workload, value: replace(
        workload, topics=tuple(replace(topic, **{attribute: value}) for topic in workload.topics)
    )


def scale_rates(workload: Workload, factor: float) -> Workload:
    """Return the workload with all rates, counted transactions and live records multiplied."""
    return replace(
        workload,
        topics=tuple(
            replace(t, rate_per_s=t.rate_per_s * factor, live_bytes=t.live_bytes * factor) for t in workload.topics
        ),
        applications=tuple(
            replace(
                a,
                state_bytes=a.state_bytes * factor,
                transactions_per_s=None if a.transactions_per_s is None else a.transactions_per_s * factor,
            )
            for a in workload.applications
        ),
    )


def _same(value: Any) -> Any:
    return value


PARAMETERS: Final[dict[str, Parameter]] = {
    "commit.interval.ms": Parameter(
        _applications(commit_interval_ms=_same, transactions_per_s=lambda _: None),
        _milliseconds,
        "of every application",
    ),
    "transaction.timeout.ms": Parameter(
        _applications(transaction_timeout_ms=_same), _milliseconds, "of every application"
    ),
    "producers": Parameter(_applications(producer_count=_same), parse_count, "of every application"),
    "linger.ms": Parameter(_topics("linger_ms"), _milliseconds, "of every topic's writers"),
    "batch.size": Parameter(_topics("batch_size_bytes"), _bytes, "of every topic's writers"),
    "compression": Parameter(_topics("compression_ratio"), parse_ratio, "ratio in every topic"),
    "partitions": Parameter(_topics("partition_count"), parse_count, "of every topic"),
    "rate": Parameter(scale_rates, _factor, "factor on every rate, e.g. 1.5 or 150 %"),
    "brokers": Parameter(_cluster("broker_count"), parse_count, "of the cluster"),
    "brokers_lost": Parameter(_cluster("brokers_lost"), parse_count, "simultaneously"),
    "replication.factor": Parameter(_cluster("replication_factor"), parse_count, "of every topic"),
    "transaction.version": Parameter(_cluster("transaction_version"), parse_whole, "finalized level"),
    "producer.id.expiration.ms": Parameter(_cluster("producer_id_expiration_ms"), _milliseconds, "of the brokers"),
    "segment.bytes": Parameter(_cluster("segment_bytes"), _bytes, "of every topic"),
}


def try_values(text: str, root: yaml.Node | None, source: str) -> tuple[Variant, ...]:
    """Plan a workload with other values of one key; a value that makes no sense carries the refusal.

    Args:
        text: ``commit.interval.ms=100,500,1000`` for the whole workload, or any key of its file by its dotted path:
            ``topics.orders.rate=5000/s,9000/s``.
        root: The tree of the workload file.
        source: Its name, for messages.

    Raises:
        UsageError: The key is not known, or a value is not allowed.
        ConfigFileError: The file is not a workload.
    """
    name, _, given = text.partition("=")
    name = name.strip()
    workload = read_tree(root, source)
    paths = find_paths(root)
    if name not in PARAMETERS and name not in paths:
        raise unknown_key(name, paths, PARAMETERS)
    values = tuple(filter(None, (value.strip() for value in given.split(","))))
    if not values:
        raise UsageError(f"--what-if {text!r} gives no value.", "", f"Write for instance {name}=1,2,3.")
    if (parameter := PARAMETERS.get(name)) is not None:
        return tuple(_variant(name, value, _apply(workload, name, parameter, value)) for value in values)
    return tuple(_variant(name, value, _read_changed(root, paths[name], name, value, source)) for value in values)


def _apply(workload: Workload, name: str, parameter: Parameter, value: str) -> Workload:
    try:
        return parameter.apply(workload, parameter.parse(value))
    except QuantityError as error:
        raise UsageError(f"--what-if {name}: {error}.", "", "Correct the value.") from None


def _read_changed(root: yaml.Node | None, path: Path, name: str, value: str, source: str) -> Workload | WorkloadRefused:
    """Read the workload with one value changed; its mistakes keep the places of the file."""
    try:
        return read_tree(set_value(root, path, value), source)
    except WorkloadRefused as refused:
        return refused
    except ConfigFileError as error:
        raise UsageError(f"--what-if {name}={value} makes no workload.", error.why, "Correct the value.") from None


def _variant(parameter: str, text: str, changed: Workload | WorkloadRefused) -> Variant:
    if isinstance(changed, WorkloadRefused):
        return Variant(parameter, text, refusal=changed.why.replace("\n", "; "))
    try:
        plan = plan_capacity(changed)
    except WorkloadRefused as refused:
        return Variant(parameter, text, refusal=refused.what)
    instances = [application.instance for application in plan.applications if application.instance is not None]
    return Variant(
        parameter=parameter,
        value=text,
        transactions_per_s=plan.transactions_per_s,
        markers_per_s=plan.markers_per_s,
        eos_appends_per_s=plan.eos_appends_per_s,
        eos_append_share=plan.eos_append_share,
        visible_p99_ms=plan.visible_p99_ms,
        network_out=plan.resource("network out").used_after_loss,
        disk_bytes=plan.resource("disk space").used * plan.broker_count,
        broker_count=plan.broker_count_needed,
        instance_count=sum(one.instances for one in instances),
        core_count=sum(one.instances * one.cores for one in instances),
        heap_bytes=max((one.heap_bytes for one in instances), default=0.0),
        instance_disk_bytes=max((one.disk_bytes for one in instances), default=0.0),
        restore_ms=max((application.restore_ms for application in plan.applications), default=0.0),
    )


def grow(workload: Workload, today: date, until: date, points: int = 12) -> tuple[GrowthPoint, ...]:
    """Plan the workload at dates from today on, with its growth per year compounded.

    Args:
        workload: The workload; its figures are today's.
        today: When it was described.
        until: The last date.
        points: Into how many steps the time is cut.

    Raises:
        UsageError: The date is not after today, or so far that growth has no meaning any more.
    """
    days = (until - today).days
    if days <= 0:
        raise UsageError(f"--until {until} is not in the future.", f"Today is {today}.", "Choose a later date.")
    found = []
    largest = log(1 + workload.growth_per_year) * days / 365.25
    if largest > log(LARGEST_GROWTH):
        raise UsageError(
            f"--until {until} is too far for a growth of {workload.growth_per_year:.0%} a year.",
            f"The load would be 10^{largest / log(10):.0f} times today's.",
            f"Choose a date at which it is at most {LARGEST_GROWTH:,} times today's.",
        )
    for step in range(points + 1):
        when = today + timedelta(days=round(days * step / points))
        factor = (1 + workload.growth_per_year) ** ((when - today).days / 365.25)
        plan = plan_capacity(scale_rates(workload, factor))
        shares = tuple((r.name, r.utilisation) for r in plan.resources if r.utilisation is not None)
        found.append(GrowthPoint(when.isoformat(), factor, shares, plan.broker_count_needed))
    return tuple(found)
