"""Settings of brokers and topics (DescribeConfigs)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from eosctl.collect.answered import unanswered
from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code, in_batches
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.setting import Setting, SettingSource
from eosctl.model.snapshot import Broker, Topic
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_configs

TOPIC_RESOURCE: Final = 2
BROKER_RESOURCE: Final = 4
GROUP_RESOURCE: Final = 32
TOPICS_PER_REQUEST: Final = 200

# ConfigSource of Kafka's DescribeConfigsResponse, version 1 and later.
_SOURCES: Final = {
    1: SettingSource.DYNAMIC_TOPIC,
    2: SettingSource.DYNAMIC_BROKER,
    3: SettingSource.DYNAMIC_DEFAULT_BROKER,
    4: SettingSource.STATIC_BROKER,
    5: SettingSource.DEFAULT,
    7: SettingSource.DYNAMIC_CLIENT_METRICS,
    8: SettingSource.DYNAMIC_GROUP,
}


async def collect_broker_settings(reader: ReadOnly, brokers: Sequence[Broker]) -> Probed[tuple[Broker, ...]]:
    """Query every reachable broker for its own settings, since only the broker itself knows its static ones."""
    reachable = [broker for broker in brokers if broker.reachable]
    answers = await asyncio.gather(
        *(
            _describe(reader, broker.node_id, BROKER_RESOURCE, [str(broker.node_id)], EvidenceKind.BROKER_CONFIGS)
            for broker in reachable
        )
    )
    settings = {
        broker.node_id: answer.value.get(str(broker.node_id), ())
        for broker, answer in zip(reachable, answers, strict=True)
    }
    gaps = tuple(gap for answer in answers for gap in answer.gaps)
    return Probed(tuple(replace(b, settings=settings.get(b.node_id, ())) for b in brokers), gaps)


async def collect_topic_settings(reader: ReadOnly, topics: Sequence[Topic]) -> Probed[tuple[Topic, ...]]:
    """Query one broker for the settings of all topics."""
    names = [topic.name for topic in topics]
    answers = await asyncio.gather(
        *(
            _describe(reader, None, TOPIC_RESOURCE, batch, EvidenceKind.TOPIC_CONFIGS)
            for batch in in_batches(names, TOPICS_PER_REQUEST)
        )
    )
    settings = {name: found for answer in answers for name, found in answer.value.items()}
    gaps = tuple(gap for answer in answers for gap in answer.gaps)
    return Probed(tuple(replace(topic, settings=settings.get(topic.name, ())) for topic in topics), gaps)


async def collect_group_settings(
    reader: ReadOnly, group_ids: Sequence[str], kind: EvidenceKind
) -> Probed[dict[str, tuple[Setting, ...]]]:
    """Query one broker for the settings of groups; `kind` is that of the gaps."""
    answers = await asyncio.gather(
        *(_describe(reader, None, GROUP_RESOURCE, batch, kind) for batch in in_batches(group_ids, TOPICS_PER_REQUEST))
    )
    settings = {name: found for answer in answers for name, found in answer.value.items()}
    return Probed(settings, tuple(gap for answer in answers for gap in answer.gaps))


async def _describe(
    reader: ReadOnly, node_id: int | None, resource_type: int, names: Sequence[str], kind: EvidenceKind
) -> Probed[dict[str, tuple[Setting, ...]]]:
    request = describe_configs.DescribeConfigsRequest(
        resources=[
            describe_configs.DescribeConfigsResource(resource_type, name, configuration_keys=None) for name in names
        ]
    )
    several = "settings of {} groups" if resource_type == GROUP_RESOURCE else "{} topics"
    prefix = "broker " if resource_type == BROKER_RESOURCE else ""
    subject = f"broker {node_id}" if resource_type == BROKER_RESOURCE else several.format(len(names))
    if node_id is None:
        answer, lost = await attempt(kind, subject, lambda: reader.request_any(ApiKey.DESCRIBE_CONFIGS, request))
    else:
        answer, lost = await attempt(kind, subject, lambda: reader.request(node_id, ApiKey.DESCRIBE_CONFIGS, request))
    if answer is None:
        return Probed({}, lost)
    origin = "DescribeConfigs" if node_id is None else f"DescribeConfigs broker {node_id}"
    found: dict[str, tuple[Setting, ...]] = {}
    gaps: list[EvidenceGap] = []
    for result in answer.results:
        subject = f"{prefix}{result.resource_name}"
        if result.error_code != ErrorCode.NONE:
            gaps.append(gap_from_code(kind, subject, result.error_code, result.error_message or ""))
            continue
        found[result.resource_name] = tuple(
            sorted((_setting(entry, origin) for entry in result.configs), key=lambda s: s.name)
        )
    answered = {result.resource_name for result in answer.results}
    return Probed(found, (*gaps, *unanswered(kind, names, answered, lambda name: f"{prefix}{name}")))


def _setting(entry: Any, origin: str) -> Setting:
    source = _SOURCES.get(entry.config_source, SettingSource.UNKNOWN)
    if entry.config_source < 0 and entry.is_default:
        source = SettingSource.DEFAULT
    return Setting(
        name=entry.name,
        # Brokers hide sensitive values; mask them here too, in case a broker does not.
        value=None if entry.is_sensitive else entry.value,
        source=source,
        origin=origin,
        read_only=entry.read_only,
        sensitive=entry.is_sensitive,
    )
