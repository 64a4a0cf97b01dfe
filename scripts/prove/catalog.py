"""The proofs: the claim of each, and the command that shows it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final, NamedTuple


class Proof(NamedTuple):
    """A long run.

    Attributes:
        claim: The claim that its success proves, in one sentence.
        command: The command, run in the root of the project.
        environment: Additional environment variables.
        by_case: Whether the command is pytest, and each of its cases runs in a process of its own and is kept.
    """

    claim: str
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    by_case: bool = False


PYTEST: Final = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
MANY_EXAMPLES: Final = (("EOSCTL_HYPOTHESIS_PROFILE", "prove"),)

PROOFS: Final[Mapping[str, Proof]] = {
    "fuzz-files": Proof(
        "A million mutated files go through the decoders and fsck without a crash, a hang or growing memory.",
        (*PYTEST, "tests/commands/decode/test_fuzz.py"),
        (("EOSCTL_FUZZ_FILES", "1000000"),),
    ),
    "fuzz-frames": Proof(
        "A million mutated frames of every API in every version cost the sandbox at most the connection they came on.",
        (*PYTEST, "-n", "2", "tests/sandbox/test_fuzz_frames.py"),
        (("EOSCTL_FUZZ_FRAMES", "1000000"),),
    ),
    "histories": Proof(
        "Checkers of histories find 10,000 of 10,000 inserted anomalies of each kind, and none in 10,000 clean ones.",
        (*PYTEST, "-n", "2", "tests/lab/history"),
        (("EOSCTL_HISTORIES", "10000"),),
    ),
    "scenarios": Proof(
        "Every scenario of the library goes as it says with five seeds, those that take 32,766 requests too.",
        (*PYTEST, "-n", "2", "tests/lab/scenarios/test_library.py"),
        (("EOSCTL_SCENARIO_SEEDS", "5"),),
    ),
    "simulate": Proof(
        "Ten thousand fault schedules under clients of transaction version 2 break no promise and leave nothing stuck.",
        (
            *(sys.executable, "-m", "eosctl", "sandbox", "simulate"),
            *("--seeds", "10000", "--clients", "tv2", "--bug", "kafka-20734=off"),
        ),
    ),
    "share-groups": Proof(
        "Two thousand schedules of faults of brokers and links under share consumers: no acknowledged record is "
        "delivered again, none is lost, and locks are exclusive and expire.",
        (*PYTEST, "-n", "2", "tests/sandbox/share/test_share_faults.py"),
        (("EOSCTL_SHARE_SEEDS", "2000"),),
    ),
    "simulate-3.9": Proof(
        "Ten thousand fault schedules on a cluster as 3.9 without its known bugs, KAFKA-17507 among them, break no "
        "promise while nothing of a client comes late.",
        (
            *(sys.executable, "-m", "eosctl", "sandbox", "simulate", "--seeds", "10000", "--emulate", "3.9"),
            *("--plan", "nodes", "--bug", "kafka-17507=off", "--bug", "zombie-txn-offset-commit=off"),
        ),
    ),
    "replay-across-pythons": Proof(
        "Seeds of simulations replay byte for byte on every supported Python that is installed, two at least.",
        (sys.executable, "-m", "scripts.replay_across_pythons"),
    ),
    "verify-sandbox": Proof(
        "An hour of random faults on a sandbox without known bugs, under clients of transaction version 2: no anomaly.",
        (
            *(sys.executable, "-m", "eosctl", "verify", "run", "--engine", "embedded", "--bug", "kafka-20734=off"),
            *("--duration", "60m", "--rate", "10", "--nemesis", "brokers", "--nemesis", "links", "--seed", "1"),
        ),
    ),
    "verify-coverage": Proof(
        "Ten minutes of faults, chosen by what has been tried, meet 90 % of the combinations of state and fault.",
        (
            *(sys.executable, "-m", "eosctl", "verify", "run", "--engine", "embedded", "--bug", "kafka-20734=off"),
            *("--duration", "10m", "--rate", "10", "--nemesis", "brokers", "--nemesis", "links", "--seed", "1"),
            *("--guided", "--min-coverage", "90"),
        ),
    ),
    "soak": Proof(
        "An hour of mixed load with random faults on one sandbox: no anomaly, no broken invariant, no damaged file, "
        "and neither memory nor descriptors nor files grow after the first quarter.",
        (sys.executable, "-m", "scripts.endurance.soak"),
    ),
    "kill-nine": Proof(
        "The process of a sandbox is killed at a thousand random moments, also while it starts, and nothing that was "
        "acknowledged is lost.",
        (sys.executable, "-m", "scripts.endurance.kill_nine"),
    ),
    "losses": Proof(
        "Three hundred faults on pure and compiled sandboxes under three vendors' clients: by their own ledger, no "
        "acknowledged transaction is lost, doubled, or torn.",
        (
            sys.executable,
            "-m",
            "scripts.endurance.losses",
            "--faults",
            "300",
            "--gap",
            "0.5",
            "--compiled",
            "build/losses",
        ),
    ),
    "virtual-day": Proof(
        "A day of load on virtual time leaves a cluster with as many objects, descriptors and files as its first hour.",
        (*PYTEST, "tests/lab/test_virtual_day.py"),
        (("EOSCTL_VIRTUAL_HOURS", "24"),),
    ),
    "verify-kafka": Proof(
        "Fifteen minutes on three nodes of Kafka 4.3.1 that are killed, stopped, paused, and on cut links: no anomaly.",
        (
            *(sys.executable, "-m", "eosctl", "verify", "run", "--engine", "4.3.1", "--clients", "tv2"),
            *("--duration", "15m", "--rate", "10", "--nemesis", "brokers", "--nemesis", "links", "--seed", "1"),
        ),
    ),
    "verify-kafka-3.9": Proof(
        "Fifteen minutes on three nodes of Apache Kafka 3.9.2 that are killed, stopped and paused: no anomaly.",
        (
            *(sys.executable, "-m", "eosctl", "verify", "run", "--engine", "3.9.2"),
            *("--duration", "15m", "--rate", "10", "--nemesis", "brokers", "--seed", "1"),
        ),
    ),
    "connections": Proof(
        "Ten thousand concurrent connections are served, in at most 24 KiB each, and greedy ones do not affect others.",
        (*PYTEST, "tests/sandbox/test_many_connections.py"),
        (("EOSCTL_CONNECTIONS", "10000"),),
    ),
    "client-suites": Proof(
        "Of the own tests of franz-go, librdkafka, sarama, kafka-go, rskafka, kafka-python, and aiokafka, none passes "
        "on Kafka 4.3.1 and fails on the sandbox. EOSCTL_CLIENT_SOURCES names the folder with their sources.",
        (sys.executable, "-m", "scripts.client_suites"),
    ),
    "diagnosis": Proof(
        "Each of 34 faults and near misses in clusters, alone and in pairs, gets its verdicts and no others.",
        (sys.executable, "-m", "scripts.diagnosis_matrix"),
    ),
    "live-load": Proof(
        "Ten minutes of heavy live load, transactions open across both looks too, give no false hang, and a true one "
        "among them is found.",
        (*PYTEST, "-s", "tests/commands/txn/test_live_load.py"),
        (("EOSCTL_LIVE_LOAD_S", "600"),),
    ),
    "runbooks-interrupted": Proof(
        "Every scenario of every runbook, killed after each line of its journal and resumed, reaches its goal.",
        (sys.executable, "-m", "eosctl", "runbook", "test", "--interrupted"),
    ),
    "runbooks-kafka": Proof(
        "Every scenario of a runbook without internal sandbox switches ends as expected on Kafka 4.3.1 or 3.9.2.",
        (*PYTEST, "tests/apache/test_rehearsals.py"),
        (("EOSCTL_REQUIRE", "java"), ("EOSCTL_RUNBOOKS_ON_KAFKA", "1")),
    ),
    "conversations": Proof(
        "Kafka 3.9.2 and 4.3.1 (transaction.version 1 and 2) answer each step of generated conversations as the "
        "sandbox does: 200 of each kind.",
        (*PYTEST, "tests/apache/test_improvised.py"),
        (("EOSCTL_REQUIRE", "java"), ("EOSCTL_CONVERSATIONS", "200")),
    ),
    "storage": Proof(
        "No generated log, index or snapshot and no cut through one breaks reading, writing or recovery.",
        (*PYTEST, "tests/storage"),
        MANY_EXAMPLES,
    ),
    "examples": Proof(
        "No generated run of clients, brokers, and controllers breaks a promise, and every message round-trips.",
        (
            *PYTEST,
            *("tests/sandbox/test_exactly_once_machine.py", "tests/sandbox/test_group_machine.py"),
            *("tests/sandbox/test_consumer_group_machine.py", "tests/sandbox/test_replication_machine.py"),
            *("tests/sandbox/test_quorum_machine.py", "tests/wire/test_round_trips.py"),
            *("tests/actions/test_marker_matrix.py", "--timeout=0"),
        ),
        MANY_EXAMPLES,
    ),
    "incidents": Proof(
        "On Kafka 3.9.2, 4.3.1, and 4.4.0, in every transaction version, exactly one of abort and complete ends each "
        "kind of hanging transaction after each change of its partition, and it is the printed one. All faults that "
        "clients can make are found, and no others; so are damaged internal topics, quotas, throttles, dead producers, "
        "a lost quorum, missing rights, and Streams applications that share an application.id. On healthy clusters of "
        "fourteen releases under ordinary load, nothing above information is reported.",
        (
            *PYTEST,
            "tests/apache/test_healthy_releases.py",
            "tests/apache/test_marker_matrix.py",
            "tests/apache/test_streams_shared_id.py",
            "tests/apache/test_diagnosis_matrix.py",
            "tests/apache/test_damaged_logs.py",
            "tests/apache/test_live_incidents.py",
            "tests/apache/test_lost_quorum.py",
            "tests/apache/test_own_rights.py",
        ),
        (("EOSCTL_REQUIRE", "java"), ("EOSCTL_INCIDENTS", "1")),
        by_case=True,
    ),
    "real-kafka": Proof(
        "Real Apache Kafka 3.9.2, 4.3.1, and 4.4.0 give the same verdicts and read the same bytes.",
        (*PYTEST, "-m", "apache", "tests/apache"),
        (("EOSCTL_REQUIRE", "java"),),
    ),
    "alerts": Proof(
        "Every alert rule fires on its fault and no other does, and none in ten minutes of healthy load: on recorded, "
        "simulated and live clusters, the last scraped by a real Prometheus with the rules as they are exported.",
        (*PYTEST, "tests/monitoring"),
        (("EOSCTL_ALERTS_HEALTHY_S", "600"), ("EOSCTL_REQUIRE", "java")),
    ),
    "container": Proof(
        "The image of Containerfile, built on a base of Debian 13's packages, judges a file and runs the whole demo.",
        ("scripts/try-container",),
    ),
    "calibrate": Proof(
        "Capacity formulas predict what the sandbox and real Apache Kafka write: counts, bytes and snapshots within "
        "10 %, waits within 25 %; a real broker's heap, threads, and loads of coordinators and producer snapshots lie "
        "in their ranges; real Flink sinks leave the planned producers; a real Streams application writes the planned "
        "markers, and its stores take the planned memory and time.",
        (
            *PYTEST,
            "tests/capacity/test_calibration.py",
            "tests/apache/test_calibration.py",
            "tests/apache/test_calibration_broker.py",
            "tests/apache/test_producer_snapshot_load.py",
            "tests/apache/test_capacity_flink.py",
            "tests/apache/test_capacity_sub_topologies.py",
            "tests/apache/test_restored_store.py",
        ),
        (("EOSCTL_REQUIRE", "java"), ("EOSCTL_CALIBRATE_TIMES", "1")),
    ),
}
