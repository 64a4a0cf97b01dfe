"""config and bugs: exit codes, shapes, formats, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from eosctl.checks.registry import CONFIGURATION_CHECKS
from tests.commands.conftest import eosctl

ROOT = Path(__file__).parents[2]
STREAMS = "application.id=a\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=30000\n"


def schema(name: str) -> object:
    return json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text("utf-8"))


@pytest.fixture
def application(tmp_path: Path) -> Path:
    path = tmp_path / "app.properties"
    path.write_text(STREAMS, "utf-8")
    return path


def test_a_finding_names_id_place_keys_value_and_remedy(application: Path) -> None:
    done = eosctl("config", "lint", application, "-o", "json")
    assert done.code == 3
    jsonschema.validate(done.json, schema("config-lint"))
    (item,) = done.json["items"]
    assert (item["id"], item["severity"]) == ("EOS-CFG-001", "critical")
    assert (item["file"], item["line"]) == (str(application), 3)
    assert (item["keys"], item["value"]) == (["commit.interval.ms"], "30000")
    assert "30,000 ms" in item["message"]
    assert "producer.transaction.timeout.ms=90000" in item["remedy"]


def test_the_exit_code_follows_the_threshold(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("node.id=1\noffsets.retention.minutes=60\n", "utf-8")
    assert eosctl("config", "lint", path).code == 0
    assert eosctl("config", "lint", path, "--fail-on", "warning").code == 3
    assert eosctl("config", "lint", path, "--fail-on", "warning", "--exit-zero").code == 0


def test_a_malformed_file_is_reported_and_the_others_are_linted(application: Path) -> None:
    (application.parent / "bad.yaml").write_text("kafka: 1\nb: [\n", "utf-8")
    done = eosctl("config", "lint", application.parent, "-o", "json")
    assert done.code == 2
    assert [item["id"] for item in done.json["items"]] == ["EOS-CFG-001"]
    assert done.json["unreadable"][0]["reason"].startswith(f"{application.parent / 'bad.yaml'}:3: ")
    assert "bad.yaml:3" in done.err


def test_the_release_decides(tmp_path: Path) -> None:
    path = tmp_path / "app.properties"
    path.write_text("application.id=a\nprocessing.guarantee=exactly_once\nreplication.factor=3\n", "utf-8")
    severities = {
        version: [
            item["severity"]
            for item in eosctl("config", "lint", path, "--kafka-version", version, "-o", "json").json["items"]
        ]
        for version in ("2.8", "3.9", "4.0.1")
    }
    assert severities == {"2.8": [], "3.9": ["warning"], "4.0.1": ["critical"]}


@pytest.mark.parametrize(
    ("option", "version", "expected_note"),
    [
        (
            "--kafka-version",
            "5.1",
            "Kafka 5.1 is later than every release that eosctl knows: defaults are those of 4.4.",
        ),
        (
            "--kafka-version",
            "2.6",
            "Kafka 2.6 is earlier than every release that eosctl knows: defaults are those of 2.7.",
        ),
        ("--kafka-version", "2.7", None),
        ("--kafka-version", "4.3.1", None),
        ("--client-version", "4.9", "Kafka 4.9 is later than every release"),
        ("--librdkafka-version", "3.1", "librdkafka 3.1 is later than every release"),
        ("--librdkafka-version", "0.11", "librdkafka 0.11 is earlier than every release"),
        ("--librdkafka-version", "1.9", None),
    ],
)
def test_a_release_outside_of_the_tables_is_noted(
    application: Path, option: str, version: str, expected_note: str | None
) -> None:
    done = eosctl("config", "lint", application, option, version, "-o", "json")
    assert done.code == 3
    assert f"note: {expected_note}" in done.err if expected_note else "note:" not in done.err


@pytest.mark.parametrize(
    ("option", "version", "newest"),
    [
        ("--kafka-version", "9.9", "4.4"),
        ("--kafka-version", "3.10", "4.4"),
        ("--client-version", "99.1", "4.4"),
        ("--librdkafka-version", "99.1", "2.15"),
    ],
)
def test_a_release_that_cannot_exist_is_refused(application: Path, option: str, version: str, newest: str) -> None:
    done = eosctl("config", "lint", application, option, version, "-o", "json")
    assert done.code == 2
    assert f"has no release {version}." in done.err
    assert f"The newest one that eosctl knows is {newest}." in done.err


def test_a_comparison_prints_no_note_on_releases(application: Path) -> None:
    assert (
        "note:"
        not in eosctl("config", "diff", application, application, "--from-version", "1.9", "--to-version", "4.3").err
    )
    notes = eosctl("config", "diff", application, application, "--from-version", "1.9", "--to-version", "5.1").err
    assert "Kafka or librdkafka 5.1 is later" in notes


def test_a_role_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "settings.conf"
    path.write_text("request.timeout.ms=5s\n", "utf-8")
    done = eosctl("config", "lint", path, "--role", "settings.conf=producer", "-o", "json")
    assert [(item["id"], item["role"]) for item in done.json["items"]] == [("EOS-CFG-088", "producer")]
    assert eosctl("config", "lint", path, "--role", "settings.conf=sailor").code == 2


def test_unresolved_values_are_distinguished(tmp_path: Path) -> None:
    path = tmp_path / "p.properties"
    path.write_text("transactional.id=t\nacks=${ACKS}\n", "utf-8")
    done = eosctl("config", "lint", path, "-o", "json")
    assert (done.code, done.json["items"]) == (0, [])
    assert done.json["unresolved"] == [{"file": str(path), "line": 2, "key": "acks", "value": "${ACKS}"}]


def test_annotations_stand_on_their_lines(application: Path) -> None:
    result, line, notice = eosctl("config", "lint", application, "-o", "github").out.splitlines()
    assert line.startswith(f"::error file={application},line=3,title=EOS-CFG-001 ")
    assert notice.startswith(f"::notice file={application},line=1,title=read as::")
    assert result.startswith("::notice title=eosctl config lint::1 finding (1 critical); ")


def test_sarif_places_and_rules(application: Path) -> None:
    (run,) = eosctl("config", "lint", application, "-o", "sarif").json["runs"]
    (result,) = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "EOS-CFG-001"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}
    assert len(run["tool"]["driver"]["rules"]) == len(CONFIGURATION_CHECKS)


@pytest.mark.parametrize("output", ["table", "wide", "yaml", "tsv", "markdown"])
def test_every_format_names_the_finding(application: Path, output: str) -> None:
    done = eosctl("config", "lint", application, "-o", output)
    assert done.code == 3
    assert "EOS-CFG-001" in done.out
    assert "app.properties" in done.out


READ_AS = "Kafka Streams application (application.id), Kafka 4.4 (assumed)"


@pytest.mark.parametrize("output", ["table", "wide", "tsv", "markdown", "github", "sarif"])
def test_every_format_names_what_a_file_was_read_as(application: Path, output: str) -> None:
    assert f"read as: {READ_AS}" in eosctl("config", "lint", application, "-o", output).out


def test_json_and_metrics_name_what_a_file_was_read_as(application: Path) -> None:
    (one,) = eosctl("config", "lint", application, "-o", "json").json["read_as"]
    assert (one["file"], one["role"], one["recognized_by"]) == (str(application), "streams", "application.id")
    assert (one["software"], one["release"], one["is_release_assumed"]) == ("Kafka", "4.4", True)
    named = eosctl("config", "lint", application, "--kafka-version", "3.9", "-o", "prometheus").out
    assert 'eosctl_lint_read_as{role="streams",release="Kafka 3.9",assumed="false"} 1\n' in named


@pytest.mark.parametrize("output", ["table", "markdown", "github", "sarif", "html", "tsv", "junit", "prometheus"])
def test_doctor_names_what_a_file_was_read_as(application: Path, output: str) -> None:
    done = eosctl("doctor", application, "-o", output)
    assert f"read as: {READ_AS}" in done.out + done.err


def test_markup_in_a_file_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "p.properties"
    path.write_text("transactional.id=t\nacks=<b>|`x`\n", "utf-8")
    assert "<b>|" not in eosctl("config", "lint", path, "-o", "markdown").out


def test_a_setting_is_explained_by_release() -> None:
    done = eosctl("config", "explain", "linger.ms", "-o", "json")
    jsonschema.validate(done.json, schema("explanations"))
    facts = [(fact["label"], fact["text"]) for fact in done.json["items"][0]["entry"]["facts"]]
    (producer,) = [text for label, text in facts if label == "producer"]
    assert producer.startswith("long; default 0 since 2.7 or earlier")
    assert "default 5 since 4.0" in producer
    assert any(text.startswith("EOS-CFG-016") for label, text in facts if label == "rule")
    assert any(text.startswith("counts after a restart (producer, ") for label, text in facts if label == "change")
    assert "transaction.timeout.ms" in eosctl("config", "explain", "transaction.timeout.ms").out


def test_an_unknown_setting_gets_similar_names() -> None:
    done = eosctl("config", "explain", "transaction.timeout")
    assert done.code == 2
    assert "transaction.timeout.ms" in done.err


def test_a_difference_is_one_of_meaning(tmp_path: Path) -> None:
    left, right = tmp_path / "a.properties", tmp_path / "b.yaml"
    left.write_text("transactional.id=t\nlinger.ms=05\nacks=all\n", "utf-8")
    right.write_text("transactional.id: t\nlinger.ms: 5\ndelivery.timeout.ms: 60000\n", "utf-8")
    rows = eosctl("config", "diff", left, right, "-o", "tsv").rows
    assert [row[:4] for row in rows] == [["producer", "delivery.timeout.ms", "120000", "60000"]]


def test_a_secret_under_another_name_stays_hidden(tmp_path: Path) -> None:
    anchor = "x: &pw {0}\nssl.key.password: *pw\nnote: the {0} of x\nother: me\n"
    jaas = "sasl.jaas.config: 'Plain required password=\"{0}\";'\n"
    for name, secret, other in (("a", "S3cretCanary", "all"), ("b", "N3wCanary", "1")):
        text = (anchor + jaas).format(secret)
        (tmp_path / f"{name}.yaml").write_text(f"transactional.id: t\nacks: {other}\n{text}", "utf-8")
    done = eosctl("config", "diff", tmp_path / "a.yaml", tmp_path / "b.yaml", "-o", "tsv")
    assert {row[1] for row in done.rows} >= {"acks", "x", "note", "ssl.key.password"}
    assert "Canary" not in done.out
    assert ["all", "1"] in [row[2:4] for row in done.rows]


def test_a_difference_of_releases_shows_changed_defaults(application: Path) -> None:
    rows = eosctl(
        "config", "diff", application, application, "--from-version", "3.9", "--to-version", "4.3", "-o", "tsv"
    ).rows
    assert {row[5] for row in rows} == {"default 4.3"}


def test_a_vetted_configuration_is_printed() -> None:
    assert "broker-eos-production" in eosctl("config", "render").out
    printed = eosctl("config", "render", "broker-eos-production").out
    assert printed == (ROOT / "config_profiles" / "broker-eos-production.properties").read_text("utf-8")
    assert eosctl("config", "render", "nothing").code == 2
    printed = eosctl("config", "render", "producer-transactional", "--security", "sasl-scram").out
    assert "sasl.mechanism=SCRAM-SHA-512" in printed
    refused = eosctl("config", "render", "producer-transactional", "--security", "kerberos")
    assert refused.code == 2
    assert "sasl-oauth" in refused.err


def test_bugs_of_a_release() -> None:
    done = eosctl("bugs", "--kafka-version", "3.9.0", "-o", "json")
    jsonschema.validate(done.json, schema("bugs"))
    assert [item["id"] for item in done.json["items"]] == ["KAFKA-17507"]
    assert "None of the known bugs" in eosctl("bugs", "--kafka-version", "3.9.2").out
    assert len(eosctl("bugs", "-o", "tsv").rows) >= 50
    assert eosctl("bugs", "--kafka-version", "newest").code == 2


def test_rules_of_files_are_explained_and_sent_to_lint() -> None:
    assert "commit.interval.ms" in eosctl("check", "explain", "EOS-CFG-001").out
    done = eosctl("check", "run", "EOS-CFG-001")
    assert done.code == 2
    assert "config lint" in done.err


# Popular but wrong claims, which no text of eosctl on settings may contain.


def test_rules_of_files_are_run_on_files(application: Path) -> None:
    done = eosctl("check", "run", "EOS-CFG-001", application, "-o", "json")
    assert "EOS-CFG-001" in done.out
    assert "EOS-CFG-002" not in done.out


def test_output_of_a_tool_is_judged_by_the_rules_of_its_settings(tmp_path: Path) -> None:
    printed = ROOT / "tests" / "fixtures" / "tool-output" / "4.3.1"
    done = eosctl("config", "lint", printed / "configs-broker-all.txt", "-o", "json")
    assert {item["id"] for item in done.json["items"]} == {"EOS-CFG-035", "EOS-CFG-054"}
    done = eosctl("config", "lint", printed / "transactions-list.txt")
    assert (done.code, "Nothing was judged" in done.out, "eosctl doctor" in done.out) == (4, True, True)


def test_text_is_not_a_segment(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_text("Dumping 00000000000000000000.log\nLog starting offset: 0\n", "utf-8")
    done = eosctl("decode", "segment", path)
    assert (done.code, "kafka-dump-log.sh printed it" in done.err) == (2, True)


def test_nothing_judged_is_not_an_all_clear(tmp_path: Path) -> None:
    path = tmp_path / "fluent.conf"
    path.write_text("<match x>\n  @type kafka2\n  required_acks 1\n</match>\n", "utf-8")
    done = eosctl("config", "lint", path)
    assert (done.code, "Nothing was judged" in done.out, str(path) in done.out) == (2, True, True)
    assert eosctl("doctor", path).code == 2


def test_a_folder_without_files_is_bad_input(tmp_path: Path) -> None:
    assert eosctl("config", "lint", tmp_path).code == 2
    path = tmp_path / "other.yaml"
    path.write_text("a: 1\n", "utf-8")
    for named in (tmp_path, path):
        done = eosctl("config", "lint", named)
        assert (done.code, "Nothing was judged" in done.out) == (0, True)


def test_a_named_file_that_is_broken_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"a": 1', "utf-8")
    done = eosctl("config", "lint", path)
    assert (done.code, f"{path}:1" in done.err) == (2, True)


def test_a_printed_setting_has_the_line_that_prints_it(tmp_path: Path) -> None:
    path = tmp_path / "configs.txt"
    path.write_text(
        "$ kafka-configs.sh --describe --all --entity-type topics\n"
        "All configs for topic ledger are:\n"
        "  unclean.leader.election.enable=false sensitive=false synonyms={}\n"
        "All configs for topic orders are:\n"
        "  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2}\n"
        "  unclean.leader.election.enable=true sensitive=false"
        " synonyms={DYNAMIC_TOPIC_CONFIG:unclean.leader.election.enable=true}\n",
        "utf-8",
    )
    (item,) = eosctl("config", "lint", path, "-o", "json").json["items"]
    assert (item["id"], item["line"]) == ("EOS-CFG-037", 6)
