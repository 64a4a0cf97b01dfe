"""The Python API: a diagnosis without the command line, and what is given to its callbacks."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from eosctl.collect.bundles.snapshot_file import load_snapshot, save_snapshot
from eosctl.errors import ConfigFileError, EosctlError, ExitCode, UsageError
from eosctl.services.callbacks import Callbacks
from eosctl.services.connection import Connection, names_a_cluster
from eosctl.services.diagnose import Diagnosed, DiagnoseRequest, diagnose
from eosctl.services.gate_options import GateOptions
from eosctl.services.sources import Sources
from eosctl.testing import SandboxThread
from tests.commands.conftest import snapshot_file
from tests.render.unhappy_cluster import T

__all__ = ["snapshot_file"]
pytestmark = pytest.mark.usefixtures("own_home")
STREAMS = "application.id=a\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=30000\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in a folder without .eosctl.yaml."""
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    return tmp_path / "folder"


@pytest.fixture
def application(tmp_path: Path) -> Path:
    path = tmp_path / "app.properties"
    path.write_text(STREAMS, "utf-8")
    return path


def ids(diagnosed: Diagnosed) -> set[str]:
    return {finding.check_id for finding in diagnosed.findings}


class Recorded:
    """Callbacks that keep what they are given."""

    def __init__(self) -> None:
        self.remarks: list[str] = []
        self.steps: list[str] = []
        self.errors: list[EosctlError] = []
        self.callbacks = Callbacks(lambda: T, self.remarks.append, self.steps.append, self.errors.append)


def test_a_snapshot_and_files_are_judged_together(snapshot_file: Path, application: Path) -> None:
    alone = diagnose(DiagnoseRequest(snapshot_file=snapshot_file))
    together = diagnose(DiagnoseRequest(snapshot_file=snapshot_file, paths=(application,)))
    assert "EOS-CFG-001" in ids(together) - ids(alone)
    assert ids(alone) < ids(together)
    assert together.exit_code is ExitCode.FINDINGS
    assert [one.role for one in together.report.read_as] == ["streams"]
    assert {check.id for check in together.checks} > {check.id for check in alone.checks}


def test_causes_actions_and_next_commands_come_with_the_result(snapshot_file: Path) -> None:
    report = diagnose(DiagnoseRequest(snapshot_file=snapshot_file)).report
    assert report.groups
    assert report.actions[0].step == report.groups[0].cause.remedy[0]
    assert 0 < len(report.next_commands) <= 3
    assert report.timeline is not None


def test_files_alone_read_no_cluster(application: Path) -> None:
    recorded = Recorded()
    diagnosed = diagnose(DiagnoseRequest(paths=(application,)), recorded.callbacks)
    assert ids(diagnosed) == {"EOS-CFG-001"}
    assert recorded.remarks == []
    assert not diagnosed.report.snapshot.brokers


