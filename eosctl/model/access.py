"""Applications that need ACLs, and whether a cluster has them."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec


class ApplicationKind(StrEnum):
    """The type of an application: a client, or commands of eosctl, whose words are joined by hyphens."""

    PRODUCER = "producer"
    IDEMPOTENT_PRODUCER = "idempotent-producer"
    CONSUMER = "consumer"
    PROCESSOR = "processor"
    STREAMS = "streams"
    CONNECT_SOURCE = "connect-source"
    DOCTOR = "doctor"
    REPAIR = "repair"
    CHECK_RUN = "check-run"
    SNAPSHOT_CAPTURE = "snapshot-capture"
    TXN_LIST = "txn-list"
    TXN_DESCRIBE = "txn-describe"
    TXN_HANGING = "txn-hanging"
    TXN_PRODUCERS = "txn-producers"
    TXN_BLAME = "txn-blame"
    TXN_WATCH = "txn-watch"
    TXN_ABORT = "txn-abort"
    TXN_COMPLETE = "txn-complete"
    TXN_FENCE = "txn-fence"
    FENCING_EXPLAIN = "fencing-explain"
    GROUP_LIST = "group-list"
    GROUP_DESCRIBE = "group-describe"
    GROUP_LAG = "group-lag"
    GROUP_PENDING = "group-pending"
    TIMELINE = "timeline"
    TOP = "top"
    EXPORTER = "exporter"
    RUNBOOK_RUN = "runbook-run"
    CHECKLIST_RUN = "checklist-run"
    CONFIG_LINT = "config-lint"
    CHECK_ACL = "check-acl"
    CAPACITY_OBSERVE = "capacity-observe"
    CAPACITY_CALIBRATE = "capacity-calibrate"
    DECODE_SEGMENT = "decode-segment"
    MCP = "mcp"
    VERIFY_RUN = "verify-run"
    VERIFY_REPLAY = "verify-replay"
    VERIFY_CANARY = "verify-canary"
    VERIFY_APP = "verify-app"
    VERIFY_DLQ = "verify-dlq"
    PROFILE_ADD = "profile-add"
    SANDBOX_PROXY = "sandbox-proxy"

    @property
    def is_own(self) -> bool:
        """Whether it is eosctl itself."""
        return self not in _CLIENTS


_CLIENTS: Final = (
    ApplicationKind.PRODUCER,
    ApplicationKind.IDEMPOTENT_PRODUCER,
    ApplicationKind.CONSUMER,
    ApplicationKind.PROCESSOR,
    ApplicationKind.STREAMS,
    ApplicationKind.CONNECT_SOURCE,
)


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
