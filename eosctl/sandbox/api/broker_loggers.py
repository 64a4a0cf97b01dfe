"""BROKER_LOGGER resources: a broker lists and changes the levels of its own loggers (KIP-412).

Levels are not part of the metadata, so neither the controller nor a restarted broker knows them. The sandbox writes
lines of INFO and above: TRACE and DEBUG are accepted and add no lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.logging.logger_levels import LEVELS, ROOT
from eosctl.sandbox.settings import is_integer
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_configs import DescribeConfigsResourceResult
from eosctl.wire.messages.incremental_alter_configs import AlterableConfig

LOGGER_RESOURCE: Final = 8
DYNAMIC_BROKER_LOGGER: Final = 6
_SET, _DELETE = 0, 1
_REFUSED_OPERATIONS = {2: "APPEND", 3: "SUBTRACT"}
_UNKNOWN_TYPE = 0

Refusal = tuple[ErrorCode, str | None]


def describe_loggers(
    broker: BrokerServices, name: str, keys: Collection[str] | None
) -> Refusal | list[DescribeConfigsResourceResult]:
    """Return the levels of the requested loggers, or of all; unknown ones are left out."""
    if not name:
        return ErrorCode.INVALID_REQUEST, "Broker id must not be empty"
    if not is_integer(name):
        return ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}"
    if int(name) != broker.node_id:
        return ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {broker.node_id} but received {name}"
    return [
        DescribeConfigsResourceResult(
            name=logger,
            value=level,
            read_only=False,
            is_default=False,
            config_source=DYNAMIC_BROKER_LOGGER,
            is_sensitive=False,
            synonyms=(),
            config_type=_UNKNOWN_TYPE,
            documentation="",
        )
        for logger, level in broker.runtime.loggers.levels().items()
        if not keys or logger in keys
    ]


def change_levels(
    broker: BrokerServices, name: str, configs: Sequence[AlterableConfig], *, validate_only: bool
) -> Refusal:
    """Change the levels of loggers, all or none."""
    problem = _problem(broker, name, configs)
    if problem is not None:
        return problem
    if not validate_only:
        broker.runtime.loggers.change(
            {config.name: config.value if config.config_operation == _SET else None for config in configs}
        )
    return ErrorCode.NONE, None


def _problem(broker: BrokerServices, name: str, configs: Sequence[AlterableConfig]) -> Refusal | None:
    if any(count > 1 for count in Counter(config.name for config in configs).values()):
        return ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys"
    for config in configs:
        if config.value is None and config.config_operation != _DELETE:
            return ErrorCode.INVALID_REQUEST, f"Null value not supported for : {config.name}"
    if not is_integer(name):
        return ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}"
    for config in configs:
        problem = _level_problem(broker, config)
        if problem is not None:
            return problem
    return None


def _level_problem(broker: BrokerServices, config: AlterableConfig) -> Refusal | None:
    operation, logger = config.config_operation, config.name
    if operation not in (_SET, _DELETE):
        if operation not in _REFUSED_OPERATIONS and broker.emulation.is_before_4_4:
            return ErrorCode.UNKNOWN_SERVER_ERROR, None
        shown = _REFUSED_OPERATIONS.get(operation, f"Unknown operation type {operation}")
        suffix = " operation" if operation in _REFUSED_OPERATIONS else ""
        return ErrorCode.INVALID_REQUEST, f"{shown}{suffix} is not allowed for the BROKER_LOGGER resource"
    if logger not in broker.runtime.loggers:
        return ErrorCode.INVALID_CONFIG, f"Logger {logger} does not exist!"
    if operation == _DELETE:
        if logger == ROOT:
            return ErrorCode.INVALID_REQUEST, "Removing the log level of the root logger is not allowed"
    elif config.value not in LEVELS:
        problem = f"Cannot set the log level of {logger} to {config.value} as it is not a supported log level."
        return ErrorCode.INVALID_CONFIG, f"{problem} Valid log levels are {', '.join(sorted(LEVELS))}"
    return None
