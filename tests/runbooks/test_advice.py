"""The runbook commands that findings propose are words that a shell reads as they are meant."""

from __future__ import annotations

import shlex

import pytest

from eosctl.checks.registry import ALL_CHECKS
from eosctl.findings.bootstrap import bootstrap_of
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis, Grade
from eosctl.findings.finding import Finding
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Resource
from eosctl.runbooks.advice import name_runbooks
from eosctl.runbooks.load import find_runbook


def test_address_and_options_are_words_of_their_own() -> None:
    finding = Finding("EOS-TXN-001", "", Severity.CRITICAL, Resource("partition", "or$ders-3"), "")
    result = CheckResult("EOS-TXN-001", "", "TXN", CheckStatus.FAILED, (finding,))
    reached = bootstrap_of(ClusterSnapshot(0, "", command_config="my client.properties"))
    named = name_runbooks(Diagnosis("", 0, (result,), Grade("F", 0)), reached)
    (command,) = [one.line for one in named.findings[0].commands if "run hanging-transaction" in one.line]
    assert shlex.split(command) == [
        *("eosctl", "runbook", "run", "hanging-transaction", "-b", "HOST:PORT"),
        *("--command-config", "my client.properties", "-i", "topic=or$ders", "-i", "partition=3"),
    ]


@pytest.mark.parametrize(
    ("check_id", "resource", "command"),
    [
        ("EOS-BRK-007", Resource("broker", "2"), "eosctl runbook run broker-replacement -b HOST:PORT -i broker=2"),
        ("EOS-GRP-001", Resource("group", "a b"), "eosctl runbook run unstable-offsets -b HOST:PORT -i 'group=a b'"),
        ("EOS-SEC-004", Resource("cluster", "c"), "eosctl runbook show access-rotation"),
        ("EOS-BRK-008", Resource("cluster", "c"), "eosctl runbook show changelog-growth"),
    ],
)
def test_a_runbook_that_cannot_run_yet_is_shown_instead(check_id: str, resource: Resource, command: str) -> None:
    finding = Finding(check_id, "", Severity.ERROR, resource, "")
    result = CheckResult(check_id, "", "", CheckStatus.FAILED, (finding,))
    named = name_runbooks(Diagnosis("", 0, (result,), Grade("F", 0)), "HOST:PORT")
    assert command in [one.line for one in named.findings[0].commands]


@pytest.mark.parametrize("resource", [Resource(kind, "x-1") for kind in ("broker", "topic", "group", "cluster")])
def test_no_printed_run_lacks_an_input(resource: Resource) -> None:
    for check in ALL_CHECKS:
        finding = Finding(check.id, "", Severity.ERROR, resource, "")
        result = CheckResult(check.id, "", "", CheckStatus.FAILED, (finding,))
        for command in name_runbooks(Diagnosis("", 0, (result,), Grade("F", 0)), "b:1").findings[0].commands:
            words = shlex.split(command.line)
            if words[:3] == ["eosctl", "runbook", "run"]:
                given = {words[at + 1].partition("=")[0] for at, word in enumerate(words) if word == "-i"}
                needed = {name for name, one in find_runbook(words[3]).book.inputs.items() if one.default is None}
                assert needed <= given, command.line
