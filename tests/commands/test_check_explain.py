"""``eosctl check explain``: the entry of every rule that a finding can name."""

from __future__ import annotations

import pytest

from eosctl.checks.declaration import Check
from eosctl.checks.manual import manual_of
from eosctl.checks.registry import CATALOG
from eosctl.findings.fsck.kinds import find_kind, kind_names
from tests.commands.conftest import eosctl


@pytest.mark.parametrize(
    "name", ["EOS-TXN-001", "hanging-transaction", "EOS-CFG-001", "fsck/crc-mismatch", "crc-mismatch"]
)
def test_rules_of_clusters_files_and_directories_are_explained(name: str) -> None:
    shown = eosctl("check", "explain", name)
    assert shown.code == 0
    assert name in shown.out
    assert "fix: " in shown.out or "eosctl fsck DIR" in shown.out
    assert shown.out.partition("\n\n")[0] in eosctl("explain", shown.out.split()[0]).out


@pytest.mark.parametrize("name", kind_names())
def test_every_kind_of_fsck_is_explained(name: str) -> None:
    (item,) = eosctl("check", "explain", name, "-o", "json").json["items"]
    assert (item["entry"]["kind"], item["entry"]["name"]) == ("check", name)
    kind = find_kind(name)
    assert kind is not None
    assert kind.follows.repair in item["entry"]["next_steps"]
    assert kind.follows.effect in item["entry"]["means"]
    assert kind.follows.on_restart in [fact["text"] for fact in item["entry"]["facts"]]


@pytest.mark.parametrize("check", CATALOG, ids=lambda check: check.id)
def test_an_entry_has_the_whole_manual(check: Check) -> None:
    shown = " ".join(eosctl("check", "explain", check.id).out.split())
    manual = manual_of(check)
    for text in (manual.check.summary, manual.check.severity, *check.references, *manual.check.needs, *check.tags):
        assert text in shown
    for title, text in manual.sections.items():
        assert title == "References" or " ".join(text.split()) in shown


def test_an_unknown_rule_is_answered_with_a_close_one() -> None:
    refused = eosctl("check", "explain", "fsck/crc-mismatchh")
    assert refused.code == 2
    assert "fsck/crc-mismatch" in refused.err
