"""Version negotiation with a broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from eosctl.errors import UnsupportedByBroker
from eosctl.model.snapshot import ApiRange, FeatureLevel
from eosctl.wire import codec
from eosctl.wire.api_keys import ApiKey

TRANSACTION_VERSION: Final = "transaction.version"


class ExpectedNode(NamedTuple):
    """The cluster and the broker that a client expects at an address (ApiVersions 5, KIP-1242)."""

    cluster_id: str
    node_id: int


class BrokerVersions(msgspec.Struct, frozen=True):
    """The content of a broker's ApiVersions response; `features_epoch` is -1 if unknown."""

    apis: Mapping[int, ApiRange]
    features: Mapping[str, FeatureLevel]
    features_epoch: int = -1

    @property
    def transaction_version(self) -> int:
        """Return the finalized `transaction.version`; 0 if the broker does not list it."""
        feature = self.features.get(TRANSACTION_VERSION)
        return feature.finalized or 0 if feature is not None else 0


def parse_broker_versions(response: Any) -> BrokerVersions:
    """Convert an ApiVersionsResponse."""
    finalized = {f.name: f.max_version_level for f in response.finalized_features or ()}
    supported = {f.name: f for f in response.supported_features or ()}
    features = {
        name: FeatureLevel(
            name,
            finalized.get(name, 0 if response.finalized_features_epoch >= 0 else None),
            supported[name].min_version if name in supported else 0,
            supported[name].max_version if name in supported else finalized[name],
        )
        for name in sorted(supported.keys() | finalized.keys())
    }
    apis = {api.api_key: ApiRange(api.api_key, api.min_version, api.max_version) for api in response.api_keys}
    return BrokerVersions(apis, features, response.finalized_features_epoch)


def choose_version(
    api_key: ApiKey, served: ApiRange | None, *, floor: int = 0, cap: int | None = None, broker: str = "the broker"
) -> int:
    """Return the highest common version between `floor` and `cap` (inclusive).

    Args:
        api_key: The API.
        served: The versions that the broker serves; None if it does not have the API.
        floor: The lowest version that the caller accepts.
        cap: The highest version that the caller accepts; None for no limit.
        broker: The broker's name in the error message.

    Raises:
        UnsupportedByBroker: There is no such version; the message contains the API, the required, and the served
            versions.
    """
    spoken = codec.versions(api_key)
    lowest, highest = max(floor, spoken[0]), spoken[-1] if cap is None else min(cap, spoken[-1])
    needed = f"version {lowest}" if lowest == highest else f"versions {lowest} to {highest}"
    if served is None:
        raise UnsupportedByBroker(
            f"{api_key.name} is not served by {broker}: needed {needed}, found none.",
            "The broker is older than this API, or the listener serves another purpose (a controller listener).",
            "Name a broker's listener; if it was one, upgrade the broker for what needs this.",
        )
    version = min(highest, served.max_version)
    if version < max(lowest, served.min_version):
        raise UnsupportedByBroker(
            f"{api_key.name} needs {needed}; {broker} serves {served.min_version} to {served.max_version}.",
            "The broker's release does not offer what this operation needs.",
            "Do it with the tools of that release, or upgrade.",
        )
    return version
