"""EOS-CFG-131."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import exactly_once_streams
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-131",
    "State of an exactly-once application lives in memory",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.STREAMS,),
    reads=(
        "default.dsl.store",
        "dsl.store.suppliers.class",
    ),
    references=(
        "KIP-591",
        "KIP-954",
    ),
)
def state_only_in_memory(case: Case) -> Iterator[Problem]:
    """Find exactly-once applications that read their whole state again at every start.

    What it checks:
        default.dsl.store=in_memory, or dsl.store.suppliers.class of the in-memory stores, with exactly-once. Only
        what the DSL makes follows it.

    Why it matters for exactly-once:
        In-memory stores are rebuilt from their changelogs at every start. Without persistent stores there is no
        process id on disk either: every start takes new transactional ids, and old transactions end by their timeout.

    Example:
        default.dsl.store=in_memory for speed.

    Fix:
        Keep RocksDB where the state is more than a few megabytes, and use standby tasks.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        for name in ("default.dsl.store", "dsl.store.suppliers.class"):
            store = streams.value(name)
            word = (store.word or "").lower()
            if store.is_given and (word == "in_memory" or word.endswith("inmemorydslstoresuppliers")):
                yield problem(
                    streams,
                    (store,),
                    f"{name} is {store.word}.",
                    impact="Each start reads all state again, under new transactional ids.",
                    remedy="Use persistent stores where the state is large.",
                )
