"""Known Kafka bugs that can be enabled or disabled in a sandbox's brokers.

The bugs of the emulated release (`--emulate`) are enabled by default; `--bug NAME` and `--bug NAME=off` change that.
KAFKA-17754 needs no switch: up to EndTxn 4, the protocol cannot identify a late request on any release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from eosctl.errors import UsageError, unknown_name
from eosctl.model.emulation import RELEASES
from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.coordinator.group.coordinator import materialize_immediately
from eosctl.sandbox.faults.kinds import Moment
from eosctl.sandbox.faults.materialization import LateMaterialization

GROUP_THREAD_LAG_MS: Final = 20.0
"""Maximum delay of the group thread with KAFKA-17507 enabled, unless a fault sets another one."""


class KnownBug(NamedTuple):
    """A bug and its switch.

    Attributes:
        name: Its ticket, or a name if it has none.
        releases: The emulated releases that can have it.
        is_default: Whether these releases have it unless it is disabled.
        effect: Its effect.
        switch: Enables or disables it on a broker.
    """

    name: str
    releases: tuple[str, ...]
    is_default: bool
    effect: str
    switch: Callable[[Broker, bool], None]


def _switch_17507(broker: Broker, on: bool) -> None:
    if on:
        broker.groups.materialize = LateMaterialization(
            broker, Moment.LATER, lambda: broker.runtime.random.uniform(0, GROUP_THREAD_LAG_MS)
        )
    else:
        broker.groups.materialize = materialize_immediately


def _switch_20734(broker: Broker, on: bool) -> None:
    broker.transactions.markers.skips_leaderless_partitions = on


def _switch_zombie_commit(broker: Broker, on: bool) -> None:
    broker.groups.offsets.refused_commit_drops_pending = on


def _switch_truncation(broker: Broker, on: bool) -> None:
    broker.followers.trusts_high_watermark = on


BUGS: Final = (
    KnownBug(
        "high-watermark-truncation",
        RELEASES,
        False,
        "new followers cut their logs at the high watermark that they know of, as before 0.11 (KIP-101)",
        _switch_truncation,
    ),
    KnownBug(
        "kafka-17507",
        ("3.9",),
        False,
        "offsets of a transaction become visible some time after its marker is acknowledged (up to 3.9.0)",
        _switch_17507,
    ),
    KnownBug(
        "kafka-20734",
        ("4.3", "4.4"),
        True,
        "the marker of a partition without a leader is skipped, and the transaction hangs there",
        _switch_20734,
    ),
    KnownBug(
        "zombie-txn-offset-commit",
        ("3.9",),
        True,
        "a zombie's refused TxnOffsetCommit erases the pending offset of its successor",
        _switch_zombie_commit,
    ),
)


def find_bug(name: str, release: str) -> KnownBug:
    """Return the bug with a name.

    Raises:
        UsageError: The name is unknown, or the emulated release cannot have the bug.
    """
    bug = next((bug for bug in BUGS if bug.name == name.lower()), None)
    if bug is None:
        raise unknown_name("bug", name, (bug.name for bug in BUGS), "See eosctl bugs")
    if release not in bug.releases:
        raise UsageError(
            f"A broker that behaves as {release} cannot have {bug.name}.",
            f"The code is that of {', '.join(bug.releases)}.",
            f"Start the sandbox with --emulate {bug.releases[0]}.",
        )
    return bug


def parse_switch(text: str) -> tuple[str, bool]:
    """Parse `NAME`, `NAME=on`, or `NAME=off`.

    Raises:
        UsageError: The value is neither on nor off.
    """
    name, _, value = text.partition("=")
    if value not in ("", "on", "off"):
        raise UsageError(
            f"--bug {text!r} is not NAME, NAME=on or NAME=off.", "A bug is on or off.", "Correct the option."
        )
    return name.lower(), value != "off"
