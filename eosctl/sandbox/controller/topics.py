"""CreateTopics, with Kafka's error messages (`ReplicationControlManager`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from eosctl.sandbox.broker.config import check_topic_setting
from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.replica_placer import Candidate, place_replicas
from eosctl.sandbox.metadata.image import MIGRATING_DIRECTORY, TOPIC_RESOURCE, UNASSIGNED_DIRECTORY
from eosctl.sandbox.metadata.records import MAX_BATCH_RECORDS
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.quotas.controller_mutation_quota import ControllerMutationQuota
from eosctl.sandbox.settings import ConfigSource, InvalidSetting
from eosctl.sandbox.turns import SLICE, in_slices
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from eosctl.wire.messages.internal.metadata.config_record import ConfigRecord
from eosctl.wire.messages.internal.metadata.partition_record import PartitionRecord
from eosctl.wire.messages.internal.metadata.topic_record import TopicRecord
from eosctl.wire.uuid import ZERO_UUID

FIRST_STRICT_VERSION = 6  # Earlier clients are only throttled by `controller_mutation_rate`.
MAX_NAME_LENGTH = 249
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


TOO_LARGE = "Unable to perform excessively large batch operation."
TOO_MANY = "Excessively large number of partitions per request."


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """A request is rejected with an error."""

    def __init__(self, error: ErrorCode, message: str | None = None) -> None:
        super().__init__(error, message)
        self.error = error
        self.message = message


class _Planned(NamedTuple):
    """A validated topic."""

    records: list[Any]
    topic_id: bytes
    partition_count: int
    replication_factor: int


def topic_name_problem(name: str) -> str | None:
    """Return why a topic name is invalid; None if it is valid."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > MAX_NAME_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    if not _LEGAL_NAME.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def create_topics(controller: Controller, context: RequestContext, request: CreateTopicsRequest) -> Iterator[None]:
    """Create topics in steps. Each has its own result, except those that do not fit into one batch together."""
    default_count = controller.config.get_int("num.partitions")
    if sum(_wanted_count(topic, default_count) for topic in request.topics) > MAX_BATCH_RECORDS:
        _refuse_all(context, request, TOO_MANY)
        return
    counts = Counter(topic.name for topic in request.topics)
    colliding = _names_that_collide(controller)
    quota = controller.mutation_quotas.quota_for(context, FIRST_STRICT_VERSION)
    defaults = _default_configs(controller)
    results: dict[str, CreatableTopicResult] = {}
    records: list[Any] = []
    waiting = 0
    for topic in request.topics:
        if waiting >= SLICE:
            waiting = 0
            yield
        waiting += 1
        if counts[topic.name] > 1:
            results[topic.name] = _refused_topic(topic.name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            continue
        try:
            planned = yield from _plan_topic(controller, topic, colliding, quota)
        except Refused as refused:
            results[topic.name] = _refused_topic(topic.name, refused.error, refused.message)
            continue
        records += planned.records
        waiting += planned.partition_count % SLICE
        results[topic.name] = CreatableTopicResult(
            name=topic.name,
            topic_id=planned.topic_id,  # Applies to validate-only requests too, as in Kafka.
            error_code=0,
            error_message=None,
            num_partitions=planned.partition_count,
            replication_factor=planned.replication_factor,
            configs=_with_overrides(defaults, {config.name: config.value or "" for config in topic.configs}),
        )
    if len(records) > MAX_BATCH_RECORDS:
        _refuse_all(context, request, TOO_LARGE)
        return
    topics = list(results.values())
    yield from controller.write_in_turns(
        [] if request.validate_only else records,
        lambda: context.reply(CreateTopicsResponse(quota.throttle_ms(), topics)),
    )


def _refused_topic(name: str, error: ErrorCode, message: str | None) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name,
        topic_id=ZERO_UUID,
        error_code=error,
        error_message=message,
        num_partitions=-1,
        replication_factor=-1,
        configs=(),
    )


def _plan_topic(
    controller: Controller, topic: CreatableTopic, colliding: Mapping[str, str], quota: ControllerMutationQuota
) -> Generator[None, None, _Planned]:
    _check_name(controller, topic.name, colliding)
    for config in topic.configs:
        try:
            check_topic_setting(controller.config.table.topic, config.name, config.value)
        except InvalidSetting as error:
            raise Refused(ErrorCode.INVALID_CONFIG, str(error)) from None
    if topic.assignments:
        assignments = _manual_assignments(controller, topic)
    else:
        assignments = yield from in_slices(_placed(controller, topic.num_partitions, topic.replication_factor))
    if not quota.record(len(assignments)):
        raise Refused(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
    topic_id = new_topic_id(controller)
    records: list[Any] = [TopicRecord(topic.name, topic_id)]
    records += [ConfigRecord(TOPIC_RESOURCE, topic.name, config.name, config.value) for config in topic.configs]
    records += yield from in_slices(
        partition_record(controller, topic_id, index, replicas) for index, replicas in enumerate(assignments)
    )
    return _Planned(records, topic_id, len(assignments), len(assignments[0]))


def _names_that_collide(controller: Controller) -> dict[str, str]:
    """Return the topics with `.` or `_` by the name that both characters share in metrics."""
    found: dict[str, str] = {}
    for name in controller.image.topics:
        if "." in name or "_" in name:
            found.setdefault(name.replace(".", "_"), name)
    return found


def _check_name(controller: Controller, name: str, colliding: Mapping[str, str]) -> None:
    problem = topic_name_problem(name)
    if problem is not None:
        raise Refused(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    if name in controller.image.topics:
        raise Refused(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    collision = colliding.get(name.replace(".", "_"))
    if collision is not None and ("." in name or "." in collision):
        raise Refused(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: {collision}",
        )


def _placed(controller: Controller, partition_count: int, replication_factor: int) -> Iterator[tuple[int, ...]]:
    if partition_count < -1 or partition_count == 0:
        raise Refused(ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.")
    if replication_factor < -1 or replication_factor == 0:
        raise Refused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if partition_count == -1:
        partition_count = controller.config.get_int("num.partitions")
    if replication_factor == -1:
        replication_factor = controller.config.get_int("default.replication.factor")
    return place(controller, partition_count, replication_factor)


def place(controller: Controller, partition_count: int, replication_factor: int) -> Iterator[tuple[int, ...]]:
    """Return the brokers of each new partition."""
    brokers = controller.image.brokers.values()
    candidates = [Candidate(broker.broker_id, broker.rack, broker.fenced) for broker in brokers]
    if len(candidates) < replication_factor:
        raise Refused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): The target replication factor of "
            f"{replication_factor} cannot be reached because only {len(candidates)} broker(s) are registered"
            f"{_or_cordoned(controller)}.",
        )
    if all(candidate.fenced for candidate in candidates):
        raise Refused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): All brokers are currently fenced.",
        )
    return place_replicas(candidates, partition_count, replication_factor, controller.runtime.random)


