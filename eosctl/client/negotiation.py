"""Which version of an API to speak with a broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from eosctl.errors import UnsupportedByBroker
from eosctl.model.snapshot import ApiRange, FeatureLevel
from eosctl.wire import codec
from eosctl.wire.api_keys import ApiKey

TRANSACTION_VERSION: Final = "transaction.version"


class BrokerVersions(msgspec.Struct, frozen=True):
    """What a broker said in its ApiVersions answer; `features_epoch` is -1 when unknown."""

    apis: Mapping[int, ApiRange]
    features: Mapping[str, FeatureLevel]
    features_epoch: int = -1

    @property
    def transaction_version(self) -> int:
        """Return the finalized `transaction.version`; 0 when the broker names none."""
        feature = self.features.get(TRANSACTION_VERSION)
        return feature.finalized or 0 if feature is not None else 0


def parse_broker_versions(response: Any) -> BrokerVersions:
    """Build the table from an ApiVersionsResponse."""
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
    """Return the highest version that both sides speak within `floor` and `cap` (inclusive).

    Args:
        api_key: The API to call.
        served: What the broker serves; None when it does not know the API.
        floor: The lowest version whose meaning the caller accepts.
        cap: The highest version whose meaning the caller accepts; None for no limit.
        broker: How to name the broker in the error.

    Raises:
        UnsupportedByBroker: There is no such version; the message names the API, what is needed and what is served.
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
