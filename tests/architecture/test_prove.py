"""A proof leaves a record that names its code, or is refused; a proof by case continues where it stopped."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.import_cycles import import_graph
from scripts.prove.__main__ import main
from scripts.prove.catalog import PYTEST, Proof
from scripts.prove.covered import PACKAGES, covered_files
from scripts.prove.runs import git

QUICK = (("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"),)
COUNTS = "import os, pathlib; pathlib.Path(os.environ['EOSCTL_PROOF_DETAILS']).write_text('{\"tests\": 3}')"
PROOFS = {
    "holds": Proof("It holds.", (sys.executable, "-c", "import os; print(os.environ['N'])"), (("N", "7"),)),
    "counts": Proof("It counts.", (sys.executable, "-c", COUNTS)),
    "fails": Proof("It fails.", (sys.executable, "-c", "print('why'); raise SystemExit(4)")),
    "cases": Proof("Each case passes.", (*PYTEST, "tests/test_cases.py"), QUICK, by_case=True),
}
CASES = """
from pathlib import Path
import pytest
from eosctl.subject import LIMIT

@pytest.mark.parametrize("release", ["3.9.2", "4.3.1", "4.4.0"])
def test_it(release):
    with Path("build/ran").open("a") as ran:
        ran.write(release + "\\n")
    if Path("build/stop", release).exists():
        raise KeyboardInterrupt
    assert release < LIMIT
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of its own with three cases."""
    for name, text in {
        ".gitignore": "__pycache__/\nbuild/\n",
        "eosctl/__init__.py": "",
        "eosctl/subject.py": "LIMIT = '9'\n",
        "eosctl/other.py": "",
        "eosctl/values.toml": "",
        "tests/test_cases.py": CASES,
        "pytest.ini": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / "build").mkdir()
    git(tmp_path, "init", "-q")
    return commit(tmp_path)


def commit(root: Path) -> Path:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    git(root, "add", ".")
    git(root, *identity, "commit", "-q", "--allow-empty", "-m", "Change")
    return root


def record(root: Path, name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((root / "docs" / "proofs" / f"{name}.json").read_text("utf-8"))
    return read


def ran(root: Path) -> list[str]:
    """Return the releases of the cases that ran since the last call."""
    path = root / "build" / "ran"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def case(release: str) -> str:
    return f"tests/test_cases.py::test_it[{release}]"


def test_a_success_is_recorded_with_commit_and_command(root: Path) -> None:
    assert main(["holds"], root, PROOFS) == 0
    written = record(root, "holds")
    assert written["commit"] == git(root, "rev-parse", "HEAD")
    assert written["command"] == "N=7 python -c 'import os; print(os.environ['\"'\"'N'\"'\"'])'"
    assert written["last_lines"] == ["7"]
    assert written["succeeded"] is True


def test_details_of_a_result_are_recorded(root: Path) -> None:
    assert main(["counts", "holds"], root, PROOFS) == 0
    assert record(root, "counts")["details"] == {"tests": 3}
    assert "details" not in record(root, "holds")


def test_a_commit_made_meanwhile_is_not_the_one_that_ran(root: Path) -> None:
    head = git(root, "rev-parse", "HEAD")
    moving = ("git", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "On")
    assert main(["moves"], root, {"moves": Proof("It moves.", moving)}) == 0
    assert record(root, "moves")["commit"] == head != git(root, "rev-parse", "HEAD")


def test_a_failure_is_recorded_too(root: Path) -> None:
    assert main(["fails", "holds"], root, PROOFS) == 1
    assert record(root, "fails")["exit_code"] == 4
    assert record(root, "fails")["last_lines"] == ["why"]
    assert record(root, "holds")["succeeded"] is True


def test_a_changed_work_tree_and_an_unknown_name_are_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["unknown"], root, PROOFS) == 2
    assert "There is no proof unknown. Known: holds, counts, fails, cases." in capsys.readouterr().err
    (root / "new.py").write_text("pass\n", "utf-8")
    assert main(["holds"], root, PROOFS) == 2
    assert "new.py" in capsys.readouterr().err
    assert not (root / "docs").exists()


def test_without_a_name_the_proofs_are_listed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], root, PROOFS) == 0
    assert "It holds." in capsys.readouterr().out


def test_an_interrupted_proof_continues_where_it_stopped(root: Path) -> None:
    stop = root / "build" / "stop"
    stop.mkdir()
    (stop / "4.3.1").touch()
    assert main(["cases"], root, PROOFS) == 130
    assert ran(root) == ["3.9.2", "4.3.1"]
    written = record(root, "cases")
    assert (written["succeeded"], written["cases"], written["passed"]) == (False, 3, 1)
    assert written["not_run"] == [case("4.3.1"), case("4.4.0")]
    (stop / "4.3.1").unlink()
    assert main(["cases"], root, PROOFS) == 0
    assert ran(root) == ["4.3.1", "4.4.0"]
    written = record(root, "cases")
    assert (written["succeeded"], written["passed"], written["not_run"]) == (True, 3, [])
    assert [one["release"] for one in written["results"]] == ["3.9.2", "4.3.1", "4.4.0"]
    assert main(["cases"], root, PROOFS) == 0
    assert ran(root) == []


def test_a_red_case_is_kept_with_its_output_and_runs_again(root: Path) -> None:
    (root / "eosctl" / "subject.py").write_text("LIMIT = '4.4'\n", "utf-8")
    assert main(["cases"], commit(root), PROOFS) == 1
    assert ran(root) == ["3.9.2", "4.3.1", "4.4.0"]
    assert record(root, "cases")["failed"] == [case("4.4.0")]
    *_, red = record(root, "cases")["results"]
    assert any("AssertionError" in line or "assert" in line for line in red["last_lines"])
    assert main(["cases"], root, PROOFS) == 1
    assert ran(root) == ["4.4.0"]


def test_results_of_other_code_are_named_and_run_again(root: Path) -> None:
    assert main(["cases"], root, PROOFS) == 0
    ran(root)
    (root / "eosctl" / "other.py").write_text("UNRELATED = 1\n", "utf-8")
    assert main(["cases"], commit(root), PROOFS) == 0
    assert ran(root) == []
    (root / "eosctl" / "subject.py").write_text("LIMIT = '8'\n", "utf-8")
    stop = root / "build" / "stop"
    stop.mkdir()
    (stop / "3.9.2").touch()
    assert main(["cases"], commit(root), PROOFS) == 130
    written = record(root, "cases")
    assert (written["succeeded"], written["passed"], written["not_run"]) == (False, 0, [])
    assert written["earlier_code"] == [case("3.9.2"), case("4.3.1"), case("4.4.0")]


def test_only_new_cases_run_on_request(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--new", "cases"], root, PROOFS) == 0
    assert len(ran(root)) == 3
    (root / "eosctl/subject.py").write_text("LIMIT = '8'\n", "utf-8")
    (root / "tests/test_cases.py").write_text(CASES.replace('"3.9.2", ', '"3.9.2", "4.0.2", '), "utf-8")
    assert main(["--new", "cases"], commit(root), PROOFS) == 0
    assert len(ran(root)) == 4, "the test changed, so that all of its cases are new"
    (root / "eosctl/subject.py").write_text("LIMIT = '7'\n", "utf-8")
    assert main(["--new", "cases"], commit(root), PROOFS) == 0
    assert ran(root) == [], "the product alone changed"
    written = record(root, "cases")
    assert (written["succeeded"], written["passed"], len(written["earlier_code"])) == (False, 0, 4)
    assert main(["--new", "holds"], root, PROOFS) == 2
    assert "runs as a whole" in capsys.readouterr().err


def covered(root: Path, test: str) -> set[str]:
    return {str(path.relative_to(root)) for path in covered_files(root, test, import_graph(root, PACKAGES))}


def test_a_test_covers_what_it_imports_and_the_data(root: Path) -> None:
    files = {"tests/test_cases.py", "eosctl/__init__.py", "eosctl/subject.py", "eosctl/values.toml"}
    assert covered(root, "tests/test_cases.py") == files


def test_a_test_of_the_program_covers_its_commands(root: Path) -> None:
    (root / "eosctl" / "cli.py").write_text("COMMANDS = {'other': 'eosctl.other'}\n", "utf-8")
    (root / "tests" / "conftest.py").write_text("import eosctl.cli\n", "utf-8")
    assert covered(root, "tests/test_cases.py") >= {"tests/conftest.py", "eosctl/cli.py", "eosctl/other.py"}
