"""IncrementalAlterConfigs and AlterConfigs on the controller (`ConfigurationControlManager`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from eosctl.sandbox.broker.config import check_topic_setting
from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.topics import Refused
from eosctl.sandbox.group_settings import check_group_settings
from eosctl.sandbox.metadata.image import BROKER_RESOURCE, GROUP_RESOURCE, TOPIC_RESOURCE
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.settings import ConfigType, InvalidSetting, Setting, is_integer
from eosctl.sandbox.telemetry.subscription import (
    CLIENT_METRICS_RESOURCE,
    InvalidSubscription,
    check_subscription,
)
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResponse,
)
from eosctl.wire.messages.alter_configs import (
    AlterConfigsResourceResponse as LegacyResourceResponse,
)
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from eosctl.wire.messages.internal.metadata.config_record import ConfigRecord

SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
MIB = 1 << 20
#: Settings of brokers that Kafka's `DynamicConfig` has, and its table of settings has not.
_RATES = (
    "follower.replication.throttled.rate",
    "leader.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)
#: Kafka's `SslConfigs.RECONFIGURABLE_CONFIGS`: with the prefix of a listener only.
_OF_LISTENERS = frozenset(
    {
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
_THREAD_POOLS = (
    "background.threads",
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.reader.threads",
)
_CLEANER_THREADS, _DEDUPE_BUFFER = "log.cleaner.threads", "log.cleaner.dedupe.buffer.size"
_OPERATION_NAMES = {SET: "SET", DELETE: "DELETE", APPEND: "APPEND", SUBTRACT: "SUBTRACT"}


def incremental_alter_configs(
    controller: Controller, context: RequestContext, request: IncrementalAlterConfigsRequest
) -> None:
    """Set, delete, append to, or subtract from individual settings.

    The changes of a resource are all applied or none.
    """
    records: list[Any] = []
    responses = []
    named = Counter((resource.resource_type, resource.resource_name) for resource in request.resources)
    for resource in request.resources:
        error, message = ErrorCode.NONE, None
        try:
            _check_duplicates(named, resource)
            records += _plan_resource(controller, resource)
        except Refused as refused:
            error, message = refused.error, refused.message
        responses.append(AlterConfigsResourceResponse(error, message, resource.resource_type, resource.resource_name))
    response = IncrementalAlterConfigsResponse(0, responses)
    controller.write([] if request.validate_only else records, lambda: context.reply(response))


def alter_configs(controller: Controller, context: RequestContext, request: AlterConfigsRequest) -> None:
    """Replace all dynamic settings of a resource."""
    records: list[Any] = []
    responses = []
    named = Counter((resource.resource_type, resource.resource_name) for resource in request.resources)
    for resource in request.resources:
        error, message = ErrorCode.NONE, None
        given = {config.name: config.value for config in resource.configs}
        present = controller.image.config(resource.resource_type, resource.resource_name)
        changes = [AlterableConfig(name, SET, value) for name, value in given.items()]
        changes += [AlterableConfig(name, DELETE, None) for name in present if name not in given]
        try:
            _check_duplicates(named, resource)
            records += _plan_resource(
                controller, AlterConfigsResource(resource.resource_type, resource.resource_name, changes)
            )
        except Refused as refused:
            error, message = refused.error, refused.message
        responses.append(LegacyResourceResponse(error, message, resource.resource_type, resource.resource_name))
    response = AlterConfigsResponse(0, responses)
    controller.write([] if request.validate_only else records, lambda: context.reply(response))


def _check_duplicates(named: Mapping[tuple[int, str], int], resource: Any) -> None:
    if named[resource.resource_type, resource.resource_name] > 1:
        raise Refused(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")


def _plan_resource(controller: Controller, resource: AlterConfigsResource) -> list[Any]:
    names = [config.name for config in resource.configs]
    if len(set(names)) < len(names):
        raise Refused(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    check, settings, current = _resource_rules(controller, resource)
    records: list[Any] = []
    for config in resource.configs:
        value = _new_value(config, settings.get(config.name), current(config.name))
        if value is not None:
            check(config.name, value)
            if resource.resource_type == BROKER_RESOURCE:
                _check_reconfiguration(controller, resource, config.name, value)
        if controller.image.config(resource.resource_type, resource.resource_name).get(config.name) != value:
            records.append(ConfigRecord(resource.resource_type, resource.resource_name, config.name, value))
    if resource.resource_type == BROKER_RESOURCE:
        _check_min_isr(controller, resource)
    return records


def _resource_rules(
    controller: Controller, resource: AlterConfigsResource
) -> tuple[Callable[[str, str], None], Mapping[str, Setting], Callable[[str], str]]:
    """Return the validator, the definitions, and the present values of a resource's settings."""
    overrides = controller.image.config(resource.resource_type, resource.resource_name)
    if resource.resource_type == TOPIC_RESOURCE:
        name = resource.resource_name
        if not name:
            raise Refused(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
        if name not in controller.image.topics:
            raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
        table = controller.config.table.topic

        def present(key: str) -> str:
            return controller.config.topic_value(overrides, key) if key in table else ""

        return _check_topic(controller), table, present
    if resource.resource_type == BROKER_RESOURCE:
        _check_broker_name(controller, resource)
        return (
            _check_broker(controller, per_broker=bool(resource.resource_name)),
            controller.config.table.broker,
            lambda key: (
                overrides.get(key, controller.config.table.broker[key].default or "")
                if key in controller.config.table.broker
                else ""
            ),
        )
    if resource.resource_type == GROUP_RESOURCE and not controller.emulation.is_3_9:
        _check_group(controller, resource, overrides)
        return (lambda _key, _value: None), {}, lambda key: overrides.get(key, "")
    if resource.resource_type == CLIENT_METRICS_RESOURCE:
        _check_client_metrics(resource, overrides, is_3_9=controller.emulation.is_3_9)
        return (lambda _key, _value: None), {}, lambda key: overrides.get(key, "")
    raise Refused(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.resource_type}")


def _check_group(controller: Controller, resource: AlterConfigsResource, overrides: Mapping[str, str]) -> None:
    """Check the resulting settings of a group together, as Kafka does."""
    if not resource.resource_name:
        raise Refused(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    wanted = _resulting(resource, overrides)
    try:
        check_group_settings(
            wanted,
            controller.config.table.broker,
            controller.config.get_int,
            is_before_4_4=controller.emulation.is_before_4_4,
        )
    except InvalidSetting as error:
        raise Refused(ErrorCode.INVALID_CONFIG, str(error)) from None


def _check_client_metrics(resource: AlterConfigsResource, overrides: Mapping[str, str], *, is_3_9: bool) -> None:
    """Check the resulting settings of a subscription to client metrics together (KIP-714)."""
    try:
        check_subscription(resource.resource_name, _resulting(resource, overrides), is_3_9=is_3_9)
    except InvalidSubscription as error:
        raise Refused(ErrorCode.INVALID_REQUEST, str(error)) from None
    except InvalidSetting as error:
        raise Refused(ErrorCode.INVALID_CONFIG, str(error)) from None
    except ValueError:
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR) from None


def _resulting(resource: AlterConfigsResource, overrides: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a resource after its changes; no setting is a list."""
    wanted = dict(overrides)
    for config in resource.configs:
        value = _new_value(config, None, "")
        wanted.pop(config.name, None)
        if value is not None:
            wanted[config.name] = value
    return wanted


def _check_broker_name(controller: Controller, resource: AlterConfigsResource) -> None:
    name = resource.resource_name
    if not name:
        return
    if not is_integer(name):
        raise Refused(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    if int(name) not in controller.image.brokers:
        raise Refused(ErrorCode.INVALID_REQUEST, f"No broker with id {name} found.")


def _check_min_isr(controller: Controller, resource: AlterConfigsResource) -> None:
    """Keep a single `min.insync.replicas` for the whole cluster, as eligible leader replicas require (KIP-966)."""
    for config in resource.configs if controller.has_elr else ():
        if config.name != "min.insync.replicas":
            continue
        if resource.resource_name:
            raise Refused(
                ErrorCode.INVALID_CONFIG, "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
            )
        if config.config_operation == DELETE:
            raise Refused(
                ErrorCode.INVALID_CONFIG, "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
            )


def _check_reconfiguration(controller: Controller, resource: AlterConfigsResource, name: str, value: str) -> None:
    """Refuse a value that a running broker does not change to (Kafka's `BrokerReconfigurable`).

    Kafka checks a default of the cluster on the broker that receives it, where an own value goes first. Here it is the
    broker with the lowest id.
    """
    own = controller.image.config(BROKER_RESOURCE, resource.resource_name or str(min(controller.image.brokers)))
    if name not in controller.config.table.broker or (name in own and not resource.resource_name):
        return

    def current(setting: str) -> int:
        defaults = controller.image.config(BROKER_RESOURCE, "")
        return int(own.get(setting) or defaults.get(setting) or controller.config.get_int(setting))

    problem = ""
    if name in _THREAD_POOLS:
        problem = _thread_count_problem(name, int(value), current(name))
    elif name == _CLEANER_THREADS:
        problem = _cleaner_threads_problem(int(value), current(name), current(_DEDUPE_BUFFER))
    elif name == _DEDUPE_BUFFER and int(value) // current(_CLEANER_THREADS) <= MIB:
        problem = _SMALL_BUFFER
    elif name == "max.connection.creation.rate" and int(value) <= 0:
        problem = _not_dynamic(f"Invalid {name} {value}")
    elif name == "log.roll.ms" and int(value) < 1:
        problem = f"requirement failed: {name} must be greater than or equal to 1"
    elif name == "max.connections.per.ip.overrides":
        counts = [item.rpartition(":")[2].strip() for item in value.split(",") if item.strip()]
        wrong = next((count for count in counts if not is_integer(count)), None)
        problem = "" if wrong is None else f'For input string: "{wrong}"'
    if problem:
        raise Refused(ErrorCode.INVALID_REQUEST, problem)


_SMALL_BUFFER = f"requirement failed: {_DEDUPE_BUFFER} must be at least 1MB per cleaner thread."


def _thread_count_problem(name: str, wanted: int, current: int) -> str:
    failed = f"Dynamic thread count update validation failed for {name}={wanted}, value should"
    if wanted < current // 2:
        return _not_dynamic(f"{failed} be at least half the current value {current}")
    if wanted > current * 2:
        return _not_dynamic(f"{failed} not be greater than double the current value {current}")
    return ""


def _cleaner_threads_problem(wanted: int, current: int, buffer_bytes: int) -> str:
    if wanted == 0:
        return "/ by zero"  # Kafka divides the buffer by the threads before it checks their number.
    if buffer_bytes // wanted <= MIB:
        return _SMALL_BUFFER
    if wanted < current // 2:
        return _not_dynamic(f"Log cleaner threads cannot be reduced to less than half the current value {current}")
    if wanted > current * 2:
        return _not_dynamic(f"Log cleaner threads cannot be increased to more than double the current value {current}")
    return ""


def _not_dynamic(reason: str) -> str:
    exception = "org.apache.kafka.common.config.ConfigException"
    return f"Invalid value {exception}: {reason} for configuration Invalid dynamic configuration"


def _check_topic(controller: Controller) -> Callable[[str, str], None]:
    def check(name: str, value: str) -> None:
        try:
            check_topic_setting(controller.config.table.topic, name, value)
        except InvalidSetting as error:
            raise Refused(ErrorCode.INVALID_CONFIG, str(error)) from None

    return check


def _check_broker(controller: Controller, *, per_broker: bool) -> Callable[[str, str], None]:
    def check(name: str, value: str) -> None:
        setting = _rate(name) if name in _RATES else controller.config.table.broker.get(name)
        if setting is None:
            return  # Kafka stores unknown settings, for plugins.
        shown = f"Set({name})" if controller.emulation.is_3_9 else f"[{name}]"  # Scala's format and Java's format.
        if not setting.is_dynamic:
            raise Refused(ErrorCode.INVALID_REQUEST, f"Cannot update these configs dynamically: {shown}")
        if name in _OF_LISTENERS:
            text = "These security configs can be dynamically updated only per-listener using the listener prefix: "
            raise Refused(ErrorCode.INVALID_REQUEST, text + shown)
        if setting.detail == "per-broker" and not per_broker:
            raise Refused(
                ErrorCode.INVALID_REQUEST,
                f"Cannot update these configs at default cluster level, broker id must be specified: {shown}",
            )
        try:
            setting.check(value)
        except InvalidSetting as error:
            raise Refused(ErrorCode.INVALID_REQUEST, str(error)) from None

    return check


def _rate(name: str) -> Setting:
    return Setting(
        scope="broker",
        name=name,
        type=ConfigType.LONG,
        default=None,
        detail="cluster-wide",
        internal=False,
        valid="[0,...]",
    )


def _new_value(config: AlterableConfig, setting: Setting | None, present: str) -> str | None:
    operation = config.config_operation
    if operation not in _OPERATION_NAMES:
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR)
    if operation == DELETE:
        return None
    if config.value is None:
        raise Refused(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {config.name}")
    if operation == SET:
        return config.value
    if setting is None or setting.type is not ConfigType.LIST:
        raise Refused(
            ErrorCode.INVALID_CONFIG,
            f"Can't {_OPERATION_NAMES[operation]} to key {config.name} because its type is not LIST.",
        )
    items = [item for item in present.split(",") if item]
    given = [item for item in config.value.split(",") if item]
    if operation == APPEND:
        return ",".join([*items, *(item for item in given if item not in items)])
    return ",".join(item for item in items if item not in given)
