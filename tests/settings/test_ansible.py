"""Projects of Ansible: inventories, variables, and templates as the processes that they start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.settings.deployment.deployment_files import read_deployment
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.files_read import FilesRead
from eosctl.settings.formats.jinja import fill
from eosctl.settings.formats.jinja_branches import keep_branches
from eosctl.settings.formats.tree import Branch, Leaf, Row
from eosctl.settings.platforms.ansible_inventory import Inventory, inventory_of, parse_inventory

PRODUCER = "roles/pay/templates/producer.properties.j2"
SITE = {"site.yml": "- hosts: pay\n  roles:\n    - role: pay\n"}
QUORUM = "controller.quorum.voters=1@a:1,2@b:1,3@c:1\nlog.dirs=/d\n"
INVENTORY = """all:
  vars: {a: "1"}
  children:
    brokers:
      hosts:
        k[1:3].acme: {}
      vars: {a: "2"}
    pay:
      children:
        east: {hosts: {p1: {id: x}, p2: {}}}
"""
LINES = """lone
[east]
p1 id=x
p2
[pay:children]
east
[brokers]
k[1:3].acme # three
[brokers:vars]
a=2
"""


def read(folder: Path, files: Mapping[str, str]) -> FilesRead:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return read_deployment([folder])


def found(files: FilesRead) -> set[tuple[str, int]]:
    facts = ((one.check_id, dict(one.facts)) for one in findings_of(judge(files.deployment)))
    return {(check_id, int(str(fact["line"]))) for check_id, fact in facts}


@pytest.mark.parametrize("text", [INVENTORY, LINES], ids=["yaml", "ini"])
def test_hosts_are_members_of_groups_and_of_their_children(text: str) -> None:
    inventory = parse_inventory(text, "hosts") if text is LINES else inventory_of(parse_documents("h.yml", text)[0])
    assert isinstance(inventory, Inventory)
    assert inventory.hosts_of("pay") == ("p1", "p2")
    assert inventory.hosts_of("brokers") == ("k1.acme", "k2.acme", "k3.acme")
    assert inventory.groups_of("p1") == ("all", "pay", "east")
    assert inventory.host_variables["p1"]["id"].text == "x"  # type: ignore[union-attr]
    assert inventory.group_variables["brokers"]["a"].text == "2"  # type: ignore[union-attr]
    assert inventory.hosts_of("nothing") == ()


@pytest.mark.parametrize("text", ["services:\n  a: {image: b}\n", "spring:\n  kafka: {}\n", "- hosts: all\n"])
def test_other_files_are_not_inventories(text: str) -> None:
    assert inventory_of(parse_documents("a.yml", text)[0]) is None


def test_groups_that_contain_each_other_end() -> None:
    inventory = parse_inventory("[a]\nh\n[a:children]\nb\n[b:children]\na\n", "hosts")
    assert inventory is not None
    assert inventory.hosts_of("b") == ("h",)


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        ({"hosts": "[pay]\na\nb\n", "group_vars/pay.yml": "tx: t\n"}, 1),
        ({"inventory/hosts": "[pay]\na\nb\n", "inventory/group_vars/all.yml": "tx: t\n"}, 1),
        (
            {
                "inventories/p/h.yml": "pay:\n  hosts: {a: {}, b: {}}\n",
                "roles/pay/defaults/main.yml": "tx: t\n",
            },
            1,
        ),
        ({"hosts": "[pay]\na\nb\n", "roles/pay/defaults/main/ids.yml": "# ids\ntx: t\n"}, 2),
        ({"hosts": "[pay]\na\nb\n[pay:vars]\ntx=t\n"}, 5),
        ({"hosts": "[pay]\na\nb\n", "group_vars/pay/kafka.yml": "kafka: {id: t}\ntx: '{{ kafka.id }}'\n"}, 2),
        (
            {
                "hosts": "[pay]\na\nb\n",
                "group_vars/pay.yml": "kafka: {transactional_id: t}\ntx: '{{ kafka.transactional_id }}'\n",
            },
            2,
        ),
    ],
)
def test_one_id_for_all_hosts_is_found(tmp_path: Path, variables: Mapping[str, str], line: int) -> None:
    files = read(tmp_path, {**SITE, **variables, PRODUCER: "transactional.id={{ tx }}\nacks=all\n"})
    assert found(files) == {("EOS-CFG-147", line)}
    place = next(dict(one.facts)["file"] for one in findings_of(judge(files.deployment)))
    assert str(place).removeprefix(f"{tmp_path}/") == next(reversed(variables))


@pytest.mark.parametrize(
    "variables",
    [
        {"hosts": "[pay]\na tx=1\nb tx=2\n"},
        {"hosts": "[pay]\na\nb\n", "host_vars/a.yml": "tx: 1\n", "host_vars/b.yml": "tx: 2\n"},
        {"hosts": "[pay]\na\nb\n", "group_vars/all.yml": "tx: 'pay-{{ inventory_hostname }}'\n"},
        {"hosts": "[pay]\na\n[other]\nb\n", "group_vars/all.yml": "tx: t\n"},
        {"hosts": "[pay]\na\nb\n", "group_vars/all.yml": "tx: \"{{ lookup('env', 'TX') }}\"\n"},
    ],
)
def test_an_id_of_each_host_is_right(tmp_path: Path, variables: Mapping[str, str]) -> None:
    files = read(tmp_path, {**SITE, **variables, PRODUCER: "transactional.id={{ tx }}\nacks=all\n"})
    assert found(files) == set()
    assert files.deployment.components


def test_each_host_is_a_broker_and_what_they_share_is_said_once(tmp_path: Path) -> None:
    text = f"process.roles=broker,controller\nnode.id={{{{ id }}}}\n{QUORUM}transaction.state.log.min.isr=1\n"
    files = {"hosts": "[pay]\na id=1\nb id=2\nc id=2\n", "roles/pay/templates/server.properties.j2": text}
    assert found(read(tmp_path, {**SITE, **files})) == {("EOS-CFG-150", 3), ("EOS-CFG-032", 5)}
    findings = findings_of(judge(read_deployment([tmp_path]).deployment))
    assert sum(one.check_id == "EOS-CFG-032" for one in findings) == 1


def test_a_container_runs_on_each_host_of_its_play(tmp_path: Path) -> None:
    play = "- hosts: pay\n  tasks:\n    - docker_container:\n        name: p\n        image: p:1\n"
    files = {"hosts": "[pay]\na\nb\n", "site.yml": f"{play}        env: {{KAFKA_TRANSACTIONAL_ID: t}}\n"}
    assert found(read(tmp_path, files)) == {("EOS-CFG-147", 6)}


def test_inventories_and_playbooks_of_roles_hold_no_settings(tmp_path: Path) -> None:
    files = {"kafka.yml": "- hosts: kafka\n  roles: [kafka]\n", "hosts.yml": "kafka:\n  hosts: {a: null}\n"}
    assert read(tmp_path, files).not_understood == ()


def test_undecided_alternatives_have_no_value(tmp_path: Path) -> None:
    text = (
        "application.id=a\n{% if eos %}\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=90000\n{% else %}\n"
        "processing.guarantee=at_least_once\n{% endif %}\n"
    )
    name = "roles/pay/templates/streams.properties.j2"
    assert ("EOS-CFG-001", 4) not in found(read(tmp_path, {name: text}))
    assert ("EOS-CFG-001", 4) in found(read(tmp_path, {"roles/pay/defaults/main.yml": "eos: true\n"}))


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("a", "1"),
        ("not a", "3"),
        ("a and b == 'x'", "1"),
        ("a and b != 'x'", "3"),
        ("no", "3"),
        ("no or a", "1"),
        ("b is defined", "1"),
        ("c is defined", "{{ undecided }}"),
        ("c", "{{ undecided }}"),
        ("a and (c or b)", "{{ undecided }}"),
    ],
)
def test_conditions_choose_a_branch(condition: str, kept: str) -> None:
    variables = {"a": Leaf("yes", 1), "b": Leaf("x", 1), "no": Leaf("false", 1)}
    text = f"{{% if {condition} %}}\nk=1\n{{%- elif no %}}\nk=2\n{{% else %}}\nk=3\n{{% endif %}}\nz=9"
    values = [line.partition("=")[2] for line in keep_branches(text, variables).split("\n") if line.startswith("k")]
    assert set(values) == {kept}
    assert keep_branches(text, variables).split("\n")[7] == "z=9"


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{ a }}", "1"),
        ("{{a|int}}-{{ m['k.x'] }}", "1-2"),
        ("{{ l | join(',') }}", "x,y"),
        ("{{ l[1] }}", "y"),
        ("{{ none | default('d') }}", "d"),
        ("{{ none | default(7) }}", "7"),
        ("{{ loop_a }}", "{{ loop_a }}"),
        ("{{ a | acme }}", "{{ a | acme }}"),
        ("{{ none }}", "{{ none }}"),
    ],
)
def test_expressions_are_filled_from_variables(text: str, filled: str) -> None:
    variables = {
        "a": Leaf("1", 1),
        "m": Branch((("k.x", Leaf("2", 1)),), 1),
        "l": Row((Leaf("x", 1), Leaf("y", 1)), 1),
        "loop_a": Leaf("{{ loop_a }}", 1),
    }
    assert fill(text, variables) == filled


TEMPLATE = """bootstrap.servers={{ brokers }}
transactional.id=pay-{{ inventory_hostname }}
{% if fast %}
acks=1
{% endif %}
"""
GUARDED = TEMPLATE.replace("acks=1", "acks=all").replace("{% if fast %}", "acks=1\n{% if safe %}")


def causes(files: FilesRead) -> list[tuple[str, str, str]]:
    found_there = findings_of(judge(files.deployment))
    return [(one.check_id, one.confidence.value, one.cause.partition(" (")[0]) for one in found_there]


@pytest.mark.parametrize("file", [PRODUCER, "conf/producer.properties.j2"])
def test_what_an_undecided_condition_guards_is_marked(tmp_path: Path, file: str) -> None:
    guarded = causes(read(tmp_path, {file: TEMPLATE}))
    assert guarded == [("EOS-CFG-011", "likely", "This applies only where {% if fast %}")]


def test_what_an_undecided_condition_prevents_is_found(tmp_path: Path) -> None:
    files = read(tmp_path, {PRODUCER: GUARDED})
    (finding,) = findings_of(judge(files.deployment))
    assert finding.cause.endswith("does not hold.")
    assert finding.confidence.value == "likely"


@pytest.mark.parametrize(("fast", "expected"), [("true", [("EOS-CFG-011", "certain", "")]), ("false", [])])
def test_a_condition_that_variables_decide_has_no_variation(
    tmp_path: Path, fast: str, expected: list[tuple[str, str, str]]
) -> None:
    files = {PRODUCER: TEMPLATE, "roles/pay/defaults/main.yml": f"fast: {fast}\n"}
    assert causes(read(tmp_path, files)) == expected


def test_equal_conditions_hold_together(tmp_path: Path) -> None:
    twice = TEMPLATE + "{% if fast %}\nenable.idempotence=false\n{% endif %}\n"
    cause = {text for _, _, text in causes(read(tmp_path, {PRODUCER: twice}))}
    assert cause == {"This applies only where {% if fast %}"}


def test_findings_of_both_variations_stay_certain(tmp_path: Path) -> None:
    text = "transactional.id=a\nacks=1\n{% if fast %}\nlinger.ms=1\n{% endif %}\n"
    assert causes(read(tmp_path, {PRODUCER: text})) == [("EOS-CFG-011", "certain", "")]


def test_loops_and_alternatives_are_not_varied(tmp_path: Path) -> None:
    loop = "{% for x in y %}\n{% if x %}\na=1\n{% endif %}\n{% endfor %}\n"
    other = "{% if z %}\nacks=1\n{% else %}\nacks=all\n{% endif %}\n"
    assert read(tmp_path, {PRODUCER: f"transactional.id=a\n{loop}{other}"}).deployment.variations == ()


HOSTS = """all:
  children:
    kafka_controller:
      hosts: {c-1: {node_id: 2}}
    kafka_broker:
      vars: {kafka_broker_custom_properties: {default.replication.factor: 3, min.insync.replicas: 2}}
      hosts:
        k-1: {broker_id: 1}
        k-2: {broker_id: 2}
        k-3:
          broker_id: %s
