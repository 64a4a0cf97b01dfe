"""What goes with a release: archives, lower bounds, audits, licenses, the action, the hooks, the container."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from eosctl import __version__
from scripts.book.licenses import UNNAMED, dependencies, licenses_page
from scripts.release.archives import LEFT_OUT, build_archives
from scripts.release.audit import judge_audit
from scripts.release.compiled import compiled_modules, pure_modules
from scripts.release.formula import write_formula
from scripts.release.lowest import lowest_constraints, requirements
from scripts.release.parts import complete_parts

UNKNOWN = {"name": "b", "skip_reason": "the service does not know it"}
BAD = "transactional.id=payments\nenable.idempotence=false\nbootstrap.servers=kafka-1:9092\n"


@pytest.fixture(scope="module")
def project(project_root: Path) -> dict[str, Any]:
    found = tomllib.loads((project_root / "pyproject.toml").read_text("utf-8"))["project"]
    assert isinstance(found, dict)
    return found


def plant(folder: Path, project_root: Path, mtime_s: int) -> Path:
    """Make a small project with eosctl's own pyproject, with files of a time and permissions of its own."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (folder / name).write_bytes((project_root / name).read_bytes())
    for package in ("eosctl", "spark_log_analytics", "config_profiles"):
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text('__version__ = "1.2.3"\n')
        (folder / package / "data.yaml").write_text("a: 1\n")
    for path in folder.rglob("*"):
        os.utime(path, (mtime_s, mtime_s))
    return folder


@pytest.mark.slow
def test_archives_of_the_same_sources_are_the_same_bytes(project_root: Path, tmp_path: Path) -> None:
    contents = []
    for name, mtime_s, mask in (("first", 1_600_000_000, 0o022), ("second", 1_650_000_001, 0o077)):
        before = os.umask(mask)
        try:
            (tmp_path / name).mkdir()
            source = plant(tmp_path / name, project_root, mtime_s)
            built = build_archives(source, tmp_path / f"dist-{name}", 1_700_000_000)
        finally:
            os.umask(before)
        assert [path.name for path in built] == ["eosctl-1.2.3-py3-none-any.whl", "eosctl-1.2.3.tar.gz"]
        contents.append([path.read_bytes() for path in (*built, built[0].parent / "SHA256SUMS")])
    assert contents[0] == contents[1]
    with tarfile.open(tmp_path / "dist-first" / "eosctl-1.2.3.tar.gz") as archive:
        assert {member.mtime for member in archive} == {1_700_000_000}
        assert "eosctl-1.2.3/config_profiles/data.yaml" in archive.getnames()


def test_source_archives_of_the_product_are_the_same_bytes(project_root: Path, tmp_path: Path) -> None:
    """The second build has another time, folder, umask, and order of files."""
    built = []
    for name, mask in (("first", 0o022), ("a-second-folder", 0o077)):
        before = os.umask(mask)
        try:
            shutil.copytree(project_root, tmp_path / name, ignore=shutil.ignore_patterns(*LEFT_OUT, "benchmarks"))
            for at, path in enumerate(sorted((tmp_path / name).rglob("*.py"), reverse=mask == 0o077)):
                os.utime(path, (1_600_000_000 + at, 1_600_000_000 + at))
            (archive,) = build_archives(tmp_path / name, tmp_path / f"dist-{name}", 1_700_000_000, kinds=["sdist"])
        finally:
            os.umask(before)
        built.append(archive)
    assert built[0].read_bytes() == built[1].read_bytes()
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "setup.py", "eosctl/cli.py", "scripts/generate_wire/files.py"} <= names


