"""DescribeConfigs (key 32, versions 1 to 4; 3.9 serves 0 to 4): settings and sources (KIP-133, KIP-226, KIP-569).

- A broker describes only itself among the brokers; the empty name is the cluster's dynamic defaults.
- Synonyms and documentation are returned on request; the documentation has the facts of the settings table.
- Groups have settings that override the broker's (KIP-848). Client metrics have settings of their own.
- Broker loggers have levels instead of settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from eosctl.sandbox.api.broker_loggers import LOGGER_RESOURCE, Refusal, describe_loggers
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.config import ConfigEntry
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.controller.topics import topic_name_problem
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.group_settings import broker_name, known_names, setting_of
from eosctl.sandbox.metadata import image
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access, config_denial
from eosctl.sandbox.settings import ConfigSource, ConfigType, Setting, is_integer
from eosctl.sandbox.telemetry.subscription import CLIENT_METRICS_RESOURCE, SETTINGS
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

UNTYPED = 0
Configs = list[DescribeConfigsResourceResult]


class Details(NamedTuple):
    """What a client requests of each setting."""

    synonyms: bool = False
    documentation: bool = False


NO_DETAILS = Details()


def handle(broker: BrokerServices, context: RequestContext, request: DescribeConfigsRequest) -> None:
    """Describe every resource independently."""
    results = [
        _describe(broker, resource, Details(request.include_synonyms, request.include_documentation))
        for resource in request.resources
    ]
    context.reply(DescribeConfigsResponse(0, results))


def _describe(broker: BrokerServices, resource: DescribeConfigsResource, details: Details) -> DescribeConfigsResult:
    kind, name = resource.resource_type, resource.resource_name
    found: Configs | Refusal
    if kind == image.TOPIC_RESOURCE:
        found = _describe_topic(broker, resource, details)
    elif kind == image.BROKER_RESOURCE:
        found = _describe_broker(broker, resource, details)
    elif kind == LOGGER_RESOURCE:
        found = describe_loggers(broker, name, resource.configuration_keys)
    elif kind == image.GROUP_RESOURCE and not broker.emulation.is_3_9:
        found = _group_configs(broker, resource, details) if name else _unnamed("Group name")
    elif kind == CLIENT_METRICS_RESOURCE:
        found = _client_metrics(broker, resource, details) if name else _unnamed("Client metrics subscription name")
    else:
        found = ErrorCode.INVALID_REQUEST, kafka_text(ErrorCode.INVALID_REQUEST)
    if isinstance(found, list):
        return DescribeConfigsResult(ErrorCode.NONE, "", kind, name, found)
    return DescribeConfigsResult(*found, kind, name, [])


def _unnamed(what: str) -> Refusal:
    return ErrorCode.INVALID_REQUEST, f"{what} must not be empty"


def _describe_topic(broker: BrokerServices, resource: DescribeConfigsResource, details: Details) -> Configs | Refusal:
    problem = topic_name_problem(resource.resource_name)
    if problem is not None:
        return ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}"
    if resource.resource_name not in broker.metadata.topics:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ""
    return _topic_configs(broker, resource, details)


def _describe_broker(broker: BrokerServices, resource: DescribeConfigsResource, details: Details) -> Configs | Refusal:
    name = resource.resource_name
    if not name:
        return _cluster_defaults(broker, resource, details)
    if name == str(broker.node_id):
        return _broker_configs(broker, resource, details)
    text = (
        f"Unexpected broker id, expected {broker.node_id} or empty string, but received {name}"
        if is_integer(name)
        else f"Broker id must be an integer, but it is: {name}"
    )
    return ErrorCode.INVALID_REQUEST, text


def _wanted(resource: DescribeConfigsResource, names: Iterable[str]) -> list[str]:
    keys = resource.configuration_keys
    return sorted(name for name in names if not keys or name in keys)


def _topic_configs(broker: BrokerServices, resource: DescribeConfigsResource, details: Details) -> Configs:
    overrides = broker.metadata.config(image.TOPIC_RESOURCE, resource.resource_name)
    table = broker.config.table.topic
    found = []
    for name in _wanted(resource, table):
        setting = table[name]
        if setting.internal:
            continue
        entries = broker.config.topic_entries(overrides, name)
        value = broker.config.topic_value(overrides, name)
        source = entries[0].source if entries else ConfigSource.DEFAULT
        found.append(_result(setting, ConfigEntry(name, value, source), False, entries, details))
    return found


def _broker_configs(broker: BrokerServices, resource: DescribeConfigsResource, details: Details) -> Configs:
    table = broker.config.table.broker
    names = {name for name, setting in table.items() if not setting.internal}
    names |= set(broker.metadata.config(image.BROKER_RESOURCE, resource.resource_name))
    found = []
    for name in _wanted(resource, names):
        setting = table.get(name)
        entries = broker.config.entries(name)
        entry = entries[0] if entries else ConfigEntry(name, None, ConfigSource.DEFAULT)
        read_only = setting is not None and not setting.is_dynamic
        found.append(_result(setting, entry, read_only, entries, details))
    return found


def _cluster_defaults(broker: BrokerServices, resource: DescribeConfigsResource, details: Details) -> Configs:
    values = broker.metadata.config(image.BROKER_RESOURCE, "")
    table = broker.config.table.broker
    found = []
    for name in _wanted(resource, values):
        entry = ConfigEntry(name, values[name], ConfigSource.DYNAMIC_DEFAULT_BROKER)
        found.append(_result(table.get(name), entry, False, (entry,), details))
    return found


def _client_metrics(broker: BrokerServices, resource: DescribeConfigsResource, details: Details) -> Configs:
    own = broker.metadata.config(resource.resource_type, resource.resource_name)
    if broker.emulation.is_3_9:  # All settings, without defaults, types, and synonyms.
        entries = [ConfigEntry(name, value, ConfigSource.DYNAMIC_CLIENT_METRICS) for name, value in sorted(own.items())]
        return [
            replace(_result(SETTINGS[entry.name], entry, False, (), NO_DETAILS), config_type=UNTYPED)
            for entry in entries
        ]
    found = []
    for name in _wanted(resource, SETTINGS):
        setting = SETTINGS[name]
        if name in own:
            entry = ConfigEntry(name, _parsed(setting, own[name]), ConfigSource.DYNAMIC_CLIENT_METRICS)
            found.append(_result(setting, entry, False, (entry,), details))
        else:
            found.append(_result(setting, ConfigEntry(name, setting.default, ConfigSource.DEFAULT), False, (), details))
    return found


def _group_configs(broker: BrokerServices, resource: DescribeConfigsResource, details: Details) -> Configs:
    own = broker.metadata.config(image.GROUP_RESOURCE, resource.resource_name)
    found = []
    for name in known_names(resource.configuration_keys, broker.config.table.broker):
        setting = setting_of(name, broker.config.table.broker)
        defaults = broker.config.entries(broker_name(name)) or [
            ConfigEntry(name, setting.default, ConfigSource.DEFAULT)
        ]
        entries = list(defaults)
        if name in own:
            entries.insert(0, ConfigEntry(name, _parsed(setting, own[name]), ConfigSource.DYNAMIC_GROUP))
        entry = ConfigEntry(name, entries[0].value, entries[0].source)
        found.append(_result(setting, entry, False, entries, details))
    return found


def _parsed(setting: Setting, value: str) -> str:
    """Return a stored value as Kafka prints it after parsing: without surrounding space."""
    items = value.split(",") if setting.type is ConfigType.LIST else [value]
    return ",".join(item.strip() for item in items)


def _result(
    setting: Setting | None, entry: ConfigEntry, read_only: bool, entries: Iterable[ConfigEntry], details: Details
) -> DescribeConfigsResourceResult:
    sensitive = setting is None or setting.type is ConfigType.PASSWORD
    kind = setting.type if setting is not None else 0
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=None if sensitive else entry.value,
        read_only=read_only,
        is_default=entry.source is ConfigSource.DEFAULT,
        config_source=entry.source,
        is_sensitive=sensitive,
        synonyms=[
            DescribeConfigsSynonym(other.name, None if sensitive else other.value, other.source)
            for other in (entries if details.synonyms else ())
        ],
        config_type=kind,
        documentation=setting.documentation if details.documentation and setting is not None else None,
    )


def guard(access: Access, request: DescribeConfigsRequest) -> None:
    """Require DESCRIBE_CONFIGS."""
    allowed, refused = [], []
    for resource in request.resources:
        kind, name = resource.resource_type, resource.resource_name
        error = config_denial(access, AclOperation.DESCRIBE_CONFIGS, kind, name)
        if error is None:
            allowed.append(resource)
        else:
            refused.append(DescribeConfigsResult(error, kafka_text(error), kind, name))
    access.proceed(
        replace(request, resources=allowed), lambda response: replace(response, results=[*response.results, *refused])
    )