def _or_cordoned(controller: Controller) -> str:
    """Return the part that 4.3 adds to the reason, since log directories can be cordoned (KIP-1066)."""
    return "" if controller.emulation.is_3_9 else " or some brokers have all their log directories cordoned"


def _manual_assignments(controller: Controller, topic: CreatableTopic) -> list[tuple[int, ...]]:
    if topic.replication_factor != -1:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        )
    if topic.num_partitions != -1:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        )
    given: dict[int, tuple[int, ...]] = {}
    for assignment in topic.assignments:
        index = assignment.partition_index
        if index in given:
            text = f"Found multiple manual partition assignments for partition {index}"
            raise Refused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
        given[index] = tuple(assignment.broker_ids)
    size = None
    for replicas in given.values():
        check_assignment(controller, replicas, size)
        size = len(replicas)
    if sorted(given) != list(range(len(given))):
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [given[index] for index in range(len(given))]


def check_assignment(controller: Controller, replicas: Sequence[int], size: int | None) -> None:
    """Reject a manual replica assignment that is empty, has unknown or duplicate brokers, or differs in size."""
    if not replicas:
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, "The manual partition assignment includes an empty replica list."
        )
    for broker in sorted(replicas):
        if broker not in controller.image.brokers:
            raise Refused(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"The manual partition assignment includes broker {broker}, but no such broker is registered.",
            )
        if list(replicas).count(broker) > 1:
            raise Refused(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"The manual partition assignment includes the broker {broker} more than once.",
            )
    if size is not None and len(replicas) != size:
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but this is not "
            f"consistent with previous partitions, which have {size} replica(s).",
        )


def new_topic_id(controller: Controller) -> bytes:
    """Return a random topic id; like Kafka's, its text form does not start with a dash."""
    while True:
        raw = bytearray(controller.runtime.random.randbytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        topic_id = bytes(raw)
        if topic_id not in controller.image.topics_by_id and raw[0] >> 2 != 0x3E:
            return topic_id


def partition_record(controller: Controller, topic_id: bytes, index: int, replicas: Sequence[int]) -> PartitionRecord:
    """Return the record of a new partition, led by the first of its active brokers."""
    isr = [broker for broker in replicas if controller.is_broker_active(broker)]
    if not isr:
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"All brokers specified in the manual partition assignment for partition {index} are fenced or in "
            "controlled shutdown.",
        )
    directories = [default_directory(controller, broker) for broker in replicas]
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=isr,
        removing_replicas=[],
        adding_replicas=[],
        leader=isr[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=directories,
    )


def default_directory(controller: Controller, broker_id: int) -> bytes:
    """Return the directory of a new replica: the broker's only one, else unassigned until the broker reports it."""
    state = controller.image.brokers.get(broker_id)
    if state is None or not state.log_dirs:
        return MIGRATING_DIRECTORY
    return state.log_dirs[0] if len(state.log_dirs) == 1 else UNASSIGNED_DIRECTORY


def _default_configs(controller: Controller) -> list[CreatableTopicConfigs]:
    """Return the settings of a topic without any of its own, by name."""
    found = []
    for name, setting in sorted(controller.config.table.topic.items()):
        if not setting.internal:
            value = controller.config.topic_value({}, name)
            source = next((entry.source for entry in controller.config.topic_entries({}, name)), ConfigSource.DEFAULT)
            found.append(CreatableTopicConfigs(name, value, False, source, False))
    return found


def _with_overrides(
    defaults: Sequence[CreatableTopicConfigs], overrides: Mapping[str, str]
) -> Sequence[CreatableTopicConfigs]:
    if not overrides:
        return defaults
    return [
        CreatableTopicConfigs(config.name, overrides[config.name], False, ConfigSource.DYNAMIC_TOPIC, False)
        if config.name in overrides
        else config
        for config in defaults
    ]


def _wanted_count(topic: CreatableTopic, default_count: int) -> int:
    if topic.assignments:
        return len(topic.assignments)
    # Negative values are rejected separately.
    return default_count if topic.num_partitions == -1 else max(topic.num_partitions, 0)


def _refuse_all(context: RequestContext, request: CreateTopicsRequest, text: str) -> None:
    refused = [_refused_topic(topic.name, ErrorCode.POLICY_VIOLATION, text) for topic in request.topics]
    context.reply(CreateTopicsResponse(0, refused))
