"""Conversion of a cluster image to the records of a snapshot, and the records that a follower must remove."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from eosctl.sandbox.metadata.image import BrokerState, ClusterImage, ImageDelta, PartitionState
from eosctl.sandbox.metadata.records import encode_control, encode_metadata_batch
from eosctl.sandbox.metadata.replay import replay
from eosctl.sandbox.security.mechanisms import SCRAM_TYPES
from eosctl.wire.internal import metadata as records
from eosctl.wire.messages.internal.control.snapshot_footer_record import SnapshotFooterRecord
from eosctl.wire.messages.internal.control.snapshot_header_record import SnapshotHeaderRecord
from eosctl.wire.messages.internal.metadata.client_quota_record import EntityData
from eosctl.wire.messages.internal.metadata.register_broker_record import BrokerEndpoint, BrokerFeature
from eosctl.wire.records.control import ControlType

BATCH_RECORDS: Final = 1024  # Kafka's number of records per batch of a snapshot (RaftSnapshotWriter).
METADATA_VERSION: Final = "metadata.version"

_MECHANISMS: Final = {name: number for number, name in SCRAM_TYPES.items()}


def encode_snapshot(image: ClusterImage, release: str, epoch: int, last_log_ms: int, now_ms: int) -> bytes:
    """Encode an image as a `.checkpoint` file: header, records, and footer (Kafka's `RecordsSnapshotWriter`).

    Args:
        image: The committed image.
        release: The release that determines the record versions.
        epoch: Leader epoch of the last covered record.
        last_log_ms: The latest covered timestamp (ms since the epoch).
        now_ms: Now (ms since the epoch), the timestamp of all records.
    """
    parts = [encode_control(ControlType.SNAPSHOT_HEADER, SnapshotHeaderRecord(0, last_log_ms), 0, epoch, now_ms)]
    contents = list(snapshot_records(image))
    offset = 1
    for start in range(0, len(contents), BATCH_RECORDS):
        batch = contents[start : start + BATCH_RECORDS]
        parts.append(encode_metadata_batch(batch, release, offset, epoch, now_ms))
        offset += len(batch)
    parts.append(encode_control(ControlType.SNAPSHOT_FOOTER, SnapshotFooterRecord(0), offset, epoch, now_ms))
    return b"".join(parts)


def snapshot_records(image: ClusterImage) -> Iterator[Any]:
    """Yield the records that replay into an image, in Kafka's order (`MetadataImage.write`): version first."""
    for name in sorted(image.features, key=lambda name: (name != METADATA_VERSION, name)):
        yield records.FeatureLevelRecord(name, image.features[name])
    if image.zk_migration is not None:
        yield image.zk_migration
    for broker in image.brokers.values():
        yield _registration(broker)
    yield from image.controllers.values()
    for topic in image.topics.values():
        yield records.TopicRecord(topic.name, topic.topic_id)
        for index, state in topic.partitions.items():
            yield _partition(index, topic.topic_id, state)
    for (kind, resource), values in image.configs.items():
        for name, value in values.items():
            yield records.ConfigRecord(kind, resource, name, value)
    for entity, quotas in image.quotas.items():
        for key, quota in quotas.items():
            yield records.ClientQuotaRecord(_entity(entity), key, quota, False)
    if image.next_producer_id:
        yield records.ProducerIdsRecord(-1, -1, image.next_producer_id)
    yield from image.acls.values()
    for (user, mechanism), credential in image.scram.items():
        yield records.UserScramCredentialRecord(
            name=user,
            mechanism=_MECHANISMS[mechanism],
            salt=credential.salt,
            stored_key=credential.stored_key,
            server_key=credential.server_key,
            iterations=credential.iterations,
        )
    yield from image.delegation_tokens.values()


def records_gone(old: ClusterImage, new: ClusterImage) -> Iterator[Any]:
    """Yield the records that remove from an image what a later one does not have (Kafka's `finishSnapshot`)."""
    for topic_id in old.topics_by_id.keys() - new.topics_by_id.keys():
        yield records.RemoveTopicRecord(topic_id)
    for broker_id in old.brokers.keys() - new.brokers.keys():
        yield records.UnregisterBrokerRecord(broker_id, old.brokers[broker_id].broker_epoch)
    for name in old.features.keys() - new.features.keys():
        yield records.FeatureLevelRecord(name, 0)
    for resource, values in old.configs.items():
        for name in values.keys() - new.configs.get(resource, {}).keys():
            yield records.ConfigRecord(*resource, name, None)
    for entity, quotas in old.quotas.items():
        for key in quotas.keys() - new.quotas.get(entity, {}).keys():
            yield records.ClientQuotaRecord(_entity(entity), key, 0.0, True)
    for acl_id in old.acls.keys() - new.acls.keys():
        yield records.RemoveAccessControlEntryRecord(acl_id)
    for user, mechanism in old.scram.keys() - new.scram.keys():
        yield records.RemoveUserScramCredentialRecord(user, _MECHANISMS[mechanism])
    for token_id in old.delegation_tokens.keys() - new.delegation_tokens.keys():
        yield records.RemoveDelegationTokenRecord(token_id)


def image_of(contents: Iterable[Any]) -> ClusterImage:
    """Replay records into a new image."""
    image, delta = ClusterImage(), ImageDelta()
    for record in contents:
        replay(image, record, delta)
    return image


def _entity(entity: frozenset[tuple[str, str | None]]) -> list[EntityData]:
    return [EntityData(kind, name) for kind, name in sorted(entity, key=lambda part: part[0])]


def _registration(broker: BrokerState) -> records.RegisterBrokerRecord:
    return records.RegisterBrokerRecord(
        broker_id=broker.broker_id,
        is_migrating_zk_broker=False,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.broker_epoch,
        end_points=[BrokerEndpoint(end.name, end.host, end.port, end.security_protocol) for end in broker.endpoints],
        features=[BrokerFeature(name, lowest, highest) for name, (lowest, highest) in broker.features.items()],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=broker.log_dirs,
        cordoned_log_dirs=broker.cordoned_log_dirs,
    )


def _partition(index: int, topic_id: bytes, state: PartitionState) -> records.PartitionRecord:
    return records.PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=state.replicas,
        isr=state.isr,
        removing_replicas=state.removing_replicas,
        adding_replicas=state.adding_replicas,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        partition_epoch=state.partition_epoch,
        directories=state.directories,
        leader_recovery_state=state.leader_recovery_state,
        eligible_leader_replicas=state.eligible_leader_replicas or None,
        last_known_elr=state.last_known_elr or None,
    )
