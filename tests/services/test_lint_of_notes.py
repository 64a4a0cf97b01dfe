"""Texts next to configurations: the output of tools is evidence, and notes with settings are named as not judged."""

from __future__ import annotations

from pathlib import Path

from eosctl.services.lint_configuration import LintRequest, lint_configuration


def test_notes_with_settings_are_named_as_not_judged(tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text("process.roles=broker\nnode.id=1\nmin.insync.replicas=2\n")
    (tmp_path / "notes.txt").write_text("three brokers\ntransaction.state.log.min.isr=2\n")
    (tmp_path / "license.txt").write_text("Permission is granted.\n")
    linted = lint_configuration(LintRequest((tmp_path,))).linted
    assert [name.removeprefix(f"{tmp_path}/") for name in linted.not_understood] == ["notes.txt:2"]


def test_a_cluster_of_confluent_cloud_has_no_setting(tmp_path: Path) -> None:
    (tmp_path / "cluster.tf").write_text(
        'resource "confluent_kafka_cluster" "prod" {\n  dedicated {\n    cku = 2\n  }\n}\n'
    )
    assert lint_configuration(LintRequest((tmp_path,))).linted.not_understood == ()
