"""Applications that need access rules, and whether a cluster has such a rule."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import NamedTuple

import msgspec


class ApplicationKind(StrEnum):
    """What an application does."""

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
    """Whether a cluster has a needed rule."""

    PRESENT = "present"
    MISSING = "missing"
    DENIED = "denied"


class Name(NamedTuple):
    """A resource, or all whose names begin alike."""

    text: str
    prefixed: bool = False

    @property
    def pattern_type(self) -> str:
        """Kafka's word for it."""
        return "Prefixed" if self.prefixed else "Literal"


class NeededRule(msgspec.Struct, frozen=True):
    """A rule that must be there: ``requests`` need it, and answer ``error`` without it."""

    resource_type: str
    name: Name
    operation: str
    requests: tuple[str, ...]
    error: str

    def flags(self, principal: str) -> str:
        """Return what kafka-acls.sh is told after ``--add``."""
        option = {"TransactionalId": "--transactional-id", "Group": "--group", "Topic": "--topic"}
        name = shlex.quote(self.name.text)
        resource = "--cluster" if self.resource_type == "Cluster" else f"{option[self.resource_type]} {name}"
        pattern = " --resource-pattern-type prefixed" if self.name.prefixed else ""
        return f"--allow-principal {shlex.quote(principal)} --operation {self.operation} {resource}{pattern}"
