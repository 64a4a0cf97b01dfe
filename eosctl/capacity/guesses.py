"""The unstated inputs of a plan: assumed keys, ranges, and what models work out, each with other values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from eosctl.capacity.disk import live_bytes
from eosctl.capacity.instances import instance_restore_rate, restored_record_bytes
from eosctl.capacity.quantities import parse_share, parse_whole
from eosctl.capacity.recovery import USUAL_RESTORED_BYTES
from eosctl.capacity.rhythm import Rhythm, work_out_rhythms
from eosctl.capacity.sub_topologies import (
    EVERY_SUB_TOPOLOGY,
    busy_producer_count,
    find_unstated_writers,
    write_by_fewest,
)
from eosctl.capacity.transactions import transaction_rate
from eosctl.capacity.workload_schema import APPLICATION_KEYS, CLUSTER_KEYS, STORE_KEYS, TOPIC_KEYS, Key
from eosctl.model.capacity_plan import ApplicationPlan, CapacityPlan
from eosctl.model.workload import ApplicationKind, ApplicationSpec, Assumption, StoreSpec, TopicSpec, Workload
from eosctl.text import byte_rate_text, count_text, number_text, rate_text

#: A share of all partitions from which on a transaction is taken to reach every one of them.
NEARLY_ALL: Final = 0.99
OTHER_RELEASES: Final = ("4.3", "4.0", "3.9")
OTHER_SHARE: Final = 0.1
OTHER_AMOUNT: Final = 16.0


class Guess(NamedTuple):
    """An input that is not stated.

    Attributes:
        path: Its key in the workload file.
        others: The workload with other values of it.
        is_choice: Whether its values are names; a number says more about a figure.
        derived: What a model worked out for it; None where the workload's assumptions have it.
    """

    path: str
    others: tuple[Workload, ...]
    is_choice: bool = False
    derived: Assumption | None = None


class _Place(NamedTuple):
    value: Any
    is_share: bool
    change: Callable[[Any], Workload]
    least: int = 1


def list_guesses(workload: Workload, plan: CapacityPlan) -> Iterator[Guess]:
    """Yield the assumed keys of a workload, those given as ranges, and those that its plan works out."""
    places = _places(workload)
    for path in dict.fromkeys((*(assumption.path for assumption in workload.assumptions), *workload.ranges)):
        if (place := places.get(path)) is not None:
            others = tuple(place.change(value) for value in _other_values(place))
            yield Guess(path, others, isinstance(place.value, str))
    yield from _derived(workload, plan, places)


def _other_values(place: _Place) -> tuple[Any, ...]:
    match place.value:
        case bool(value):
            return (not value,)
        case StrEnum():
            return tuple(other for other in type(place.value) if other is not place.value)
        case str(value):
            return tuple(release for release in OTHER_RELEASES if release != value)
        case int(value):
            others = dict.fromkeys((2 * value, value + 1, value - 1, value // 2))
            return tuple(other for other in others if place.least <= other != value)
        case float(value) if value:
            return (value / 2, value * 2)
        case float():
            return (OTHER_SHARE if place.is_share else OTHER_AMOUNT,)
        case _:
            return ()


def _places(workload: Workload) -> dict[str, _Place]:
    """Return every key of a workload by its dotted path."""
    cluster = workload.cluster
    found = dict(_keys("cluster", CLUSTER_KEYS, cluster, lambda changed: replace(workload, cluster=changed)))
    for topic in workload.topics:
        found |= dict(_keys(f"topics.{topic.name}", TOPIC_KEYS, topic, _set_topic(workload, topic)))
    for application in workload.applications:
        path, change = f"applications.{application.name}", _set_application(workload, application)
        found |= dict(_keys(path, APPLICATION_KEYS, application, change))
        for name, reached in application.writes:
            found[f"{path}.writes.{name}"] = _Place(reached, False, _set_reach(application, name, change))
        for store in application.stores:
            found |= dict(
                _keys(f"{path}.stores.{store.name}", STORE_KEYS, store, _set_store(application, store, change))
            )
    return found


def _keys(
    path: str, keys: Mapping[str, Key], holder: Any, change: Callable[[Any], Workload]
) -> Iterator[tuple[str, _Place]]:
    for name, key in keys.items():
        attribute = key.attribute

        def set_value(value: Any, attribute: str = attribute) -> Workload:
            return change(replace(holder, **{attribute: value}))

        least = 0 if key.parse is parse_whole else 1
        yield f"{path}.{name}", _Place(getattr(holder, attribute), key.parse is parse_share, set_value, least)


def _set_topic(workload: Workload, topic: TopicSpec) -> Callable[[TopicSpec], Workload]:
    return lambda changed: replace(workload, topics=tuple(changed if one is topic else one for one in workload.topics))


def _set_application(workload: Workload, application: ApplicationSpec) -> Callable[[ApplicationSpec], Workload]:
    return lambda changed: replace(
        workload, applications=tuple(changed if one is application else one for one in workload.applications)
    )


def _set_reach(
    application: ApplicationSpec, topic: str, change: Callable[[ApplicationSpec], Workload]
) -> Callable[[float], Workload]:
    return lambda reached: change(
        replace(
            application,
            writes=tuple((name, reached if name == topic else stated) for name, stated in application.writes),
        )
    )


def _set_store(
    application: ApplicationSpec, store: StoreSpec, change: Callable[[ApplicationSpec], Workload]
) -> Callable[[StoreSpec], Workload]:
    def set_store(changed: StoreSpec) -> Workload:
        stores = tuple(changed if one is store else one for one in application.stores)
        return change(replace(application, stores=stores, state_bytes=sum(map(live_bytes, stores))))

    return set_store


def _derived(workload: Workload, plan: CapacityPlan, places: Mapping[str, _Place]) -> Iterator[Guess]:
    def guess(path: str, value: float, text: str, why: str) -> Guess:
        others = tuple(places[path].change(other) for other in (value / 2, value * 2))
        return Guess(path, others, derived=Assumption(path, text, why))

    for topic, planned in zip(workload.topics, plan.topics, strict=False):
        if topic.batch_records is None and planned.batch_records > 1:
            why = "what producers gather within linger"
            yield guess(
                f"topics.{topic.name}.batch_records", planned.batch_records, number_text(planned.batch_records), why
            )
    yield from _sub_topologies(workload, plan)
    rhythms = work_out_rhythms(workload)
    for application, one in zip(workload.applications, plan.applications, strict=True):
        for path, value, text, why in _worked_out(workload, application, one, rhythms[application.name]):
            yield guess(f"applications.{application.name}.{path}", value, text, why)


def _sub_topologies(workload: Workload, plan: CapacityPlan) -> Iterator[Guess]:
    """Yield the inputs of Kafka Streams applications that may be read together, for fewer tasks."""
    for application, one in zip(workload.applications, plan.applications, strict=True):
        alone = tuple(names[0] for names in application.inputs if len(names) == 1)
        if application.kind is ApplicationKind.STREAMS and len(alone) > 1:
            joined = replace(application, joined=(*application.joined, alone))
            why = "each topic is the input of a sub-topology of its own; lists in the list name those read together"
            path = f"applications.{application.name}.reads"
            other = _set_application(workload, application)(joined)
            yield Guess(path, (other,), derived=Assumption(path, count_text(one.task_count, "task"), why))
        if unstated := find_unstated_writers(workload, application):
            why = f"which sub-topology writes {', '.join(unstated)} is not stated; threads without a task of it do not"
            path = f"applications.{application.name}.written_by"
            other = _set_application(workload, application)(write_by_fewest(workload, application))
            yield Guess(path, (other,), is_choice=True, derived=Assumption(path, EVERY_SUB_TOPOLOGY, why))


def _worked_out(
    workload: Workload, application: ApplicationSpec, plan: ApplicationPlan, rhythm: Rhythm
) -> Iterator[tuple[str, float, str, str]]:
    """Yield what models work out for one application: its key, value, text, and reason."""
    is_restored = application.state_bytes and application.restore_rate is None
    if is_restored and restored_record_bytes(workload, application) is None:
        restoring = instance_restore_rate(workload, application)
        why = f"records of {USUAL_RESTORED_BYTES:g} B; no store or changelog has their size"
        yield "restore_rate", restoring, byte_rate_text(restoring), why
    rate = plan.transactions_per_s
    if not rate:
        return
    period = application.commit_period_ms
    busy = transaction_rate(busy_producer_count(workload, application), period) if period else rate
    if application.transactions_per_s is None and rate < NEARLY_ALL * busy:
        yield "transactions", rate, rate_text(rate), "records arrive at random, and some intervals have none"
    for name, stated in application.writes:
        if (writing := rhythm.of_writers(name)) is None:
            continue
        reached, count = writing.touched[name], writing.reach[name]
        if stated is None and 1 < reached < NEARLY_ALL * count:
            yield f"writes.{name}", reached, number_text(reached), "keys, or full batches, take partitions at random"
    if application.partition_waves is None and plan.partition_waves > 1:
        waves = plan.partition_waves
        yield (
            "partition_waves",
            waves,
            number_text(waves),
            "partitions whose first records come together share a request",
        )
    if application.commits_offsets and application.offsets_per_transaction is None and rhythm.offsets > 1:
        yield "offsets_per_transaction", rhythm.offsets, number_text(rhythm.offsets), "records arrive at random"
