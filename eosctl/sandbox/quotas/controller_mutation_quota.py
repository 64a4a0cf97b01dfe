"""The quota `controller_mutation_rate` (KIP-599): partitions that clients create and delete, per second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from eosctl.sandbox.metadata.image import ClusterImage
from eosctl.sandbox.ports import CLUSTER_PRINCIPAL, RequestContext
from eosctl.sandbox.quotas.client_quota_manager import CONTROLLER_MUTATION_RATE, Client, ClientLimits

_MILLISECONDS: Final = 1000
_ROUNDING: Final = 1e-6  # The error of refills, which a client notices that waits exactly as long as it must.


class TokenBucket:
    """The partitions that a client may change: `limit` more per second, up to those of `burst_seconds`.

    A client that spends more than it has gets a negative balance.
    """

    def __init__(self, burst_seconds: int) -> None:
        self._burst_seconds = burst_seconds
        self._tokens = 0.0
        self._refilled_ms = 0  # The epoch, so that the first refill fills the bucket.

    def balance(self, limit: float, now_ms: int) -> float:
        """Return the tokens after a refill."""
        refill = limit * (now_ms - self._refilled_ms) / _MILLISECONDS
        self._tokens = min(self._burst_seconds * limit, self._tokens + refill)
        self._refilled_ms = now_ms
        return self._tokens

    def spend(self, count: int, limit: float, now_ms: int) -> None:
        """Remove tokens."""
        self._tokens = self.balance(limit, now_ms) - count


class ControllerMutationQuota:
    """The quota of a request; unlimited without a bucket.

    A strict one refuses changes while the balance is negative; others only throttle the client.
    """

    def __init__(self, bucket: TokenBucket | None, limit: float, now_ms: Callable[[], int], *, is_strict: bool) -> None:
        self._bucket = bucket
        self._limit = limit
        self._now_ms = now_ms
        self._is_strict = is_strict
        self._throttled_until_ms = 0

    def record(self, partition_count: int) -> bool:
        """Count the partitions that a request changes; return whether the quota allows the change."""
        bucket, now_ms = self._bucket, self._now_ms()
        if bucket is None:
            return True
        if self._is_strict and self._exceeds(bucket, now_ms):
            return False
        bucket.spend(partition_count, self._limit, now_ms)
        if not self._is_strict:
            self._exceeds(bucket, now_ms)
        return True

    def throttle_ms(self) -> int:
        """Return the milliseconds for which the client must be throttled from now on."""
        return max(0, self._throttled_until_ms - self._now_ms())

    def _exceeds(self, bucket: TokenBucket, now_ms: int) -> bool:
        balance = bucket.balance(self._limit, now_ms)
        if balance > -_ROUNDING:
            return False
        self._throttled_until_ms = now_ms + int(-balance / self._limit * _MILLISECONDS + 0.5)
        return True


class ControllerMutationQuotaManager:
    """The balances of all clients, kept by the active controller."""

    def __init__(self, image: ClusterImage, window_count: int, window_seconds: int, now_ms: Callable[[], int]) -> None:
        self._limits = ClientLimits(CONTROLLER_MUTATION_RATE, image)
        self._burst_seconds = window_count * window_seconds
        self._now_ms = now_ms
        self._buckets: dict[Client, TokenBucket] = {}

    def quota_for(self, context: RequestContext, strict_since: int) -> ControllerMutationQuota:
        """Return the quota of a request, which is strict from a version of the API on; brokers are not limited."""
        bucket, limit = None, 0.0
        if context.principal != CLUSTER_PRINCIPAL:
            found = self._limits.find(context.principal, context.client_id)
            if found is not None and found[1] is not None:
                bucket = self._buckets.setdefault(found[0], TokenBucket(self._burst_seconds))
                limit = found[1]
        return ControllerMutationQuota(bucket, limit, self._now_ms, is_strict=context.api_version >= strict_since)
