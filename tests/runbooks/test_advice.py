"""The runbook commands that findings propose are words that a shell reads as they are meant."""

from __future__ import annotations

import shlex

from eosctl.findings.bootstrap import bootstrap_of
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis, Grade
from eosctl.findings.finding import Finding
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Resource
from eosctl.runbooks.advice import name_runbooks


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
