"""CreatePartitions, with Kafka's error messages (`ReplicationControlManager`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.topics import Refused, check_assignment, partition_record, place
from eosctl.sandbox.metadata.records import MAX_BATCH_RECORDS
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.quotas.controller_mutation_quota import ControllerMutationQuota
from eosctl.sandbox.turns import SLICE, in_slices
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)

FIRST_STRICT_VERSION = 3  # Earlier clients are only throttled by `controller_mutation_rate`.


def create_partitions(
    controller: Controller, context: RequestContext, request: CreatePartitionsRequest
) -> Iterator[None]:
    """Add partitions to topics, in steps.

    When the partitions do not fit into one batch of the metadata log, the response is an unknown error but those that
    fit are added, as in Kafka (`ReplicationControlManager.createPartitions` fills a bounded list).
    """
    quota = controller.mutation_quotas.quota_for(context, FIRST_STRICT_VERSION)
    counts = Counter(topic.name for topic in request.topics)
    results: dict[str, CreatePartitionsTopicResult] = {}
    records: list[Any] = []
    waiting = 0
    for topic in request.topics:
        if waiting >= SLICE:
            waiting = 0
            yield
        waiting += 1
        if counts[topic.name] > 1:
            results[topic.name] = CreatePartitionsTopicResult(
                topic.name, ErrorCode.INVALID_REQUEST, "Duplicate topic name."
            )
            continue
        remaining = MAX_BATCH_RECORDS - len(records)
        try:
            planned = yield from _plan_growth(controller, topic, remaining + 1, quota)
            records += planned[:remaining]
            waiting += len(planned) % SLICE
            fits = len(planned) <= remaining
            error = ErrorCode.NONE if fits else ErrorCode.UNKNOWN_SERVER_ERROR
            results[topic.name] = CreatePartitionsTopicResult(topic.name, error)
        except Refused as refused:
            results[topic.name] = CreatePartitionsTopicResult(topic.name, refused.error, refused.message)
    topics = list(results.values())
    yield from controller.write_in_turns(
        [] if request.validate_only else records,
        lambda: context.reply(CreatePartitionsResponse(quota.throttle_ms(), topics)),
    )


def _plan_growth(
    controller: Controller, topic: CreatePartitionsTopic, limit: int, quota: ControllerMutationQuota
) -> Generator[None, None, list[Any]]:
    """Plan the partitions to add, at most `limit`, since a request may ask for two billion."""
    known = controller.image.topics.get(topic.name)
    if known is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    present = len(known.partitions)
    if topic.count == present:
        raise Refused(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if topic.count < present:
        raise Refused(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {topic.name} currently has {present} partition(s); {topic.count} would not be an increase.",
        )
    added = topic.count - present
    size = len(known.partitions[0].replicas)
    if topic.assignments is not None and len(topic.assignments) != added:
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {added} additional partition(s), but only {len(topic.assignments)} assignment(s) "
            "were specified.",
        )
    if not quota.record(added):
        raise Refused(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
    if topic.assignments is not None:
        assignments = [tuple(assignment.broker_ids) for assignment in topic.assignments]
        for replicas in assignments:
            check_assignment(controller, replicas, size)
    else:
        assignments = yield from in_slices(place(controller, min(added, limit), size))
    return (
        yield from in_slices(
            partition_record(controller, known.topic_id, present + index, replicas)
            for index, replicas in enumerate(assignments)
        )
    )
