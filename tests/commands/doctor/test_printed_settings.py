"""Doctor judges the settings that Kafka's tools printed by the rules of configuration files, as config lint does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import Done, eosctl

CONFIGS = (
    "Dynamic configs for topic orders are:\n"
    "  unclean.leader.election.enable=true sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:"
    "unclean.leader.election.enable=true, DEFAULT_CONFIG:unclean.leader.election.enable=false}\n"
)
TOPICS = (
    "Topic: orders\tTopicId: Hk3o2Ls8QsWyhU3Yz0a1bA\tPartitionCount: 1\t"
    "ReplicationFactor: {factor}\tConfigs: {values}\n"
)


def ids_of(done: Done) -> set[str]:
    """Return the ids of findings: doctor and lint name the field differently."""
    return {finding.get("check_id") or finding["id"] for finding in done.json["items"]}


@pytest.mark.parametrize(
    ("text", "check_id", "code"),
    [
        (CONFIGS, "EOS-CFG-037", 3),
        (TOPICS.format(factor=1, values="min.insync.replicas=2"), "EOS-CFG-034", 3),
        (TOPICS.format(factor=1, values="cleanup.policy=delete"), "EOS-CFG-166", 0),
    ],
)
def test_doctor_finds_in_output_what_lint_finds(tmp_path: Path, text: str, check_id: str, code: int) -> None:
    path = tmp_path / "output.txt"
    path.write_text(text, "utf-8")
    for command in (("doctor",), ("config", "lint")):
        done = eosctl(*command, path, "-o", "json")
        assert done.code == code, command
        assert check_id in ids_of(done)


def test_healthy_settings_are_passed_by_both(tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(TOPICS.format(factor=3, values="min.insync.replicas=2"), "utf-8")
    assert [eosctl(*command, path).code for command in (("doctor",), ("config", "lint"))] == [0, 0]


def test_output_next_to_a_file_is_judged_with_it(tmp_path: Path) -> None:
    (tmp_path / "output.txt").write_text(CONFIGS, "utf-8")
    (tmp_path / "app.properties").write_text("transactional.id=a\nacks=1\n", "utf-8")
    assert {"EOS-CFG-037", "EOS-CFG-011"} <= ids_of(eosctl("doctor", tmp_path, "-o", "json"))


def test_output_of_a_tool_earns_no_best_grade(tmp_path: Path) -> None:
    path = tmp_path / "acls.txt"
    path.write_text(
        "Current ACLs for resource `ResourcePattern(resourceType=TRANSACTIONAL_ID, name=orders, "
        "patternType=LITERAL)`: \n"
        " \t(principal=User:app, host=*, operation=DESCRIBE, permissionType=ALLOW) \n",
        "utf-8",
    )
    done = eosctl("doctor", path)
    assert done.out.startswith("Grade C ")
    assert "a part of a cluster: no better than C" in done.out


def test_a_quorum_without_a_leader_is_critical(tmp_path: Path) -> None:
    path = tmp_path / "quorum.txt"
    path.write_text(
        "ClusterId: Zk3vT9wAQ2yEr0aUqk1b5A\nLeaderId: -1\nLeaderEpoch: 12\nHighWatermark: -1\nCurrentVoters: [1,2,3]\n"
        "CurrentObservers: []\n",
        "utf-8",
    )
    assert ids_of(eosctl("doctor", path, "-o", "json")) == {"EOS-OPS-010"}


def test_overrides_without_synonyms_are_judged(tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(
        "Dynamic configs for topic orders are:\n  unclean.leader.election.enable=true sensitive=false\n", "utf-8"
    )
    assert ids_of(eosctl("doctor", path, "-o", "json")) == {"EOS-CFG-037"}