"""


@pytest.mark.parametrize(("number", "expected"), [(2, {("EOS-CFG-150", 11)}), (3, set())])
def test_hosts_of_one_group_are_brokers_of_one_cluster(
    number: int, expected: set[tuple[str, int]], tmp_path: Path
) -> None:
    assert found(read(tmp_path, {"hosts.yml": HOSTS % number})) == expected


OF_A_GROUP = """kafka_broker:
  vars:
    kafka_broker_custom_properties:
      default.replication.factor: 3
      min.insync.replicas: 3
      num.partitions: 12
  hosts: {k-1: , k-2: , k-3: }
"""


def test_variables_of_a_top_group_are_those_of_brokers(tmp_path: Path) -> None:
    files = read(tmp_path, {"hosts.yml": OF_A_GROUP})
    assert [one.role.value for one in files.deployment.components] == ["broker"]
    assert found(files) == {("EOS-CFG-033", 5)}


BROKER_ROLE = {
    "inventory.ini": "[kafka]\nk-1\nk-2\n",
    "group_vars/kafka.yml": "kafka_min_isr: 3\n",
    "host_vars/k-1.yml": "kafka_id: 1\n",
    "host_vars/k-2.yml": "kafka_id: 1\n",
    "roles/kafka/tasks/main.yml": "- template: {src: server.properties.j2, dest: /etc/kafka/server.properties}\n",
    "roles/kafka/templates/server.properties.j2": "node.id={{ kafka_id }}\n"
    "listeners=PLAINTEXT://{{ inventory_hostname }}:1\n"
    + QUORUM
    + "default.replication.factor=3\nmin.insync.replicas={{ kafka_min_isr }}\n",
}
"""A role that no playbook brings to hosts, and that is called like a group."""


def test_variables_of_a_host_are_the_place_of_its_settings(tmp_path: Path) -> None:
    files = read(tmp_path, BROKER_ROLE)
    results = [one for one in findings_of(judge(files.deployment)) if one.check_id == "EOS-CFG-150"]
    assert [str(dict(one.facts)["file"]) for one in results] == [str(tmp_path / "host_vars" / "k-2.yml")]
    assert ("EOS-CFG-033", 1) in found(files)


def test_parts_of_a_project_whose_template_is_read_are_used(tmp_path: Path) -> None:
    assert read(tmp_path, BROKER_ROLE).not_understood == ()


def test_variables_that_no_template_uses_are_named(tmp_path: Path) -> None:
    other = {"group_vars/other.yml": "kafka_other: 3\n"}
    assert [Path(file).name for file in read(tmp_path, BROKER_ROLE | other).not_understood] == ["other.yml"]


def test_a_template_without_expressions_is_written_on_its_hosts(tmp_path: Path) -> None:
    files = {
        "hosts.ini": "[app]\na1\na2\n",
        "site.yml": "- hosts: app\n  roles: [app]\n",
        "roles/app/templates/app.service.j2": "[Service]\nEnvironment=KAFKA_TRANSACTIONAL_ID=app\n",
    }
    assert found(read(tmp_path, files)) == {("EOS-CFG-147", 2)}


def test_a_template_without_a_playbook_is_written_on_its_hosts(tmp_path: Path) -> None:
    hosts = "[kafka]\nk1 node_id=1\nk2 node_id=1\n[others]\nx1\n"
    template = f"process.roles=broker\nnode.id={{{{ node_id }}}}\n{QUORUM}"
    given = read(tmp_path, {"hosts.ini": hosts, "templates/server.properties.j2": template})
    (broker,) = given.deployment.components
    assert (broker.number("node.id"), broker.instances and broker.instances.number) == (1, 2)
