"""Name the older side of an unsupported request by its version.

Brokers of Kafka 4.0 and later lack the versions of clients before 2.1 (KIP-896). A broker names the request and its
version. The Java client names the range of versions of each side (``NodeApiVersions``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import name_some

_KIND: Final = "unsupported_version"
_OLD_CLIENT: Final = "client-older-than-brokers"
_OLD_BROKER: Final = "brokers-older-than-client"
_LOWEST: Final = {
    "Produce": 3,
    "Fetch": 4,
    "ListOffsets": 1,
    "OffsetCommit": 2,
    "OffsetFetch": 1,
    "CreateTopics": 2,
    "DeleteTopics": 1,
    "OffsetForLeaderEpoch": 2,
    "DescribeAcls": 1,
    "CreateAcls": 1,
    "DeleteAcls": 1,
    "DescribeConfigs": 1,
    "AlterReplicaLogDirs": 1,
    "DescribeLogDirs": 1,
}
"""The lowest version that clients can use since Kafka 4.0 (``ApiKeys`` of Kafka's jars)."""
_RANGES: Final = re.compile(
    r"does not support (?P<api>[A-Z_]{3,60}) with version in range \[(?P<least>\d+), ?(?P<most>\d+)\]\. "
    r"The supported range is \[(?P<first>\d+), ?(?P<last>\d+)\]"
)
_UPGRADE_CLIENT: Final = (
    "Upgrade the client library of these clients to one that has the protocol of Kafka 2.1 or later, or a release with "
    "KIP-896. The brokers need no change; until then, such a client needs brokers before 4.0."
)
_UPGRADE_BROKERS: Final = "Upgrade the brokers, or use the release of the client that fits them."


def name_old_clients(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; an unsupported version has the older side as its cause, if a record shows it."""
    for one in incidents:
        yield _named(timeline.evidence(one), one) if one.kind == _KIND else one


def _named(events: Sequence[LogEvent], one: Incident) -> Incident:
    addresses = tuple(sorted({address for event in events if (address := event.fields.get("client_address"))}))
    requests = sorted({_request(event) for event in events} - {""})
    subject = {**one.subject, **({"clients": addresses} if addresses else {})}
    if len(requests) == 1:
        subject["request"] = requests[0]
    if requests and all(_is_removed(event) for event in events if _request(event)):
        who = f"Clients at {name_some('address', addresses, 'addresses')}" if addresses else "A client"
        sends = "send" if addresses else "sends"
        text = (
            f"{who} {sends} requests of versions that brokers do not have since Kafka 4.0 (KIP-896): "
            f"{', '.join(requests)}. The brokers refuse each of them."
        )
        return one._replace(
            root_cause=_OLD_CLIENT, subject=subject, explanation=f"{text} {one.explanation}", next_step=_UPGRADE_CLIENT
        )
    for event in events:
        found = _RANGES.search(f"{event.message}\n{event.fields.get('thrown', '')}")
        if found and int(found["most"]) < int(found["first"]):
            return one._replace(root_cause=_OLD_CLIENT, subject=subject, next_step=_UPGRADE_CLIENT)
        if found and int(found["least"]) > int(found["last"]):
            return one._replace(root_cause=_OLD_BROKER, subject=subject, next_step=_UPGRADE_BROKERS)
    return one._replace(subject=subject)


def _request(event: LogEvent) -> str:
    """Return the request and the version that a broker refused; empty if it names none."""
    name, version = event.fields.get("api", ""), event.fields.get("api_version", "")
    return f"{name} v{version}" if name and version else ""


def _is_removed(event: LogEvent) -> bool:
    return int(event.fields["api_version"]) < _LOWEST.get(event.fields["api"], 0)
