"""Distinguish the roles of servers: a controller of KRaft from a broker, and a connection to a group's coordinator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.model.log_event import LogEvent

_CONTROLLERS: Final = ("[QuorumController ", "[ControllerServer ", "[Controller ")
_NAMED: Final = re.compile(r"(?:^|[-_.])controllers?(?:[-_.]|$)")
_LARGEST_INT: Final = 2_147_483_647
_LARGEST_NODE: Final = 1_000_000
_OF_BROKERS: Final = ("[Broker", "[GroupCoordinator ", "[KafkaApi-", "[ReplicaFetcher", "[ReplicaManager ")
_OF_BOTH: Final = ("[RaftManager ", "[SharedServer ")
"""Records of what controllers and brokers have: the replica of the metadata log, and the server that owns it."""


def role_of_record(event: LogEvent) -> str:
    """Return the role that a server's record shows: controller or broker; empty if both write it."""
    if is_of_controller(event):
        return "controller"
    return "broker" if event.fields.get("broker") and not event.message.startswith(_OF_BOTH) else ""


def role_of_program(own: Sequence[LogEvent]) -> str:
    """Return the role of a server by all its records, those that name its node first."""
    named = [one for one in own if one.fields.get("broker") and not one.message.startswith(_OF_BOTH)]
    is_controller = all(map(is_of_controller, named)) if named else any(map(_may_be_of_controller, own))
    return "controller" if is_controller and not any(one.message.startswith(_OF_BROKERS) for one in own) else "broker"


def is_of_controller(event: LogEvent) -> bool:
    """Return whether only a controller writes a record."""
    by_name = ".controller." in event.logger or event.message.startswith(_CONTROLLERS)
    return by_name or bool(event.fields.get("of_controller"))


def _may_be_of_controller(event: LogEvent) -> bool:
    """Return whether a controller wrote a record, or a program that is named after one."""
    return is_of_controller(event) or _NAMED.search(event.application) is not None


def coordinating_node(connection: str) -> str:
    """Return the broker whose group coordinator the Java client connects to under an id of its own; empty for others.

    The id is 2147483647 minus the broker's (``AbstractCoordinator``), so that its connection differs from the broker's.

    >>> coordinating_node("2147483645"), coordinating_node("2")
    ('2', '')
    """
    node = _LARGEST_INT - int(connection) if connection.isdigit() else -1
    return str(node) if 0 <= node < _LARGEST_NODE else ""
