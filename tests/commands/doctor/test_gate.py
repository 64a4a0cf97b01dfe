"""Files with a cluster, suppressions, baselines, and thresholds: which findings count, and which exit code follows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl

STREAMS = "application.id=a\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=30000\n"


@pytest.fixture
def application(tmp_path: Path) -> Path:
    path = tmp_path / "app.properties"
    path.write_text(STREAMS, "utf-8")
    return path


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in a folder of its own, where .eosctl.yaml is looked for."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


class TestFiles:
    def test_alone_they_need_no_cluster(self, application: Path) -> None:
        done = eosctl("doctor", application, "-o", "json")
        assert done.code == 3
        (item,) = done.json["items"]
        assert (item["check_id"], item["facts"]["line"]) == ("EOS-CFG-001", 3)
        assert done.json["summary"][1].startswith(f"{application}: ")
        assert not [check for check in done.json["checks"] if not check["id"].startswith("EOS-CFG-")]

    def test_files_and_a_snapshot_are_both_judged(self, application: Path, snapshot_file: Path) -> None:
        done = eosctl("doctor", application, "--snapshot", snapshot_file, "-o", "json")
        found = {item["check_id"] for item in done.json["items"]}
        assert {"EOS-TXN-001", "EOS-CFG-001"} <= found
        alone = eosctl("doctor", "--snapshot", snapshot_file, "-o", "json").json
        in_files = [item for item in done.json["items"] if item["resource"]["kind"] == "file"]
        assert len(done.json["items"]) == len(alone["items"]) + len(in_files)
        assert {item["facts"]["file"] for item in in_files} == {str(application)}

    def test_a_malformed_one_is_reported_and_the_others_are_judged(self, application: Path) -> None:
        (application.parent / "bad.yaml").write_text("kafka: [\n", "utf-8")
        done = eosctl("doctor", application, application.parent / "bad.yaml", "-o", "tsv")
        assert done.code == 2
        assert "bad.yaml" in done.err
        assert "EOS-CFG-001" in done.out

    def test_annotations_and_sarif_stand_at_the_line(self, application: Path) -> None:
        assert f"file={application},line=3," in eosctl("doctor", application, "-o", "github").out
        (run,) = eosctl("doctor", application, "-o", "sarif").json["runs"]
        place = run["results"][0]["locations"][0]["physicalLocation"]
        assert place == {"artifactLocation": {"uri": str(application)}, "region": {"startLine": 3}}

    @pytest.mark.parametrize("output", ["table", "wide", "json", "markdown", "github", "html", "sarif"])
    def test_no_secret_is_shown(self, output: str, tmp_path: Path) -> None:
        path = tmp_path / "client.properties"
        path.write_text(STREAMS + "sasl.jaas.config=x password='hunter2';\nssl.key.password=hunter2\n", "utf-8")
        assert "hunter2" not in eosctl("doctor", path, "-o", output).out


class TestSuppressions:
    RULE = "suppressions:\n- {id: EOS-CFG-001, scope: '*app.properties', reason: known since May%s}\n"

    def test_one_hides_its_finding_and_is_reported(self, application: Path, project: Path) -> None:
        (project / ".eosctl.yaml").write_text(self.RULE % "", "utf-8")
        done = eosctl("doctor", application, "-o", "json")
        assert (done.code, done.json["items"], done.json["remarks"]) == (0, [], [])
        (hidden,) = done.json["suppressed"]
        assert (hidden["check_id"], hidden["reason"]) == ("EOS-CFG-001", "known since May")
        assert [c["status"] for c in done.json["checks"] if c["id"] == "EOS-CFG-001"] == ["suppressed"]
        assert "known since May" in eosctl("doctor", application).out
        assert done.json["grade"]["score"] > 70

    def test_an_expired_one_hides_nothing_and_is_reported(self, application: Path, project: Path) -> None:
        (project / ".eosctl.yaml").write_text(self.RULE % ", expires: 2020-01-31", "utf-8")
        done = eosctl("doctor", application, "-o", "json")
        assert (done.code, len(done.json["items"])) == (3, 1)
        assert "expired on 2020-01-31" in done.json["remarks"][0]

    def test_one_of_another_scope_hides_nothing_and_is_reported(self, application: Path, project: Path) -> None:
        rule = (self.RULE % "").replace("*app.properties", "other.properties")
        (project / ".eosctl.yaml").write_text(rule, "utf-8")
        done = eosctl("doctor", application, "-o", "json")
        assert len(done.json["items"]) == 1
        assert "matches no finding" in done.json["remarks"][0]

    def test_one_of_no_check_is_remarked_on(self, application: Path, project: Path) -> None:
        known = ("EOS-BRK-001", "hanging-transaction", "fsck/crc-mismatch", "logs/producer_fenced")
        entries = "".join(f"- {{id: {one}, reason: r}}\n" for one in (*known, "EOS-CFG-999", "fsck/crc-mismach"))
        (project / ".eosctl.yaml").write_text(f"suppressions:\n{entries}", "utf-8")
        for command in (("doctor",), ("config", "lint")):
            remarks = eosctl(*command, application, "-o", "json").json["remarks"]
            assert [one.split()[3] for one in remarks] == ["EOS-CFG-999", "fsck/crc-mismach"]

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("suppressions: [{id: EOS-CFG-001}]", "no reason"),
            ("suppressions: [{id: all, reason: r}]", "Unknown check 'all'"),
            ("suppressions: [{id: EOS-CFG, reason: r}]", "no id"),
            ("suppressions: [{id: fsck/, reason: r}]", "no id"),
            ("suppressions: [{id: EOS-CFG-001, reason: r, expires: soon}]", "is not a date"),
            ("suppressions: [{id: EOS-CFG-001, reason: r, expire: 2026-01-01}]", "unknown key expire"),
            ("suppressions: {}\nfailon: error", "unknown key failon"),
            ("min_score: 101", "min_score"),
            ("fail_on: bad", "fail_on"),
            ("- 1", "not a mapping"),
            ("a: [", "cannot be read"),
        ],
    )
    def test_what_is_not_understood_stops_the_run(self, text: str, told: str, application: Path, project: Path) -> None:
        (project / ".eosctl.yaml").write_text(text, "utf-8")
        done = eosctl("doctor", application)
        assert (done.code, done.out) == (2, "")
        assert told in done.err


class TestThresholds:
    def test_the_score(self, application: Path) -> None:
        score = eosctl("doctor", application, "-o", "json").json["grade"]["score"]
        arguments = ("doctor", application, "--fail-on", "critical")
        assert eosctl(*arguments, "--min-score", str(score)).code == 3  # for the finding
        path = application.parent / "server.properties"
        path.write_text("node.id=1\noffsets.retention.minutes=60\n", "utf-8")
        score = eosctl("doctor", path, "-o", "json").json["grade"]["score"]
        assert eosctl("doctor", path, "--min-score", str(score)).code == 0
        assert eosctl("doctor", path, "--min-score", str(score + 1)).code == 3

    def test_the_file_sets_them_and_options_go_before(self, application: Path, project: Path) -> None:
        path = application.parent / "server.properties"
        path.write_text("node.id=1\noffsets.retention.minutes=60\n", "utf-8")
        (project / ".eosctl.yaml").write_text("fail_on: warning\n", "utf-8")
        assert eosctl("doctor", path).code == 3
        assert eosctl("doctor", path, "--fail-on", "error").code == 0


class TestBaseline:
    def test_known_findings_do_not_count_and_new_ones_do(self, application: Path, tmp_path: Path) -> None:
        baseline = tmp_path / "baseline.json"
        assert eosctl("doctor", application, "--write-baseline", baseline).code == 3
        done = eosctl("doctor", application, "--baseline", baseline, "-o", "json")
        assert (done.code, done.json["items"]) == (0, [])
        assert done.json["suppressed"][0]["reason"].startswith("known")
        other = tmp_path / "other.properties"
        other.write_text(STREAMS.replace("=a", "=b"), "utf-8")
        done = eosctl("doctor", application, other, "--baseline", baseline, "-o", "json")
        assert (done.code, [item["facts"]["file"] for item in done.json["items"]]) == (3, [str(other)])

    def test_the_result_of_an_earlier_run_serves(self, snapshot_file: Path, tmp_path: Path) -> None:
        earlier = tmp_path / "earlier.json"
        eosctl("doctor", "--snapshot", snapshot_file, "-o", "json", "--output-file", earlier)
        assert eosctl("check", "run", "--snapshot", snapshot_file, "--baseline", earlier).code == 0

    @pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"schema": "eosctl.snapshot", "items": []})])
    def test_what_is_none_is_refused(self, text: str, application: Path, tmp_path: Path) -> None:
        (tmp_path / "b.json").write_text(text, "utf-8")
        done = eosctl("doctor", application, "--baseline", tmp_path / "b.json")
        assert (done.code, done.out) == (2, "")
        assert "is not a baseline" in done.err
