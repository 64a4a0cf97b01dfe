"""Applications that need ACLs, and whether a cluster has them."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import NamedTuple

import msgspec


class ApplicationKind(StrEnum):
    """The type of an application."""

    PRODUCER = "producer"
    IDEMPOTENT_PRODUCER = "idempotent-producer"
    CONSUMER = "consumer"
    PROCESSOR = "processor"
    STREAMS = "streams"
    CONNECT_SOURCE = "connect-source"
    DOCTOR = "doctor"
    REPAIR = "repair"

    @property
    def is_own(self) -> bool:
        """Whether it is eosctl itself."""
        return self in (ApplicationKind.DOCTOR, ApplicationKind.REPAIR)


class RuleState(StrEnum):
    """Whether a cluster has a needed ACL."""

    PRESENT = "present"
    MISSING = "missing"
    DENIED = "denied"


class Name(NamedTuple):
    """A resource, or all resources with a prefix."""

    text: str
    prefixed: bool = False

    @property
    def pattern_type(self) -> str:
        """Return the pattern type, as Kafka names it."""
        return "Prefixed" if self.prefixed else "Literal"


class NeededRule(msgspec.Struct, frozen=True):
    """A required ACL: `requests` need it, and return `error` without it."""

    resource_type: str
    name: Name
    operation: str
    requests: tuple[str, ...]
    error: str

    def flags(self, principal: str) -> str:
        """Return the arguments of kafka-acls.sh after `--add`."""
        option = {"TransactionalId": "--transactional-id", "Group": "--group", "Topic": "--topic"}
        name = shlex.quote(self.name.text)
        resource = "--cluster" if self.resource_type == "Cluster" else f"{option[self.resource_type]} {name}"
        pattern = " --resource-pattern-type prefixed" if self.name.prefixed else ""
        return f"--allow-principal {shlex.quote(principal)} --operation {self.operation} {resource}{pattern}"
