"""Kinds of faults in random runs: a fault of `eosctl sandbox fault`, prefixed by where it is made.

`late-end-txn` is made by the brokers, `links:late-end-txn` on the connections of the run's clients, and
`proxy:late-end-txn` by a proxy in front of the cluster. `controllers:kill` kills a controller.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from eosctl.sandbox.faults.kinds import RENAMED

CONTROLLERS: Final = "controllers"
LINKS: Final = "links"
PROXY: Final = "proxy"

#: Names of kinds in records and options of earlier versions. Accepted until 0.3.
_FORMER_KINDS: Final[Mapping[str, str]] = {
    "kill-broker": "kill",
    "kill-controller": "controllers:kill",
    "stop-broker": "stop",
    "pause-broker": "pause",
    "slow-broker": "slow",
    "break-connections": "disconnect",
    "skew-clock": "skew",
    "isolate-broker": "cut",
    "drop-frames": "drop",
    "delay-frames": "delay",
    "duplicate-frames": "duplicate",
    "reorder-frames": "reorder",
    "cut-link": "cut",
    "slow-clients": "links:delay",
    "stall-clients": "links:delay",
    "cut-clients": "links:cut",
    "delay-clients": "links:delay",
    "disconnect-clients": "links:disconnect",
    "late-requests": "links:delay",
    "held-end-txn": "links:late-end-txn",
    "proxy-partition": "proxy:cut",
    "proxy-delay": "proxy:delay",
    "proxy-duplicate": "proxy:duplicate",
    "proxy-disconnect": "proxy:disconnect",
    "proxy-late-end-txn": "proxy:late-end-txn",
}


def word_of(kind: str) -> str:
    """Return the fault of a kind, without its prefix.

    >>> word_of("links:cut"), word_of("kill")
    ('cut', 'kill')
    """
    return kind.rpartition(":")[2]


def current_kind(kind: str) -> str:
    """Return the current name of a kind.

    >>> current_kind("proxy-delay"), current_kind("stop-broker"), current_kind("kill")
    ('proxy:delay', 'stop', 'kill')
    """
    if kind in _FORMER_KINDS:
        return _FORMER_KINDS[kind]
    return str(RENAMED.get(kind, kind))


def matching_kinds(asked: str, kinds: Collection[str]) -> frozenset[str]:
    """Return the kinds that a name matches: the kind itself, or else its fault with any prefix.

    >>> matching_kinds("cut", ("cut", "links:cut")), matching_kinds("isolate-broker", ("links:cut",))
    (frozenset({'cut'}), frozenset({'links:cut'}))
    """
    wanted = current_kind(asked)
    if wanted in kinds:
        return frozenset((wanted,))
    return frozenset(kind for kind in kinds if word_of(kind) == wanted)
