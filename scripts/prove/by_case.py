"""Runs the cases of a proof one at a time, keeps each result, and continues where an interrupted run stopped."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scripts.prove.case_record import CaseResult, read_cases, write_cases
from scripts.prove.catalog import Proof
from scripts.prove.covered import covered_digests, own_digests
from scripts.prove.runs import changed_files, git, own_environment, run_command, shown

#: pytest's exit statuses with a verdict on the case; with another one, it was interrupted or could not run.
VERDICTS: Final = {0: True, 1: False}
_RELEASE: Final = re.compile(r"\d+\.\d+\.\d+")


def run_by_case(root: Path, name: str, proof: Proof, *, only_new: bool = False) -> bool:
    """Run the cases that have not passed with the current code; return whether all have.

    `only_new` leaves out those that passed with earlier code of the product and the same code of the test. Then the
    result is whether each of the others has passed.

    Raises:
        KeyboardInterrupt: A case ended without a verdict, or the work tree changed; the results so far are kept.
    """
    print(f"{name}: {proof.claim}\n$ {shown(proof)}", flush=True)
    digests = collect_cases(root, proof)
    kept = {one.case: one for one in read_cases(root, name) if one.case in digests}
    head = git(root, "rev-parse", "HEAD")
    now = write_cases(root, name, proof, digests, kept.values(), head)
    print(f"{len(now.passed)} of {len(digests)} cases have passed with this code.", flush=True)
    pending = now.pending
    if only_new:
        own = own_digests(root, (case.partition("::")[0] for case in digests))
        pending = tuple(
            case for case in pending if case not in kept or not kept[case].passed or _is_changed(kept[case], own)
        )
        print(f"{len(pending)} of them are new or changed.", flush=True)
    for case in pending:
        if changed_files(root) or git(root, "rev-parse", "HEAD") != head:
            print("The work tree changed, so that the digests of the cases are no longer right.", flush=True)
            raise KeyboardInterrupt
        kept[case] = run_case(root, proof, case, digests[case], head)
        now = write_cases(root, name, proof, digests, kept.values(), head)
    return not set(pending).intersection(now.pending)


def _is_changed(result: CaseResult, own: Mapping[str, str]) -> bool:
    """Return whether the test has changed; results of earlier records do not show it."""
    return bool(result.test) and result.test != own[result.case.partition("::")[0]]


def run_case(root: Path, proof: Proof, case: str, digest: str, commit: str) -> CaseResult:
    """Run a case in a process of its own."""
    command = [word for word in proof.command if not word.startswith("tests/")]
    ended = run_command(root, [*command, case], proof.environment)
    if ended.code not in VERDICTS:
        raise KeyboardInterrupt
    return CaseResult(
        case=case,
        release=found.group() if (found := _RELEASE.search(case)) else "",
        passed=VERDICTS[ended.code],
        digest=digest,
        test=own_digests(root, [case.partition("::")[0]])[case.partition("::")[0]],
        commit=commit,
        began_at=ended.began_at.isoformat(timespec="seconds"),
        duration_ms=ended.duration_ms,
        last_lines=() if VERDICTS[ended.code] else ended.last_lines,
    )


def collect_cases(root: Path, proof: Proof) -> dict[str, str]:
    """Return the cases in the order of their files, each with the digest of the code that it covers."""
    listed = subprocess.run(
        [*proof.command, "--collect-only", "-p", "no:randomly"],
        cwd=root,
        env=own_environment(proof.environment),
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        raise SystemExit(f"pytest cannot list the cases of the proof:\n{listed.stdout}{listed.stderr}")
    cases = [line for line in listed.stdout.splitlines() if "::" in line]
    digests = covered_digests(root, (case.partition("::")[0] for case in cases))
    return {case: digests[case.partition("::")[0]] for case in cases}
