"""Variables in Dockerfiles, systemd units, and jobs of Nomad, and topics that scripts create."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.services.lint_configuration import LintRequest, LintResult, lint_configuration

DOCKERFILE = """\
FROM eclipse-temurin:21-jre
# KAFKA_ACKS=0
ENV KAFKA_BOOTSTRAP_SERVERS=kafka:9092 \\
    KAFKA_TRANSACTIONAL_ID="relay 1" \\
    KAFKA_ACKS=1
ENV KAFKA_HOME /opt/kafka
COPY app.jar /app.jar
"""
UNIT = """\
[Service]
Environment=KAFKA_BOOTSTRAP_SERVERS=kafka:9092 KAFKA_TRANSACTIONAL_ID=relay-1
Environment="KAFKA_ACKS=1"
ExecStart=/opt/relay/bin/relay
"""
JOB = """\
job "relay" {
  group "app" {
    count = 3
    task "relay" {
      driver = "docker"
      config { image = "example/relay:3" }
      env {
        KAFKA_BOOTSTRAP_SERVERS = "kafka:9092"
        KAFKA_TRANSACTIONAL_ID  = "relay"
      }
    }
  }
}
"""
SCRIPT = """\
#!/bin/sh
kafka-topics.sh --bootstrap-server kafka:9092 --create --topic ledger \\
  --partitions 12 --replication-factor=1 --config min.insync.replicas=1 || true
kafka-topics --bootstrap-server kafka:9092 --create --if-not-exists --topic audit --partitions 3 --replication-factor 3;
kafka-topics.sh --bootstrap-server kafka:9092 --delete --topic old
echo "done"
"""


OPTIONS_IN_UNIT = """\
[Service]
Environment="JAVA_OPTS=-Xmx1g -Dspring.kafka.bootstrap-servers=k:9092,l:9092"
Environment=SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX=pay-
ExecStart=/usr/bin/java $JAVA_OPTS -jar pay.jar \\
    --spring.kafka.producer.acks=1
"""
OPTIONS_IN_IMAGE = """\
FROM eclipse-temurin:21
ENTRYPOINT ["java", "-Dspring.kafka.producer.acks=1", "-Dspring.kafka.producer.transaction-id-prefix=a", "-jar", "/a"]
"""
OPTIONS_IN_SCRIPT = """\
#!/bin/sh
# java -Dspring.kafka.producer.acks=0
exec java -Dspring.kafka.producer.transaction-id-prefix=a- \\
  "-Dspring.kafka.producer.acks=1" -jar a.jar
"""
EXPORTS = """\
export SPRING_KAFKA_PRODUCER_ACKS=1 SPRING_KAFKA_PRODUCER_TRANSACTION_ID_PREFIX='a-'
java -jar a.jar
"""
WRITTEN = """\
cat <<'EOF' | tee /etc/app/producer.properties
bootstrap.servers=k:9092
transactional.id=a
acks=1
EOF
"""
SENT = """\
curl -X PUT -H 'Content-Type: application/json' --data '{
  "connector.class": "acme.RowSource",
  "exactly.once.support": "required"
}' http://c:8083/connectors/a/config
"""
STARTED = """\
docker run -d --name kafka -p 9092:9092 -e KAFKA_NODE_ID=1 -e KAFKA_PROCESS_ROLES=broker,controller \\
  -e KAFKA_TRANSACTION_STATE_LOG_MIN_ISR=2 --rm apache/kafka:3.8.1
