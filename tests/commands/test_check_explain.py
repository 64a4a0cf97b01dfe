"""``eosctl check explain``: the manual of every rule that a finding can name."""

from __future__ import annotations

import pytest

from eosctl.findings.fsck.kinds import kind_names
from tests.commands.conftest import eosctl


@pytest.mark.parametrize(
    "name", ["EOS-TXN-001", "hanging-transaction", "EOS-CFG-001", "fsck/crc-mismatch", "crc-mismatch"]
)
def test_rules_of_clusters_files_and_directories_are_explained(name: str) -> None:
    shown = eosctl("check", "explain", name)
    assert shown.code == 0
    assert name in shown.out
    assert "Fix" in shown.out


@pytest.mark.parametrize("name", kind_names())
def test_every_kind_of_fsck_has_a_manual(name: str) -> None:
    manual = eosctl("check", "explain", name, "-o", "json").json
    assert manual["check"]["id"] == name
    assert manual["check"]["summary"]
    assert all(manual["sections"].values())


def test_an_unknown_rule_is_answered_with_a_close_one() -> None:
    refused = eosctl("check", "explain", "fsck/crc-mismatchh")
    assert refused.code == 2
    assert "fsck/crc-mismatch" in refused.err
