"""What a mirror carries over, read from its configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.analysis.read_as import read_as
from eosctl.analysis.recovery import explain_carried
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment, Role
from eosctl.model.recovery import Carried, Fate
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.settings.deployment.deployment_files import read_components, read_deployment
from tests.commands.conftest import eosctl

FLOW = "clusters=a,b\na->b.enabled=true\n"
GOOD = FLOW + (
    "a.consumer.isolation.level=read_committed\nb.exactly.once.source.support=enabled\n"
    "sync.group.offsets.enabled=true\nreplication.factor=3\ndedicated.mode.enable.internal.rest=true\n"
)


def carried(text: str, role: Role | None = None, file: str = "mm2.properties") -> dict[str, Carried]:
    found = explain_carried(Deployment(tuple(read_components(file, text, role)), load_tables()))
    return {one.what: one for one in found}


def test_transactions_and_state_are_never_carried_over() -> None:
    for text in (FLOW, GOOD):
        found = carried(text)
        assert (found["transactions"].fate, found["state stores"].fate) == (Fate.LOST, Fate.LOST)


@pytest.mark.parametrize(
    ("line", "what", "fate"),
    [
        ("", "records", Fate.WRONG),
        ("a.consumer.isolation.level=read_committed", "records", Fate.PARTLY),
        ("a->b.consumer.isolation.level=READ_COMMITTED", "records", Fate.PARTLY),
        ("b.consumer.isolation.level=read_committed", "records", Fate.WRONG),
        ("a.consumer.isolation.level=read_uncommitted", "records", Fate.WRONG),
        ("", "once each", Fate.PARTLY),
        ("source.consumer.isolation.level=read_committed", "records", Fate.WRONG),
        ("consumer.isolation.level=read_committed", "records", Fate.WRONG),
        ("b.exactly.once.source.support=enabled", "once each", Fate.CARRIED),
        ("exactly.once.source.support=enabled", "once each", Fate.PARTLY),
        ("a.exactly.once.source.support=enabled", "once each", Fate.PARTLY),
        ("a->b.exactly.once.source.support=enabled", "once each", Fate.PARTLY),
        ("b.exactly.once.source.support=preparing", "once each", Fate.PARTLY),
        ("", "positions", Fate.PARTLY),
        ("a->b.emit.checkpoints.enabled=false", "positions", Fate.WRONG),
        ("emit.checkpoints.enabled=true", "positions", Fate.PARTLY),
        ("", "topic names", Fate.PARTLY),
        ("replication.policy.class=org.x.IdentityReplicationPolicy", "topic names", Fate.CARRIED),
        ("", "replicas", Fate.PARTLY),
        ("replication.factor=3", "replicas", Fate.CARRIED),
        ("replication.factor=${N}", "replicas", Fate.PARTLY),
        ("", "access rules", Fate.PARTLY),
        ("sync.topic.acls.enabled=false", "access rules", Fate.LOST),
        ("topics=.*\ntopics.exclude=tmp", "__transaction_state", Fate.WRONG),
        ("topics=__consumer_offsets\ntopics.exclude=tmp", "__consumer_offsets", Fate.WRONG),
    ],
)
def test_what_becomes_of_a_thing(line: str, what: str, fate: Fate) -> None:
    found = carried(f"{FLOW}{line}\n")[what]
    assert (found.fate, found.flow) == (fate, "a->b")
    assert found.remedy or fate is Fate.CARRIED


def test_internal_topics_stay_and_a_broken_pattern_is_reported() -> None:
    for line in ("", "topics=.*", "topics=__transaction_state", "topics.exclude=__.*,tmp", "topics=["):
        assert "__transaction_state" not in carried(f"{FLOW}{line}\n"), line


def test_flows_that_are_off_and_files_without_flows_have_nothing() -> None:
    assert carried("clusters=a,b\na->b.enabled=false\nb->a.enabled=false\n") == {}
    assert carried("bootstrap.servers=a:1\nacks=all\n", file="app.properties") == {}


def test_connectors_of_mirror_maker_are_flows() -> None:
    text = (
        '{"name": "m", "config": {"connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",'
        ' "source.cluster.alias": "east", "target.cluster.alias": "west",'
        ' "source.consumer.isolation.level": "read_committed"}}'
    )
    found = carried(text, file="mirror.json")
    assert (found["records"].flow, found["records"].fate) == ("east->west", Fate.PARTLY)


def test_cluster_links_are_recognized_by_their_settings(tmp_path: Path) -> None:
    link, other = tmp_path / "link.properties", tmp_path / "client.properties"
    link.write_text("bootstrap.servers=a:1\nlink.mode=DESTINATION\nacl.sync.enable=true\n")
    other.write_text("bootstrap.servers=a:1\n")
    named = {Path(one.file).name: one.title for one in read_as(read_deployment([tmp_path]).deployment)}
    assert named["link.properties"] == "cluster link"
    assert named.get("client.properties") != "cluster link"
    done = eosctl("dr", "lint", link, "-o", "json")
    fates = {item["what"]: item["fate"] for item in done.json["items"]}
    assert (done.code, fates["positions"], fates["access rules"]) == (3, "wrong", "carried")
    link.write_text("link.mode=DESTINATION\nconsumer.offset.sync.enable=true\n")
    assert eosctl("dr", "lint", link).code == 0


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "mm2.properties"
    path.write_text(GOOD)
    done = eosctl("dr", "lint", path)
    assert (done.code, done.err) == (0, "")
    assert "transactions: not carried" in done.out
    path.write_text(FLOW + "topics.blacklist=x\n")
    found = eosctl("dr", "lint", path, "-o", "json")
    assert found.code == 3
    assert "EOS-CFG-121" in [item["check"] for item in found.json["items"]]
    for form in ("wide", "tsv", "yaml"):
        assert eosctl("dr", "lint", path, "-o", form).code == 3
    nothing = tmp_path / "client.properties"
    nothing.write_text("acks=all\n")
    none = eosctl("dr", "lint", nothing)
    assert (none.code, none.out) == (2, "")
    assert "No mirror was found" in none.err
    assert eosctl("dr", "lint", tmp_path / "missing").code == 2


def test_a_level_of_the_target_is_not_called_dropped(tmp_path: Path) -> None:
    # MirrorMakerConfig hands what stands under the target's alias to the consumers of the target.
    text = "clusters=in,out\nin->out.enabled=true\nout.consumer.isolation.level=read_committed\n"
    (tmp_path / "mm2.properties").write_text(text)
    words = "out.consumer.isolation.level does not reach the consumer that reads the source cluster."
    assert words in carried(text)["records"].detail
    found = lint_configuration(LintRequest((tmp_path,))).found
    assert [one.message for one in found if one.check_id == "EOS-CFG-064"] == [words]