"""


def lint(folder: Path, name: str, text: str) -> LintResult:
    (folder / name).write_text(text)
    return lint_configuration(LintRequest((folder,)))


def places(result: LintResult) -> list[tuple[str, int]]:
    return [(one.check_id, int(dict(one.facts)["line"])) for one in result.found]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Dockerfile", DOCKERFILE, [("EOS-CFG-011", 5)]),
        ("relay.Containerfile", DOCKERFILE, [("EOS-CFG-011", 5)]),
        ("relay.service", UNIT, [("EOS-CFG-011", 3)]),
        ("relay.nomad", JOB, [("EOS-CFG-147", 9)]),
        ("topics.sh", SCRIPT, [("EOS-CFG-166", 3)]),
        ("pay.service", OPTIONS_IN_UNIT, [("EOS-CFG-011", 5)]),
        ("Dockerfile", OPTIONS_IN_IMAGE, [("EOS-CFG-011", 2)]),
        ("run.sh", OPTIONS_IN_SCRIPT, [("EOS-CFG-011", 4)]),
        ("run.sh", EXPORTS, [("EOS-CFG-011", 1)]),
        ("install.sh", WRITTEN, [("EOS-CFG-011", 4)]),
        ("start.sh", STARTED, [("EOS-CFG-149", 2)]),
    ],
)
def test_what_starts_programs_is_judged(name: str, text: str, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    assert places(lint(tmp_path, name, text)) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Dockerfile", "FROM apache/kafka:4.0.0\nENV KAFKA_HOME=/opt/kafka KAFKA_HEAP_OPTS=-Xmx1g\n"),
        ("run.sh", 'kafka-topics.sh --create --topic "unclosed\nkafka-console-producer.sh --topic a\n'),
        ("x.service", "[Unit]\nAfter=kafka.service\n"),
    ],
)
def test_files_that_only_name_kafka_are_left_out(name: str, text: str, tmp_path: Path) -> None:
    result = lint(tmp_path, name, text)
    assert (result.found, result.exit_code.value, result.linted.not_understood) == ((), 0, ())


def test_a_copy_of_cruise_control_is_not_a_broker(tmp_path: Path) -> None:
    result = lint(tmp_path, "clusterConfigs.json", '{"min.insync.replicas": 1}')
    assert (result.found, result.linted.read_as) == ((), ())


def test_an_object_that_a_script_sends_is_a_connector(tmp_path: Path) -> None:
    (tmp_path / "worker.properties").write_text("bootstrap.servers=k:9092\ngroup.id=a\nconfig.storage.topic=c\n")
    assert places(lint(tmp_path, "create.sh", SENT)) == [("EOS-CFG-060", 3)]


@pytest.mark.parametrize(
    "line",
    [
        "kafka-configs.sh --alter --entity-type users --entity-name a --add-config min.insync.replicas=1",
        "sed -i 's/^acks=.*/acks=1/' producer.properties",
        'EXTRA="$EXTRA --set enable.idempotence=false"',
    ],
)
def test_lines_that_set_and_are_not_read_are_named(line: str, tmp_path: Path) -> None:
    result = lint(tmp_path, "setup.sh", f"#!/bin/sh\n{line}\n")
    assert [one.rpartition("/")[2] for one in result.linted.not_understood] == ["setup.sh:2"]


LOOP = """\
RF=1
for t in ledger audit; do
  kafka-topics.sh --create --topic "$t" --partitions 3 --replication-factor ${RF}
done
"""
ALTERED = """\
kafka-topics.sh --create --topic ledger --partitions 3 --replication-factor 3 --config min.insync.replicas=2
kafka-configs.sh --bootstrap-server k:9092 --alter --topic ledger \\
  --add-config retention.ms=86400000,min.insync.replicas=3
"""
BROKERS = (
    "kafka-configs --alter --entity-type brokers --entity-default --add-config unclean.leader.election.enable=true\n"
)
MAKEFILE = """\
RF ?= 1
topics:
\t@kafka-topics.sh --create --topic ledger --partitions 3 --replication-factor $(RF)
"""
ACLS = """\
kafka-acls.sh --bootstrap-server k:9092 --add --allow-principal User:pay --operation Write \\
  --transactional-id 'pay-*'
kafka-acls.sh --add --allow-principal User:pay --producer --topic payments --transactional-id pay- \\
  --resource-pattern-type prefixed