def test_the_list_of_parts_has_the_version_and_digest(project_root: Path, tmp_path: Path) -> None:
    wheel = tmp_path / f"eosctl-{__version__}-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    listed = {"metadata": {"component": {"name": "eosctl", "bom-ref": "root"}}, "components": [{"name": "typer"}]}
    component = json.loads(complete_parts(json.dumps(listed), wheel))["metadata"]["component"]
    assert component["version"] == __version__
    assert component["purl"] == f"pkg:pypi/eosctl@{__version__}"
    assert component["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"wheel").hexdigest()}]
    assert "scripts.release.parts" in (project_root / "scripts/list-parts").read_text("utf-8")
    with pytest.raises(ValueError, match="the wheel is"):
        complete_parts(json.dumps(listed), wheel.rename(tmp_path / "other-1.0-py3-none-any.whl"))


def test_the_formula_names_its_archive(tmp_path: Path) -> None:
    archive = tmp_path / "eosctl-1.2.3.tar.gz"
    archive.write_bytes(b"sources")
    lines = [line.strip() for line in write_formula(archive).splitlines()]
    assert f'url "{archive.as_uri()}"' in lines
    assert 'version "1.2.3"' in lines
    assert f'sha256 "{hashlib.sha256(b"sources").hexdigest()}"' in lines
    assert 'url "https://example.org/v1/eosctl-1.2.3.tar.gz"' in write_formula(
        archive, "https://example.org/v1/eosctl-1.2.3.tar.gz"
    )
    with pytest.raises(ValueError, match="is not an address"):
        write_formula(archive, 'https://example.org/#{system("rm")}.tar.gz')
    with pytest.raises(ValueError, match="is not a source archive"):
        write_formula(archive.rename(tmp_path / "eosctl-1.2.3-py3-none-any.whl"))


def test_a_compiled_wheel_lacks_no_hot_module(project_root: Path, tmp_path: Path) -> None:
    names = compiled_modules(project_root)
    with zipfile.ZipFile(tmp_path / "eosctl.whl", "w") as wheel:
        for name in names[1:]:
            wheel.writestr(f"{name.replace('.', '/')}.cpython-311-x86_64-linux-gnu.so", b"")
        wheel.writestr(f"{names[0].replace('.', '/')}.py", b"")
    assert pure_modules(tmp_path / "eosctl.whl", names) == names[:1]


def test_requirements_have_lower_bounds_and_admit_the_installed(project: dict[str, Any]) -> None:
    wanted = list(requirements(project))
    lowest = dict(line.split("==") for line in lowest_constraints(wanted))
    assert set(lowest) == {requirement.name for requirement in wanted}
    for requirement in wanted:
        assert requirement.specifier.contains(lowest[requirement.name])
        if installed := next((found.version for found in distributions(name=requirement.name)), None):
            assert requirement.specifier.contains(installed), requirement


def test_lowest_versions_are_read_from_the_bounds() -> None:
    assert lowest_constraints([Requirement("b>=2.1,<3"), Requirement("a==1.0"), Requirement("b>=2.1,<3")]) == [
        "a==1.0",
        "b==2.1",
    ]
    with pytest.raises(ValueError, match="no lower bound"):
        lowest_constraints([Requirement("c<4")])


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        ([{"name": "a", "version": "1", "vulns": []}], 0, "1 packages, no known vulnerability"),
        (
            [{"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}, UNKNOWN],
            1,
            "a 1: CVE-1, fixed in 2",
        ),
        ([{"name": "a", "version": "1", "vulns": []}, UNKNOWN], 2, "1 of 2 packages"),
        ([], 2, "Not audited"),
    ],
)  # fmt: skip
def test_an_audit_lists_faults_and_unanswered_requests(answer: list[Any], status: int, words: str) -> None:
    result, code = judge_audit(json.dumps({"dependencies": answer}), "")
    assert code == status
    assert words in result


def test_an_audit_without_its_service_is_undecided() -> None:
    assert judge_audit("", "noise\nno route to host\n") == (
        "Nothing was audited: pip-audit could not ask its service (no route to host).",
        2,
    )


def test_dependencies_name_permissive_licenses() -> None:
    found = dependencies()
    direct = {"typer", "rich", "PyYAML", "confluent-kafka", "pyspark", "msgspec", "MarkupSafe"}
    assert direct <= {package.name for package in found}
    assert {package.name for package in found if not package.license} <= UNNAMED
    assert [package for package in found if re.search(r"GPL|SSPL|Proprietary|Commons Clause", package.license)] == []
    page = licenses_page()
    assert [package.name for package in found if f"| {package.name} | {package.version} |" not in page] == []
    (of_spark,) = [package.extras for package in found if package.name == "pyspark"]
    assert "spark" in of_spark
    assert [package.extras for package in found if package.name == "typer"] == [()]


def run_judge(project_root: Path, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the action's own script as GitHub does, with its inputs in the environment."""
    action = yaml.safe_load((project_root / "action.yml").read_text("utf-8"))
    (step,) = [step for step in action["runs"]["steps"] if step["name"] == "Judge"]
    defaults = {name: str(given["default"]) for name, given in action["inputs"].items()}
    names = {key: re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value) for key, value in step["env"].items()}
    values = {key: (defaults | inputs)[name[1]] for key, name in names.items() if name is not None}
    assert set(values) == set(step["env"])
    environment = os.environ | values | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_fails_exactly_if_the_command_fails(project_root: Path, tmp_path: Path) -> None:
    (tmp_path / "my app").mkdir()
    (tmp_path / "my app" / "producer.properties").write_text(BAD)
    judged = run_judge(project_root, tmp_path, paths="my app\n\n")
    assert judged.returncode == 3, judged.stderr
    assert "::error" in judged.stdout
    assert judged.stderr.count("report: eosctl.sarif") == 1
    findings = json.loads((tmp_path / "eosctl.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert any("my%20app/producer.properties" in json.dumps(finding) for finding in findings)


def test_the_action_runs_nothing_but_eosctl(project_root: Path, tmp_path: Path) -> None:
    refused = run_judge(project_root, tmp_path, run="config lint; touch planted")
    assert refused.returncode == 2
    run_judge(project_root, tmp_path, paths="$(touch planted)\n`touch planted`\n; touch planted")
    assert not (tmp_path / "planted").exists()


@pytest.mark.parametrize("run", ["config lint", "doctor"])
def test_a_file_named_like_an_option_does_not_open_the_action(run: str, project_root: Path, tmp_path: Path) -> None:
    (tmp_path / "--exit-zero").write_text("")
    (tmp_path / "producer.properties").write_text(BAD)
    judged = run_judge(project_root, tmp_path, run=run, paths="--exit-zero\nproducer.properties")
    assert judged.returncode not in (0, 1), judged.stdout + judged.stderr
    chosen = run_judge(project_root, tmp_path, run=run, paths="producer.properties", arguments="--exit-zero")
    assert chosen.returncode == 0, "an option of the workflow is still one"


def test_a_file_named_like_an_option_does_not_open_the_hooks(project_root: Path, tmp_path: Path) -> None:
    (tmp_path / "--exit-zero").write_text("")
    (tmp_path / "producer.properties").write_text(BAD)
    for hook in yaml.safe_load((project_root / ".pre-commit-hooks.yaml").read_text("utf-8")):
        entry = [sys.executable, "-m", *shlex.split(hook["entry"]), *hook.get("args", [])]
        words = [*entry, "--exit-zero", "producer.properties"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode not in (0, 1), done.stdout + done.stderr


def test_the_hooks_run_as_pre_commit_runs_them(project_root: Path, tmp_path: Path) -> None:
    hooks = yaml.safe_load((project_root / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert [hook["id"] for hook in hooks] == ["eosctl-config-lint", "eosctl-doctor"]
    (tmp_path / "producer.properties").write_text(BAD)
    for hook in hooks:
        for ending in ("properties", "yml", "json5", "tf", "tfvars", "ini", "conf", "properties.j2"):
            assert re.search(hook["files"], f"deploy/producer.{ending}")
        assert hook["require_serial"] is True, "its parts would be judged without each other"
        words = [sys.executable, "-m", *shlex.split(hook["entry"]), "producer.properties"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 3, done.stderr


def test_the_container_copies_what_the_wheel_needs(project_root: Path) -> None:
    text = (project_root / "Containerfile").read_text("utf-8")
    copied = {word for line in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE) for word in line.split()}
    packages = {"eosctl", "spark_log_analytics", "config_profiles"}
    generator = {"setup.py", "scripts/__init__.py", "scripts/generate_wire"}
    assert {"pyproject.toml", "README.md", "LICENSE", "deploy/spark/entrypoint", *generator, *packages} == copied
    assert all((project_root / name).exists() for name in copied)
    let_in = (project_root / ".containerignore").read_text("utf-8").split()
    assert {f"!{name}" for name in copied} <= set(let_in)
    # A number: Kubernetes refuses runAsNonRoot for a name. The manifests run as the same user.
    (user,) = set(re.findall(r"^USER (\d+)$", text, re.MULTILINE))
    assert f"useradd --create-home --uid {user} eosctl" in text
    for manifest in ("kubernetes/exporter.yaml", "spark/kubernetes/logs.yaml"):
        assert f"runAsUser: {user}\n" in (project_root / "deploy" / manifest).read_text("utf-8")
    labels = re.findall(r'org\.opencontainers\.image\.(\w+)(?:\.\w+)?="', text)
    assert labels == ["title", "description", "licenses", "base"]
    assert re.search(r"^FROM program AS exporter$(?:.*\n)*?HEALTHCHECK ", text, re.MULTILINE)
    # Process 1 has no default action for SIGTERM: without this, stopping the exporter's container takes until SIGKILL.
    assert re.search(r"^STOPSIGNAL SIGINT$", text, re.MULTILINE)
