"""Fixing files: every mistake of the corpus, until nothing changes, without another error."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from eosctl.checks.configuration.repairs import plan_repairs
from eosctl.checks.judge import judge
from eosctl.errors import ConfigFileError, EosctlError
from eosctl.findings.finding import Finding
from eosctl.findings.linted import findings_of
from eosctl.findings.repair import Repair
from eosctl.model.severity import Severity
from eosctl.services import change_configuration
from eosctl.services.change_configuration import (
    FixRequest,
    UpgradeRequest,
    fix_configuration,
    plan_configuration_upgrade,
)
from eosctl.services.compare_configuration import Side, compare_files
from eosctl.settings.deployment.deployment_files import read_deployment
from tests.checks.configuration.test_rule_cases import CASES, RuleCase

FAILED = [case for case in CASES if case.expect == "failed" and case.releases == (None, None, None)]


def written(case: RuleCase, folder: Path) -> None:
    for name, text in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def errors(folder: Path) -> set[tuple[str, str, str]]:
    """Return the findings above information, which a repair may leave to decide."""
    found = findings_of(judge(read_deployment([folder]).deployment))
    facts = ((f.check_id, dict(f.facts)) for f in found if f.severity.at_least(Severity.WARNING))
    return {(check_id, str(told["file"]), str(told["keys"])) for check_id, told in facts}


def test_no_repair_of_the_corpus_causes_another_finding(tmp_path: Path) -> None:
    spoiled, repaired = [], 0
    for number, case in enumerate(FAILED):
        folder = tmp_path / str(number)
        written(case, folder)
        before = errors(folder)
        fixed = fix_configuration(FixRequest((folder,), write=True))
        repaired += bool(fixed.repairs)
        spoiled += [(str(case), text) for _, text in fixed.repairs if "another error" in text]
        spoiled += [(str(case), found) for found in errors(folder) - before if case.check_id in found]
        if fixed.repairs:
            again = fix_configuration(FixRequest((folder,)))
            assert {name: again.after[name] for name in again.before} == again.before, case
    assert spoiled == []
    assert repaired > 30


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "transactional.id=a\nenable.idempotence=false\nacks=1\nretries=0\nmax.in.flight.requests.per.connection=9\n",
            "transactional.id=a\nenable.idempotence=true\nacks=all\nmax.in.flight.requests.per.connection=5\n",
        ),
        (
            "key.serializer=s\nacks=1\nenable.idempotence=false\n",
            "key.serializer=s\nacks=1\nenable.idempotence=false\n",
        ),
    ],
)
def test_all_of_a_file_is_fixed_in_one_run(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "producer.properties"
    path.write_text(before, "utf-8")
    fixed = fix_configuration(FixRequest((path,), write=True))
    assert path.read_text("utf-8") == after
    assert (fixed.exit_code.value, fixed.left) == (0, ())


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "appsettings.json",
            '{"Kafka": {"Producer": {"TransactionalId": "a", "Acks": "Leader", "MaxInFlight": 9}}}',
            '{"Kafka": {"Producer": {"TransactionalId": "a", "Acks": "All", "MaxInFlight": 5}}}',
        ),
        (
            "kafka.conf",
            "[producer]\ntransactional.id=a\nrequest.required.acks=1\nmessage.send.max.retries=0\n",
            "[producer]\ntransactional.id=a\nrequest.required.acks=all\nmessage.send.max.retries=0\n",
        ),
    ],
)
def test_what_librdkafka_refuses_is_fixed(tmp_path: Path, name: str, before: str, after: str) -> None:
    path = tmp_path / name
    path.write_text(before, "utf-8")
    fix_configuration(FixRequest((path,), write=True))
    assert path.read_text("utf-8") == after


def test_what_is_left_is_named(tmp_path: Path) -> None:
    path = tmp_path / "producer.properties"
    path.write_text("transactional.id=a\nacks=1\nbatch.size=many\n", "utf-8")
    fixed = fix_configuration(FixRequest((path,), write=True))
    assert [finding.check_id for finding in fixed.left] == ["EOS-CFG-088"]
    assert fixed.exit_code.value == 3


@pytest.mark.parametrize("write", [True, False])
def test_errors_without_a_repair_fail(tmp_path: Path, write: bool) -> None:
    path = tmp_path / "producer.properties"
    path.write_text("transactional.id=a\nbatch.size=many\n", "utf-8")
    fixed = fix_configuration(FixRequest((path,), write=write))
    assert [finding.check_id for finding in fixed.left] == ["EOS-CFG-088"]
    assert (fixed.exit_code.value, fixed.repairs) == (3, ())


@pytest.mark.parametrize("name", ["other.json", "notes.txt"])
def test_files_without_settings_are_never_a_clean_result(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"service": 1}', "utf-8")
    for act in (
        lambda: fix_configuration(FixRequest((path,))),
        lambda: plan_configuration_upgrade(UpgradeRequest((path,), "3.9", "4.3")),
        lambda: compare_files(Side(path), Side(path)),
    ):
        with pytest.raises(ConfigFileError):
            act()


def test_components_of_one_file_alone_are_differences(tmp_path: Path) -> None:
    producer, consumer = tmp_path / "producer.properties", tmp_path / "consumer.properties"
    producer.write_text("transactional.id=a\nacks=all\n", "utf-8")
    consumer.write_text("group.id=g\nisolation.level=read_committed\n", "utf-8")
    found = compare_files(Side(producer), Side(consumer))
    assert {(one.role, one.setting, one.left, one.right) for one in found} == {
        ("producer", "acks", "all", "(none)"),
        ("producer", "transactional.id", "a", "(none)"),
        ("consumer", "group.id", "(none)", "g"),
        ("consumer", "isolation.level", "(none)", "read_committed"),
    }


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "producer.properties"
    path.write_text("transactional.id=a\nacks=1\n", "utf-8")
    plan = plan_repairs

    def plan_while_edited(findings: Iterable[Finding]) -> tuple[Repair, ...]:
        planned = plan(findings)
        if not planned:
            path.write_text("transactional.id=b\nacks=1\n", "utf-8")
        return planned

    monkeypatch.setattr(change_configuration, "plan_repairs", plan_while_edited)
    with pytest.raises(EosctlError) as caught:
        fix_configuration(FixRequest((path,), write=True))
    assert caught.value.why == "It has changed since it was read."
    assert path.read_text("utf-8") == "transactional.id=b\nacks=1\n"


def test_a_file_with_hard_links_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "producer.properties"
    path.write_text("transactional.id=a\nacks=1\n", "utf-8")
    (tmp_path / "other").hardlink_to(path)
    with pytest.raises(EosctlError, match="Cannot write"):
        fix_configuration(FixRequest((path,), write=True))
    assert path.read_text("utf-8") == "transactional.id=a\nacks=1\n"


def test_a_file_in_latin_1_leaves_the_others_to_be_fixed(tmp_path: Path) -> None:
    latin, plain = tmp_path / "a.properties", tmp_path / "b.properties"
    latin.write_bytes("# caf\u00e9\ntransactional.id=a\nacks=1\n".encode("latin-1"))
    plain.write_text("transactional.id=b\nacks=1\n", "utf-8")
    before = latin.read_bytes()
    fixed = fix_configuration(FixRequest((tmp_path,), write=True))
    assert [(one.file, text) for one, text in fixed.repairs] == [
        (str(latin), "Only UTF-8 files are edited."),
        (str(plain), ""),
    ]
    assert (latin.read_bytes(), plain.read_text("utf-8")) == (before, "transactional.id=b\nacks=all\n")
    assert fixed.exit_code.value == 2


def test_a_file_that_cannot_be_written_leaves_the_others(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.properties").write_text(f"transactional.id={name}\nacks=1\n", "utf-8")
    (tmp_path / "other").hardlink_to(tmp_path / "a.properties")
    with pytest.raises(EosctlError, match="Cannot write"):
        fix_configuration(FixRequest((tmp_path,), write=True))
    assert (tmp_path / "b.properties").read_text("utf-8") == "transactional.id=b\nacks=all\n"
