"""From findings to the runbooks for them."""

from __future__ import annotations

import shlex

from msgspec.structs import replace

from eosctl.checks.operations.no_controller_answers import no_controller_answers
from eosctl.findings.diagnosis import CheckResult, Diagnosis
from eosctl.findings.finding import Command, Finding
from eosctl.model.runbook import Runbook
from eosctl.model.verdict import Resource
from eosctl.runbooks.load import runbooks_for


def name_runbooks(diagnosis: Diagnosis, bootstrap: str) -> Diagnosis:
    """Add the runbooks to the commands of each finding that one is for, behind those of its check.

    While no controller answers, only its runbook is named: the others elect leaders or change what it keeps.

    Args:
        diagnosis: The findings.
        bootstrap: What follows ``-b``, quoted for the shell (``findings.bootstrap.bootstrap_of``).
    """
    if not diagnosis.findings:
        return diagnosis
    is_lost = any(finding.check_id == no_controller_answers.id for finding in diagnosis.findings)
    return replace(
        diagnosis,
        results=tuple(
            result if is_lost and result.check_id != no_controller_answers.id else _named(result, bootstrap)
            for result in diagnosis.results
        ),
    )


def _named(result: CheckResult, bootstrap: str) -> CheckResult:
    books = runbooks_for(result.check_id) if result.findings else ()
    if not books:
        return result

    findings = tuple(
        replace(finding, commands=finding.commands + tuple(_command(finding, book, bootstrap) for book in books))
        for finding in result.findings
    )
    return replace(result, findings=findings)


def _command(finding: Finding, book: Runbook, bootstrap: str) -> Command:
    found = _inputs(finding)
    if any(one.default is None and name not in found for name, one in book.inputs.items()):
        # It cannot run before the user has chosen the inputs; the page of the runbook explains them.
        return Command(f"eosctl runbook show {book.id}", "the runbook and its inputs")
    inputs = [shlex.quote(f"{name}={value}") for name, value in found.items() if name in book.inputs]
    line = " ".join([f"eosctl runbook run {book.id} -b {bootstrap}", *(f"-i {one}" for one in inputs)])
    return Command(line, "guided repair; only reads and plans without --yes")


def _inputs(finding: Finding) -> dict[str, str]:
    """Return the values of a runbook's inputs that a finding has."""
    resource = finding.resource
    facts = {name: str(value) for name, value in finding.facts if name in ("group", "topic", "transactional_id")}
    return facts | _inputs_of(resource)


def _inputs_of(resource: Resource) -> dict[str, str]:
    match resource.kind:
        case "broker":
            return {"broker": resource.name}
        case "topic":
            return {"topic": resource.name}
        case "group":
            return {"group": resource.name}
        case "transaction":
            return {"transactional_id": resource.name}
        case "partition":
            topic, _, number = resource.name.rpartition("-")
            return {"topic": topic, "partition": number}
        case _:
            return {}
