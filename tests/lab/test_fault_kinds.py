"""Kinds of faults in drawn runs are words of one vocabulary, and earlier names are still understood."""

from __future__ import annotations

import re

import pytest

from eosctl.lab.faults import current_kind, matching_kinds, word_of
from eosctl.lab.verify.links import LINK_RANGES
from eosctl.lab.verify.nemesis import process_ranges, sandbox_ranges
from eosctl.lab.verify.proxied import proxy_ranges
from eosctl.sandbox.faults.kinds import FaultKind
from tests.commands.conftest import eosctl

DRAWN = [*sandbox_ranges([1, 2, 3], [100]), *process_ranges([1]), *LINK_RANGES, *proxy_ranges([1])]


def test_every_drawn_fault_is_a_word_of_the_sandbox() -> None:
    assert {word_of(one.kind) for one in DRAWN} <= set(FaultKind)


@pytest.mark.parametrize("command", [("sandbox", "fault"), ("verify", "run")])
def test_help_lists_every_word(command: tuple[str, ...]) -> None:
    words = re.split(r"[\s,.;:]+", eosctl(*command, "--help").out)
    assert set(FaultKind) <= set(words)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("cut", {"cut"}),
        ("links:cut", {"links:cut"}),
        ("duplicate", {"proxy:duplicate"}),
        ("kill-broker", {"kill"}),
        ("kill-controller", {"controllers:kill"}),
        ("held-end-txn", {"links:late-end-txn"}),
        ("late-end-txn", {"links:late-end-txn", "proxy:late-end-txn"}),
        ("full-disk", set()),
    ],
)
def test_a_name_stands_for_its_kinds(asked: str, found: set[str]) -> None:
    kinds = {"kill", "controllers:kill", "cut", "links:cut", "proxy:cut", "proxy:duplicate"}
    assert matching_kinds(asked, kinds | {"links:late-end-txn", "proxy:late-end-txn"}) == found


def test_recorded_runs_keep_their_meaning() -> None:
    assert (current_kind("proxy-partition"), current_kind("skew-clock")) == ("proxy:cut", "skew")
