"""config upgrade and config fix: what they show, what they write, how they end."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import jsonschema
import pytest

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.knowledge.upgrades import load_upgrade_knowledge
from tests.commands.conftest import eosctl

ROOT = Path(__file__).parents[2]
BROKER = """# kept
process.roles=broker
inter.broker.protocol.version=3.5
log.message.timestamp.difference.max.ms=86400000
unclean.leader.election.enable=true
ssl.keystore.password=hunter2
"""


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    path = tmp_path / "server.properties"
    path.write_text(BROKER, "utf-8")
    path.chmod(0o600)
    return path


def schema(name: str) -> object:
    return json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text("utf-8"))


def test_an_upgrade_names_what_is_gone_and_what_came_instead(broker: Path) -> None:
    done = eosctl("config", "upgrade", "--from-version", "3.9", "--to-version", "4.3", broker, "-o", "json")
    assert done.code == 3
    result = json.loads(done.out)
    jsonschema.validate(result, schema("config-upgrade"))
    removed = {item["key"]: (item["line"], item["after"]) for item in result["items"] if item["kind"] == "removed"}
    assert removed == {
        "inter.broker.protocol.version": (3, ""),
        "log.message.timestamp.difference.max.ms": (4, "log.message.timestamp.after.max.ms"),
    }
    assert [item["rule"] for item in result["items"] if item["kind"] == "finding"] == ["EOS-CFG-082"]
    defaults = {item["key"]: item["after"] for item in result["items"] if item["kind"] == "default"}
    assert defaults["log.message.timestamp.after.max.ms"] == "3600000"
    assert any("transaction.version=2" in item["text"] for item in result["items"] if item["kind"] == "step")
    assert "hunter2" not in done.out


def test_an_upgrade_that_changes_nothing_says_so(tmp_path: Path) -> None:
    path = tmp_path / "p.properties"
    path.write_text("key.serializer=s\nlinger.ms=5\nacks=all\n", "utf-8")
    done = eosctl("config", "upgrade", "--from-version", "4.0", "--to-version", "4.3", path)
    assert (done.code, "changes nothing" in done.out) == (0, True)


def test_streams_learns_of_its_old_guarantee(tmp_path: Path) -> None:
    path = tmp_path / "s.properties"
    path.write_text("application.id=a\nprocessing.guarantee=exactly_once\ncache.max.bytes.buffering=1\n", "utf-8")
    done = eosctl("config", "upgrade", "--from-version", "3.3", "--to-version", "4.0", path, "-o", "json")
    items = json.loads(done.out)["items"]
    assert (items[0]["rule"], items[0]["line"], items[0]["severity"]) == ("EOS-CFG-051", 2, "critical")
    assert [item["after"] for item in items if item["kind"] == "renamed"] == ["statestore.cache.max.bytes"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--from-version", "4.3.0", "--to-version", "4.3.1"), "of one branch"),
        (("--from-version", "x", "--to-version", "4.0"), "'x'"),
    ],
)
def test_an_upgrade_needs_two_releases(broker: Path, arguments: tuple[str, ...], words: str) -> None:
    done = eosctl("config", "upgrade", *arguments, broker)
    assert (done.code, words in done.err) == (2, True)


def test_without_files_the_releases_are_compared() -> None:
    done = eosctl("config", "upgrade", "--from-version", "3.9", "--to-version", "4.4", "-o", "json")
    assert done.code == 0
    assert "no file was named, so no setting was judged" in done.err
    items = json.loads(done.out)["items"]
    assert {item["severity"] for item in items} == {"info"}
    removed = {(item["file"], item["key"]) for item in items if item["kind"] == "removed"}
    assert {("broker", "zookeeper.connect"), ("streams", "retries")} <= removed
    defaults = {(item["file"], item["key"]): item["after"] for item in items if item["kind"] == "default"}
    assert defaults["producer", "linger.ms"] == "5"
    assert any("KIP-892" in item["text"] for item in items if item["kind"] == "step")


def limits(before: str, after: str) -> str:
    done = eosctl("config", "upgrade", "--from-version", before, "--to-version", after, "-o", "json")
    return "\n".join(item["text"] for item in json.loads(done.out)["items"] if item["kind"] == "step")


def test_the_way_back_lowers_what_the_earlier_release_lacks() -> None:
    text = limits("4.2", "4.0")
    assert "downgrade --metadata 4.0-IV3 --feature share.version=0 --feature streams.version=0" in text
    assert "snapshot of the metadata" in text
    assert "state.dir" not in text
    # 4.1 has share groups, off by default: their feature need not be lowered.
    assert "downgrade --metadata 4.1-IV1 --feature streams.version=0. " in limits("4.2", "4.1")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("4.4", "4.3", "Once metadata.version has reached 4.4-IV1, there is no way back to 4.3"),
        ("4.3", "4.2", "Once metadata.version has reached 4.3-IV0, there is no way back to 4.2"),
        ("4.0", "3.9", "Once metadata.version has reached 4.0-IV1, there is no way back to 3.9"),
        ("3.9", "3.7", "downgrade --metadata 3.7-IV4. "),
        ("3.3", "2.8", "With KRaft there is no way back to 2.8"),
        ("4.3", "4.2", "cannot open the stores of 4.3"),
    ],
)
def test_the_way_back_names_its_limits(before: str, after: str, words: str) -> None:
    assert words in limits(before, after)


def test_a_setting_that_the_earlier_release_lacks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.properties"
    path.write_text(
        "application.id=a\nprocessing.guarantee=exactly_once_v2\nstatestore.cache.max.bytes=1\n"
        "enable.transactional.statestores=true\n",
        "utf-8",
    )
    done = eosctl("config", "upgrade", "--from-version", "4.4", "--to-version", "3.3", path, "-o", "json")
    assert done.code == 3
    removed = {item["key"]: item["after"] for item in json.loads(done.out)["items"] if item["kind"] == "removed"}
    assert removed == {
        "statestore.cache.max.bytes": "cache.max.bytes.buffering",
        "enable.transactional.statestores": "",
    }


def test_a_release_before_the_tables_hides_no_removal(broker: Path) -> None:
    done = eosctl("config", "upgrade", "--from-version", "2.0", "--to-version", "4.3", broker, "-o", "json")
    removed = {item["key"] for item in json.loads(done.out)["items"] if item["kind"] == "removed"}
    assert "inter.broker.protocol.version" in removed


def test_successors_exist_and_belong_to_removed_settings() -> None:
    tables, knowledge = load_tables(), load_upgrade_knowledge()
    for component, names in knowledge.successors.items():
        for name, successor in names.items():
            assert tables[component].parameters[name].removed is not None, name
            assert not successor.name or successor.name in tables[component].parameters, name
    for component, renamings in knowledge.renamings.items():
        for name, renaming in renamings.items():
            assert tables[component].parameters[renaming.name].spans[0].since <= renaming.since, name


def test_a_patch_is_shown_and_nothing_is_written(broker: Path) -> None:
    done = eosctl("config", "fix", broker)
    assert done.code == 3
    assert "+unclean.leader.election.enable=false" in done.out
    assert "hunter2" not in done.out
    assert broker.read_text("utf-8") == BROKER


IN_ONE_LINE = {
    "a.toml": 'producer = {{ "{name}" = "{value}", acks = 1, "transactional.id" = "x", "k" = "{value}" }}',
    "a.yml": 'spring: {{kafka: {{"{name}": "{value}", producer: {{acks: "1", transaction-id-prefix: x}}}}}}',
    "a.sql": "CREATE TABLE t (a INT) WITH ('connector'='kafka', '{name}'='{value}', 'properties.acks'='1', "
    "'sink.delivery-guarantee'='exactly-once', 'sink.transactional-id-prefix'='x', 'k'='{value}');",
}


@pytest.mark.parametrize("name", ["password", "x", "p\\u0061ssword"])
@pytest.mark.parametrize("value", ["canary", "canary, b", "a} canary", '""canary""'])
@pytest.mark.parametrize("file", IN_ONE_LINE)
def test_a_patch_leaves_out_other_settings_of_a_line(file: str, value: str, name: str, tmp_path: Path) -> None:
    quoted = value if file == "a.sql" else value.replace('"', '\\"')
    (tmp_path / file).write_text(IN_ONE_LINE[file].format(name=name, value=quoted), "utf-8")
    done = eosctl("config", "fix", tmp_path / file)
    assert "all" in done.out
    assert "canary" not in done.out


def test_yes_writes_and_the_next_look_finds_nothing(broker: Path) -> None:
    assert eosctl("config", "fix", broker, "--yes").code == 0
    assert broker.read_text("utf-8") == BROKER.replace("enable=true", "enable=false")
    assert stat.S_IMODE(broker.stat().st_mode) == 0o600
    assert [path.name for path in broker.parent.iterdir()] == [broker.name]
    again = eosctl("config", "fix", broker)
    assert (again.code, "Nothing can be fixed" in again.out) == (0, True)


def test_several_edits_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "s.properties"
    path.write_text(
        "application.id=a # id\nprocessing.guarantee=exactly_once\npartition.assignment.strategy=x\n"
        "# for long batches\ntransaction.timeout.ms=60000\ncommit.interval.ms=30000\nmin.insync.replicas=2\n"
        "max.in.flight.requests.per.connection=9\n",
        "utf-8",
    )
    done = eosctl("config", "fix", path, "--yes", "-o", "json")
    result = json.loads(done.out)
    jsonschema.validate(result, schema("config-fix"))
    assert {item["obstacle"] for item in result["items"]} == {""}
    assert path.read_text("utf-8") == (
        "application.id=a # id\nprocessing.guarantee=exactly_once_v2\n"
        "# for long batches\nproducer.transaction.timeout.ms=60000\ncommit.interval.ms=30000\n"
        "topic.min.insync.replicas=2\n"
        "max.in.flight.requests.per.connection=5\n"
    )


def test_what_cannot_be_edited_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.properties"
    path.write_text("application.id=a\nprocessing.guarantee=exactly_once_v2\nupgrade.from=\\\n 2.4\n", "utf-8")
    done = eosctl("config", "fix", path, "-o", "json")
    assert done.code == 0
    (item,) = json.loads(done.out)["items"]
    assert "no edit of that line alone" in item["obstacle"]


def test_a_malformed_file_does_not_stop_the_others(tmp_path: Path, broker: Path) -> None:
    (tmp_path / "b.json").write_text('{"kafka": ', "utf-8")
    done = eosctl("config", "fix", tmp_path, "--yes")
    assert (done.code, "b.json" in done.err) == (2, True)
    assert "enable=false" in broker.read_text("utf-8")
