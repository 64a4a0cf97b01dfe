"""EOS-CFG-103."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-103",
    "Both names of the record cache are set, to different sizes",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.STREAMS,),
    reads=(
        "cache.max.bytes.buffering",
        "statestore.cache.max.bytes",
    ),
    references=("KIP-770",),
)
def conflicting_cache_sizes(case: Case) -> Iterator[Problem]:
    """Find Streams applications with two sizes for one cache.

    What it checks:
        cache.max.bytes.buffering and statestore.cache.max.bytes (its name since 3.4) with different values.

    Why it matters for exactly-once:
        The newer name counts. The cache is one for all threads of an instance; what it holds back is written at every
        commit, so its size decides how much each transaction carries.

    Example:
        An old cache.max.bytes.buffering=0 together with a new statestore.cache.max.bytes=10485760.

    Fix:
        Keep statestore.cache.max.bytes alone.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in case.deployment.of(Role.STREAMS):
        old, new = streams.value("cache.max.bytes.buffering"), streams.value("statestore.cache.max.bytes")
        if streams.release < (3, 4) or not old.is_given or not new.is_given or old.number is None or new.number is None:
            continue
        if old.number != new.number:
            yield problem(
                streams,
                (old, new),
                f"cache.max.bytes.buffering is {old.number:,}, but statestore.cache.max.bytes={new.number:,} counts.",
                impact="Transactions are larger or smaller than the older setting makes one expect.",
                remedy="Remove cache.max.bytes.buffering.",
            )