def test_an_unreadable_file_is_never_an_all_clear(tmp_path: Path, application: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("kafka: [", "utf-8")
    recorded = Recorded()
    diagnosed = diagnose(
        DiagnoseRequest(paths=(application, broken), gate=GateOptions(exit_zero=True)), recorded.callbacks
    )
    assert [one.file for one in diagnosed.unreadable] == [str(broken)]
    assert recorded.errors == [one.error for one in diagnosed.unreadable]
    assert diagnosed.exit_code is ExitCode.BAD_INPUT


def test_suppressed_findings_are_kept_apart(folder: Path, application: Path) -> None:
    (folder / ".eosctl.yaml").write_text("suppressions:\n- id: EOS-CFG-001\n  scope: '*'\n  reason: agreed\n", "utf-8")
    diagnosed = diagnose(DiagnoseRequest(paths=(application,)))
    assert diagnosed.findings == ()
    assert diagnosed.exit_code is ExitCode.DONE
    assert [finding.check_id for finding in diagnosed.found] == ["EOS-CFG-001"]
    assert [reason for _, reason in diagnosed.diagnosis.suppressed] == ["agreed"]


def test_the_gate_decides_the_exit_code(application: Path) -> None:
    assert diagnose(DiagnoseRequest(paths=(application,))).exit_code is ExitCode.FINDINGS
    lenient = GateOptions(exit_zero=True, min_score=100)
    assert diagnose(DiagnoseRequest(paths=(application,), gate=lenient))[-2:] == (ExitCode.DONE, ())
    strict = diagnose(DiagnoseRequest(paths=(application,), gate=GateOptions(min_score=100)))
    assert strict.exit_code is ExitCode.FINDINGS
    assert strict.remarks == (f"{strict.grade}: below --min-score 100",)


def test_selected_checks_run_alone(snapshot_file: Path) -> None:
    diagnosed = diagnose(DiagnoseRequest(snapshot_file=snapshot_file, checks=("EOS-TXN-001",)))
    assert [result.check_id for result in diagnosed.diagnosis.results] == ["EOS-TXN-001"]
    with pytest.raises(UsageError, match="EOS-TXN-999"):
        diagnose(DiagnoseRequest(snapshot_file=snapshot_file, checks=("EOS-TXN-999",)))


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (DiagnoseRequest(sources=Sources(zone="Europe/Berlin")), UsageError),
        (DiagnoseRequest(sources=Sources(credentials=Path("secret"))), UsageError),
        (DiagnoseRequest(sources=Sources((Path("a.log"),), zone="Nowhere")), UsageError),
        (DiagnoseRequest(snapshot_file=Path("missing.json")), ConfigFileError),
        (DiagnoseRequest(Connection("localhost:1"), Path("missing.json")), UsageError),
        (DiagnoseRequest(paths=(Path("app.properties"),), save_snapshot=Path("kept.json")), UsageError),
    ],
)
def test_what_cannot_be_done_is_an_error(request_: DiagnoseRequest, error: type[EosctlError]) -> None:
    with pytest.raises(error):
        diagnose(request_)


def test_a_cluster_is_read_where_an_event_loop_runs_already(tmp_path: Path) -> None:
    recorded, kept = Recorded(), tmp_path / "kept.json"

    async def in_a_notebook(bootstrap: str) -> Diagnosed:
        return diagnose(DiagnoseRequest(Connection(bootstrap), save_snapshot=kept), recorded.callbacks)

    with SandboxThread(brokers=1) as cluster:
        bootstrap = cluster.bootstrap
        diagnosed = asyncio.run(in_a_notebook(bootstrap))
    assert diagnosed.grade.is_given
    assert diagnosed.report.generated_at_ms == T
    assert recorded.remarks == [f"cluster: {bootstrap}", f"snapshot: {kept}"]
    assert recorded.steps[0] == "connecting"
    assert recorded.steps[-1] == "checks"
    assert load_snapshot(kept).cluster_id == diagnosed.diagnosis.cluster_id


def test_the_environment_can_name_the_cluster() -> None:
    assert names_a_cluster(Connection("localhost:9092"), {})
    assert names_a_cluster(Connection(), {"EOSCTL_PROFILE": "prod"})
    assert not names_a_cluster(Connection(), {"EOSCTL_PROFILE": ""})
    assert not names_a_cluster(Connection(timeout_ms=5), {})


WITHOUT_TERMINAL = """
import sys
for name in ("typer", "click", "rich", "jinja2"):
    sys.modules[name] = None
from pathlib import Path
from eosctl.services.diagnose import DiagnoseRequest, diagnose
import eosctl.services.watch_diagnosis, eosctl.services.answer_checklist
result = diagnose(DiagnoseRequest(snapshot_file=Path(sys.argv[1])))
assert not [name for name in sys.modules if name.startswith(("eosctl.commands", "eosctl.render"))]
print(result.grade.letter, len(result.findings))
"""


def test_neither_typer_nor_rich_is_needed(snapshot_file: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TERMINAL, snapshot_file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = diagnose(DiagnoseRequest(snapshot_file=snapshot_file))
    assert done.stdout.split() == [expected.grade.letter, str(len(expected.findings))]


def test_a_saved_snapshot_is_the_evidence_that_was_read(snapshot_file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    diagnose(DiagnoseRequest(snapshot_file=snapshot_file, save_snapshot=copy))
    again = tmp_path / "again.json"
    save_snapshot(load_snapshot(snapshot_file), again)
    assert copy.read_bytes() == again.read_bytes()
