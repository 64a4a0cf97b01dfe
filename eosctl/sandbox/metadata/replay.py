"""Application of metadata records to the cluster image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from eosctl.model.transaction import topic_partition
from eosctl.sandbox.metadata.image import (
    NO_LEADER_CHANGE,
    TOPIC_RESOURCE,
    BrokerState,
    ClusterImage,
    ImageDelta,
    ListenerEndpoint,
    PartitionState,
    RemovedTopic,
    TopicState,
)
from eosctl.sandbox.security.mechanisms import SCRAM_TYPES, ScramCredential
from eosctl.sandbox.turns import SLICE
from eosctl.wire.internal import metadata as records


def replay(image: ClusterImage, record: Any, delta: ImageDelta) -> None:
    """Apply a record; ignore unknown types."""
    handler = _HANDLERS.get(type(record).__name__)
    if handler is not None:
        handler(image, record, delta)
        image.changed()


def replay_in_turns(image: ClusterImage, replayed: Sequence[Any], delta: ImageDelta) -> Iterator[None]:
    """Apply records, with steps between topics: readers of the image see all partitions of a topic or none."""
    topic_id, waiting = None, 0
    for record in replayed:
        waiting += 1
        following = getattr(record, "topic_id", topic_id)
        if waiting > SLICE and following != topic_id:
            waiting = 0
            yield
        topic_id = following
        replay(image, record, delta)


def _register_broker(image: ClusterImage, record: records.RegisterBrokerRecord, delta: ImageDelta) -> None:
    image.brokers[record.broker_id] = BrokerState(
        broker_id=record.broker_id,
        broker_epoch=record.broker_epoch,
        incarnation_id=record.incarnation_id,
        endpoints=tuple(
            ListenerEndpoint(end.name, end.host, end.port, end.security_protocol) for end in record.end_points
        ),
        rack=record.rack,
        fenced=record.fenced,
        in_controlled_shutdown=record.in_controlled_shutdown,
        log_dirs=tuple(record.log_dirs),
        features={
            feature.name: (feature.min_supported_version, feature.max_supported_version) for feature in record.features
        },
        cordoned_log_dirs=_directories(record.cordoned_log_dirs),
    )
    delta.brokers.add(record.broker_id)


def _directories(listed: Sequence[bytes] | None) -> tuple[bytes, ...] | None:
    return None if listed is None else tuple(listed)


def _unregister_broker(image: ClusterImage, record: records.UnregisterBrokerRecord, delta: ImageDelta) -> None:
    image.brokers.pop(record.broker_id, None)
    delta.brokers.add(record.broker_id)


def _fence(image: ClusterImage, broker_id: int, fenced: bool, delta: ImageDelta) -> None:
    broker = image.brokers.get(broker_id)
    if broker is not None:
        image.brokers[broker_id] = broker._replace(fenced=fenced)
        delta.brokers.add(broker_id)


def _fence_broker(image: ClusterImage, record: records.FenceBrokerRecord, delta: ImageDelta) -> None:
    _fence(image, record.id, True, delta)


def _unfence_broker(image: ClusterImage, record: records.UnfenceBrokerRecord, delta: ImageDelta) -> None:
    _fence(image, record.id, False, delta)


def _change_registration(
    image: ClusterImage, record: records.BrokerRegistrationChangeRecord, delta: ImageDelta
) -> None:
    broker = image.brokers.get(record.broker_id)
    if broker is None:
        return
    if record.fenced:  # 1 fences, -1 unfences, 0 leaves it unchanged.
        broker = broker._replace(fenced=record.fenced > 0)
    if record.in_controlled_shutdown:
        broker = broker._replace(in_controlled_shutdown=record.in_controlled_shutdown > 0)
    if record.log_dirs:
        broker = broker._replace(log_dirs=tuple(record.log_dirs))
    if record.cordoned_log_dirs is not None:
        broker = broker._replace(cordoned_log_dirs=tuple(record.cordoned_log_dirs))
    image.brokers[record.broker_id] = broker
    delta.brokers.add(record.broker_id)


def _topic(image: ClusterImage, record: records.TopicRecord, delta: ImageDelta) -> None:
    topic = TopicState(record.name, record.topic_id, {})
    image.topics[record.name] = topic
    image.topics_by_id[record.topic_id] = topic


def _remove_topic(image: ClusterImage, record: records.RemoveTopicRecord, delta: ImageDelta) -> None:
    topic = image.topics_by_id.pop(record.topic_id, None)
    if topic is not None:
        image.topics.pop(topic.name, None)
        image.configs.pop((TOPIC_RESOURCE, topic.name), None)
        for index in topic.partitions:
            delta.partitions.pop(topic_partition(topic.name, index), None)
        delta.removed_topics.append(RemovedTopic(topic.name, topic.topic_id, len(topic.partitions)))


def _partition(image: ClusterImage, record: records.PartitionRecord, delta: ImageDelta) -> None:
    topic = image.topics_by_id.get(record.topic_id)
    if topic is None:
        return
    topic.partitions[record.partition_id] = PartitionState(
        replicas=tuple(record.replicas),
        isr=tuple(record.isr),
        leader=record.leader,
        leader_epoch=record.leader_epoch,
        partition_epoch=record.partition_epoch,
        removing_replicas=tuple(record.removing_replicas or ()),
        adding_replicas=tuple(record.adding_replicas or ()),
        leader_recovery_state=record.leader_recovery_state,
        eligible_leader_replicas=tuple(record.eligible_leader_replicas or ()),
        last_known_elr=tuple(record.last_known_elr or ()),
        directories=tuple(record.directories or ()),
    )
    delta.partitions[topic_partition(topic.name, record.partition_id)] = None


def _partition_change(image: ClusterImage, record: records.PartitionChangeRecord, delta: ImageDelta) -> None:
    topic = image.topics_by_id.get(record.topic_id)
    state = topic.partitions.get(record.partition_id) if topic is not None else None
    if topic is None or state is None:
        return
    topic.partitions[record.partition_id] = merge_change(state, record)
    delta.partitions[topic_partition(topic.name, record.partition_id)] = None


def merge_change(state: PartitionState, record: records.PartitionChangeRecord) -> PartitionState:
    """Apply a change; setting a leader, even the same one, starts a new leader epoch."""
    changes: dict[str, Any] = {"partition_epoch": state.partition_epoch + 1}
    if record.leader != NO_LEADER_CHANGE:
        changes |= {"leader": record.leader, "leader_epoch": state.leader_epoch + 1}
    for field in (
        "replicas",
        "isr",
        "removing_replicas",
        "adding_replicas",
        "eligible_leader_replicas",
        "last_known_elr",
        "directories",
    ):
        value = getattr(record, field)
        if value is not None:
            changes[field] = tuple(value)
    if record.leader_recovery_state >= 0:
        changes["leader_recovery_state"] = record.leader_recovery_state
    return state._replace(**changes)


def _config(image: ClusterImage, record: records.ConfigRecord, delta: ImageDelta) -> None:
    key = (record.resource_type, record.resource_name)
    values = dict(image.configs.get(key, {}))
    if record.value is None:
        values.pop(record.name, None)
    else:
        values[record.name] = record.value
    if values:
        image.configs[key] = values
    else:
        image.configs.pop(key, None)
    delta.configs.add(key)


def _feature(image: ClusterImage, record: records.FeatureLevelRecord, delta: ImageDelta) -> None:
    if record.feature_level > 0:
        image.features[record.name] = record.feature_level
    else:
        image.features.pop(record.name, None)


def _producer_ids(image: ClusterImage, record: records.ProducerIdsRecord, delta: ImageDelta) -> None:
    image.next_producer_id = record.next_producer_id


def _add_acl(image: ClusterImage, record: records.AccessControlEntryRecord, delta: ImageDelta) -> None:
    image.acls[record.id] = record
    delta.acls = True


def _remove_acl(image: ClusterImage, record: records.RemoveAccessControlEntryRecord, delta: ImageDelta) -> None:
    image.acls.pop(record.id, None)
    delta.acls = True


def _scram(image: ClusterImage, record: records.UserScramCredentialRecord, delta: ImageDelta) -> None:
    image.scram[record.name, SCRAM_TYPES[record.mechanism]] = ScramCredential(
        record.salt, record.stored_key, record.server_key, record.iterations
    )


def _remove_scram(image: ClusterImage, record: records.RemoveUserScramCredentialRecord, delta: ImageDelta) -> None:
    image.scram.pop((record.name, SCRAM_TYPES[record.mechanism]), None)


def _quota(image: ClusterImage, record: records.ClientQuotaRecord, delta: ImageDelta) -> None:
    image.quota_generation += 1
    entity = frozenset((part.entity_type, part.entity_name) for part in record.entity)
    values = dict(image.quotas.get(entity, {}))
    if record.remove:
        values.pop(record.key, None)
    else:
        values[record.key] = record.value
    if values:
        image.quotas[entity] = values
    else:
        image.quotas.pop(entity, None)


def _register_controller(image: ClusterImage, record: records.RegisterControllerRecord, delta: ImageDelta) -> None:
    image.controllers[record.controller_id] = record


def _delegation_token(image: ClusterImage, record: records.DelegationTokenRecord, delta: ImageDelta) -> None:
    image.delegation_tokens[record.token_id] = record


def _remove_delegation_token(
    image: ClusterImage, record: records.RemoveDelegationTokenRecord, delta: ImageDelta
) -> None:
    image.delegation_tokens.pop(record.token_id, None)


def _zk_migration(image: ClusterImage, record: records.ZkMigrationStateRecord, delta: ImageDelta) -> None:
    image.zk_migration = record


def _clear_elr(image: ClusterImage, record: records.ClearElrRecord, delta: ImageDelta) -> None:
    """Clear the eligible replicas of a topic, or of all topics (`ReplicationControlManager.replay`)."""
    if record.topic_name:
        named = image.topics.get(record.topic_name)
        topics = [] if named is None else [named]
    else:
        topics = list(image.topics.values())
    for topic in topics:
        for index, state in topic.partitions.items():
            if state.eligible_leader_replicas or state.last_known_elr:
                topic.partitions[index] = state._replace(eligible_leader_replicas=(), last_known_elr=())
                delta.partitions[topic_partition(topic.name, index)] = None


_HANDLERS: dict[str, Callable[[ClusterImage, Any, ImageDelta], None]] = {
    "RegisterBrokerRecord": _register_broker,
    "UnregisterBrokerRecord": _unregister_broker,
    "FenceBrokerRecord": _fence_broker,
    "UnfenceBrokerRecord": _unfence_broker,
    "BrokerRegistrationChangeRecord": _change_registration,
    "TopicRecord": _topic,
    "RemoveTopicRecord": _remove_topic,
    "PartitionRecord": _partition,
    "PartitionChangeRecord": _partition_change,
    "ConfigRecord": _config,
    "FeatureLevelRecord": _feature,
    "ProducerIdsRecord": _producer_ids,
    "AccessControlEntryRecord": _add_acl,
    "RemoveAccessControlEntryRecord": _remove_acl,
    "UserScramCredentialRecord": _scram,
    "RemoveUserScramCredentialRecord": _remove_scram,
    "ClientQuotaRecord": _quota,
    "RegisterControllerRecord": _register_controller,
    "DelegationTokenRecord": _delegation_token,
    "RemoveDelegationTokenRecord": _remove_delegation_token,
    "ZkMigrationStateRecord": _zk_migration,
    "ClearElrRecord": _clear_elr,
}
