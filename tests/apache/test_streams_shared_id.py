"""Two Streams applications with different topologies and one application.id on a real broker (exactly_once_v2)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.checks.group.topologies_share_a_group import topologies_share_a_group
from eosctl.lab.apache.nodes import ApacheNodes
from tests.apache.test_streams import LONG_S, application, compile_word_count, write_lines
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.mark.long  # two applications start and rebalance
def test_topologies_with_one_id_are_found(
    streams_jars: Path,
    apache_running: Callable[..., AbstractContextManager[ApacheNodes]],
    tmp_path: Path,
) -> None:
    classes = tmp_path / "classes"
    classes.mkdir()
    java, *arguments = compile_word_count(streams_jars, classes)
    with apache_running("4.3.1", tmp_path / "kafka") as engine:
        bootstrap = engine.bootstrap
        admin = AdminClient({"bootstrap.servers": bootstrap})
        topics = [NewTopic(name, 2) for name in ("lines", "invoices", "counts")]
        for created in admin.create_topics(topics).values():
            created.result(LONG_S)
        write_lines(bootstrap, 100)
        judged = ("check", "run", topologies_share_a_group.id, "-b", bootstrap, "-o", "json")
        with application([java, *arguments], bootstrap, tmp_path, "words", "state-1") as (words, log):
            while "state RUNNING" not in log.read_text():
                assert words.poll() is None, log.read_text()
            assert eosctl(*judged).json["items"] == []
            command = [java, "-Dsource=invoices", *arguments]
            with application(command, bootstrap, tmp_path, "invoices", "state-2") as (other, log):
                while not (found := eosctl(*judged).json["items"]):
                    assert other.poll() is None, log.read_text()
    (one,) = found
    assert (one["severity"], one["facts"]["group"]) == ("warning", "word-count")
    assert "only some subscribe to topic" in one["message"]
    assert "invoices" in one["message"]
