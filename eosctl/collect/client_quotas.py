"""The quotas of users and client ids."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import Broker, ClientQuota
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_client_quotas import DescribeClientQuotasRequest, EntryData


async def collect_client_quotas(reader: ReadOnly, brokers: Sequence[Broker]) -> Probed[tuple[ClientQuota, ...]]:
    """Return the quotas of all entities, ordered by entity (DescribeClientQuotas, KIP-546).

    Any broker answers from the cluster's metadata. Releases before 2.6 keep quotas in ZooKeeper alone and do not serve
    the request, so they have no quotas to collect.
    """
    serving = [broker.node_id for broker in brokers if broker.reachable and _describes_quotas(broker)]
    if not serving:
        return Probed(())
    kind = EvidenceKind.CLIENT_QUOTAS
    request = DescribeClientQuotasRequest()  # without components, all entities match
    answer, gaps = await attempt(kind, "*", lambda: reader.request(serving[0], ApiKey.DESCRIBE_CLIENT_QUOTAS, request))
    if answer is None:
        return Probed((), gaps)
    if answer.error_code != ErrorCode.NONE:
        return Probed((), (gap_from_code(kind, "*", answer.error_code, answer.error_message or ""),))
    return Probed(tuple(sorted(map(_quota, answer.entries or ()), key=str)))


def _quota(entry: EntryData) -> ClientQuota:
    return ClientQuota(
        tuple(sorted((part.entity_type, part.entity_name) for part in entry.entity)),
        tuple(sorted((value.key, value.value) for value in entry.values)),
    )


def _describes_quotas(broker: Broker) -> bool:
    return any(served.api_key == ApiKey.DESCRIBE_CLIENT_QUOTAS for served in broker.api_ranges)
