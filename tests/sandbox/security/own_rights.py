"""The rules that ``check acl doctor`` prints, a cluster in use, and doctor with some of the rules."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any, Final

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import GroupIdentity, OffsetToCommit
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.security.acls import Acl, PatternType, Permission, ResourceType
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from tests.commands import share_consumer
from tests.commands.conftest import Done, eosctl
from tests.sandbox.security.authorization_cases import known_acls, replace_acls
from tests.sandbox.security.wire_client import WireClient

Rule = dict[str, Any]

_WORD: Final = re.compile("(?<=[a-z])(?=[A-Z])")

#: The cluster that both authorizers guard has these settings; its user alice gets the rules.
SETTINGS: Final = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
TYPES: Final = {
    "Cluster": ResourceType.CLUSTER,
    "Topic": ResourceType.TOPIC,
    "Group": ResourceType.GROUP,
    "TransactionalId": ResourceType.TRANSACTIONAL_ID,
}
NAMED: Final = {
    "Cluster": "the cluster",
    "Topic": "topic",
    "TransactionalId": "transactional id",
    "Group": "group",
}
RULES: Final[list[Rule]] = eosctl("check", "acl", "doctor", "--principal", "User:alice", "-o", "json").json["items"]


async def use_everything(admin: Connection) -> None:
    """Commit a transaction with offsets, leave another one open, and join a share group."""
    config = resolve_connection(admin, lambda text: None, {}).config
    async with connect(config) as client:
        found = await ensure_topic(client, "orders", partition_count=1, replica_count=1)
        where = found.partitions[0].partition
        producer = TransactionalProducer(
            client, "app", now_ms=lambda: time.time_ns() // 1_000_000, transaction_timeout_ms=600_000
        )
        await producer.init_transactions()
        await producer.send(where, [OutgoingRecord(b"k", b"v")])
        await producer.send_offsets(GroupIdentity("readers"), {where: OffsetToCommit(1)})
        await producer.commit()
        await producer.send(where, [OutgoingRecord(b"k", b"v")])
        await share_consumer.join(client)


def grant(bootstrap: str, admin_password: str, rules: list[Rule]) -> None:
    """Make these the only rules, and return when every broker decides by them."""
    entries = [
        Acl(
            TYPES[item["resource_type"]],
            item["name"],
            PatternType[item["pattern_type"].upper()],
            item["principal"],
            "*",
            AclOperation[_WORD.sub("_", item["operation"]).upper()],
            Permission.ALLOW,
        )
        for item in rules
    ]
    with WireClient(bootstrap) as client:
        client.log_in("admin", admin_password)
        replace_acls(client.ask, entries)
    for address in bootstrap.split(",")[1:]:
        with WireClient(address) as client:
            client.log_in("admin", admin_password)
            while set(known_acls(client.ask)) != set(entries):
                pass  # every broker follows the controller by itself


def run_doctor(bootstrap: str, alice: Path, *options: str | Path) -> Done:
    """Run doctor as alice, whose settings a file has."""
    return eosctl("doctor", "-b", bootstrap, "--command-config", alice, "--require-complete", *options)


def names_right(done: Done, rule: Rule) -> bool:
    """Return whether an output asks for the right of a rule."""
    wanted = f"Grant {rule['operation']} on {NAMED[rule['resource_type']]}"
    return wanted in " ".join((done.out + done.err).split())