kafka-acls.sh --list --transactional-id 'x-*'
"""
BATCH = "kafka-topics.bat --create --topic a --partitions 3 --replication-factor 3 ^\n --config min.insync.replicas=3\n"
RPK = "rpk topic create ledger audit -p 3 -r 3 -c min.insync.replicas=3\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("topics.sh", LOOP, [("EOS-CFG-166", 3)]),
        ("topics.sh", ALTERED, [("EOS-CFG-033", 3)]),
        ("topics.sh", BROKERS, [("EOS-CFG-037", 1)]),
        ("Makefile", MAKEFILE, [("EOS-CFG-166", 3)]),
        ("topics.mk", MAKEFILE, [("EOS-CFG-166", 3)]),
        ("acls.sh", ACLS, [("EOS-CFG-100", 2)]),
        ("topics.bat", BATCH, [("EOS-CFG-033", 2)]),
        ("topics.sh", RPK, [("EOS-CFG-033", 1)]),
        (".env.production", "KAFKA_TRANSACTIONAL_ID=a\nKAFKA_ACKS=1\n", [("EOS-CFG-011", 2)]),
        ("Dockerfile.relay", DOCKERFILE, [("EOS-CFG-011", 5)]),
    ],
)
def test_commands_of_tools_are_judged(name: str, text: str, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    result = lint(tmp_path, name, text)
    assert (places(result), result.linted.not_understood) == (expected, ())


OVER_A_FILE = "kafka-server-start.sh config/server.properties --override unclean.leader.election.enable=true"
UNIT_OF_BROKER = f"[Service]\nEnvironment=KAFKA_HEAP_OPTS=-Xmx1g\nExecStart=/opt/kafka/bin/{OVER_A_FILE}\n"
IMAGE_OF_BROKER = f"FROM apache/kafka:4.0.0\nCMD {json.dumps(OVER_A_FILE.split())}\n"


@pytest.mark.parametrize("has_file", [False, True])
@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("Procfile", f"web: puma\nkafka: {OVER_A_FILE}\n", 2),
        ("Procfile.dev", f"kafka: {OVER_A_FILE}\n", 1),
        ("Makefile", f"run:\n\t{OVER_A_FILE}\n", 2),
        ("start.sh", f"exec {OVER_A_FILE} &\n", 1),
        ("kafka.service", UNIT_OF_BROKER, 3),
        ("Dockerfile", IMAGE_OF_BROKER, 2),
    ],
)
def test_an_override_is_judged(name: str, text: str, line: int, has_file: bool, tmp_path: Path) -> None:
    if has_file:
        (tmp_path / "config").mkdir()
        (tmp_path / "config" / "server.properties").write_text("process.roles=broker\nlog.dirs=/data\n")
    result = lint(tmp_path, name, text)
    assert places(result) == [("EOS-CFG-037", line)]
    assert (result.linted.not_understood, len(result.linted.unseen)) == ((), 0 if has_file else 1)


def test_brokers_that_share_a_file_are_judged_each(tmp_path: Path) -> None:
    (tmp_path / "s.properties").write_text("process.roles=broker\nlog.dirs=/data\nnode.id=1\nmin.insync.replicas=2\n")
    start = "kafka-server-start.sh s.properties --override"
    text = f"{start} node.id=2 &\n{start} node.id=3 --override unclean.leader.election.enable=true\n"
    assert places(lint(tmp_path, "start.sh", text)) == [("EOS-CFG-037", 2)]


COMMAND = """\
services:
  setup:
    image: apache/kafka:3.9.0
    command: |
      sh -c "
      kafka-topics.sh --create --topic ledger --partitions 3 --replication-factor 3 --config min.insync.replicas=1
      curl -d '{\\"connector.class\\": \\"acme.RowSource\\"}' c:8083/connectors/a/config"
"""
JOB_OF_TOPICS = """\
apiVersion: batch/v1
kind: Job
metadata: {name: topics}
spec:
  template:
    spec:
      containers:
        - image: apache/kafka:3.9.0
          name: create
          env: [{name: KAFKA_ACKS, value: "all"}]
          args:
            - |
              kafka-topics.sh --create --topic ledger --partitions 3 \\
                --replication-factor 3 --config min.insync.replicas=1
"""


CREATE = "kafka-topics.sh --create --topic ledger --partitions 3 --replication-factor 3 --config min.insync.replicas=1"
WORDS = f"services:\n  setup:\n    image: apache/kafka:3.9.0\n    command: {json.dumps(CREATE.split())}\n"
LINES = "services:\n  setup:\n    entrypoint:\n" + "".join(f"      - {word}\n" for word in CREATE.split())
PLAYBOOK = f"- hosts: all\n  tasks:\n    - name: topics\n      ansible.builtin.shell: {CREATE}\n"
TASKFILE = f"version: 3\ntasks:\n  topics:\n    cmds:\n      - {CREATE}\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [(COMMAND, 6), (JOB_OF_TOPICS, 14), (WORDS, 4), (LINES, 13), (PLAYBOOK, 4), (TASKFILE, 5)],
)
def test_scripts_that_containers_run_are_judged(text: str, line: int, tmp_path: Path) -> None:
    assert ("EOS-CFG-158", line) in places(lint(tmp_path, "setup.yaml", text))


def test_the_parts_of_a_command_that_is_read_are_not_named(tmp_path: Path) -> None:
    command = "kafka-topics.sh --create --topic a --partitions 3 --replication-factor 3"
    text = f"for t in a; do\n  {command} \\\n    --config min.insync.replicas=2\ndone\n"
    assert lint(tmp_path, "topics.sh", text).linted.not_understood == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("kubectl exec kafka-0 -- bash -c 'bin/kafka-topics.sh --create --topic a --replication-factor 1'\n", 1),
        ('ssh kafka@host "kafka-topics.sh --create --topic a \\\n  --replication-factor 1"\n', 2),
        ("sh -c 'for t in a \\\n  ; do kafka-topics --create --topic $t --replication-factor 1;\\\n done'\n", 2),
    ],
)
def test_commands_for_another_shell_are_judged(text: str, line: int, tmp_path: Path) -> None:
    assert ("EOS-CFG-166", line) in places(lint(tmp_path, "topics.sh", text))
